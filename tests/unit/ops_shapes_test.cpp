// Shape rules against kernels: for random shapes both give the same sizes, strides and dtype.
#include <numeric>
#include <random>

#include "engine/ir/graph_module.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

class Shapes : public ::testing::Test {
 protected:
  std::mt19937 random{20};

  std::int64_t below(std::int64_t limit) { return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random); }

  /// A tensor of the given sizes with its dimensions in a random order of memory, sometimes with holes.
  Tensor scrambled(const Sizes& sizes, DType dtype = DType::Float32) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Sizes strides(sizes.size());
    std::int64_t next = below(4) == 0 ? 2 : 1;
    for (std::size_t d : order) {
      strides[d] = next;
      next *= std::max<std::int64_t>(sizes[d], 1);
    }
    Tensor result = *Tensor::zerosStrided(dtype, sizes, strides);
    EXPECT_TRUE(copyElements(counting(sizes, dtype), result));
    return result;
  }

  Sizes randomSizes(std::size_t rank) {
    Sizes sizes(rank);
    for (auto& size : sizes) size = 1 + below(4);
    return sizes;
  }

  static Value withoutData(const Value& value) {
    if (value.isTensor()) {
      const Tensor& t = value.tensor();
      return Tensor(nullptr, t.dtype(), t.sizes(), t.strides(), t.offset());
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) items.push_back(withoutData(item));
    return items;
  }

  static void expectSame(const Value& shape, const Value& result, const std::string& op) {
    ASSERT_EQ(shape.isTensor(), result.isTensor()) << op;
    if (result.isList()) {
      ASSERT_EQ(shape.list().size(), result.list().size()) << op;
      for (std::size_t i = 0; i < result.list().size(); ++i) expectSame(shape.list()[i], result.list()[i], op);
      return;
    }
    if (!result.isTensor()) return;
    EXPECT_EQ(shape.tensor().sizes(), result.tensor().sizes()) << op;
    EXPECT_EQ(shape.tensor().strides(), result.tensor().strides()) << op;
    EXPECT_EQ(shape.tensor().offset(), result.tensor().offset()) << op;
    EXPECT_EQ(shape.tensor().dtype(), result.tensor().dtype()) << op;
  }

  static void check(const std::string& op, const ValueList& args, const KeywordValues& kwargs = {}) {
    ValueList metas;
    for (const Value& arg : args) metas.push_back(withoutData(arg));
    const auto shape = inferShapes(op, metas, kwargs);
    ASSERT_TRUE(shape) << op << ": " << shape.error().text();
    expectSame(*shape, call(op, args, kwargs), op);
  }
};

TEST_F(Shapes, PointwiseRulesEqualKernels) {
  for (int round = 0; round < 50; ++round) {
    const Sizes sizes = randomSizes(1 + std::size_t(below(4)));
    Sizes other = sizes;
    for (auto& size : other) size = below(3) == 0 ? 1 : size;
    const Tensor a = scrambled(sizes), b = scrambled(other), condition = scrambled(sizes, DType::Bool);
    check("aten.exp.default", {a});
    check("aten.add.Tensor", {a, b});
    check("aten.mul.Tensor", {b, 3.0});
    check("aten.le.Scalar", {a, 1.0});
    check("aten.where.self", {condition, a, b});
    check("aten.clone.default", {a});
    check("prims.convert_element_type.default", {a, DType::BFloat16});
  }
}

TEST_F(Shapes, ViewAndReductionRulesEqualKernels) {
  for (int round = 0; round < 50; ++round) {
    const Sizes sizes = randomSizes(3);
    const Tensor x = scrambled(sizes);
    check("aten.permute.default", {x, ints({2, 0, 1})});
    check("aten.unsqueeze.default", {x, below(4)});
    check("aten.squeeze.dims", {x, ints({0, 2})});
    check("aten.slice.Tensor", {x, std::int64_t{1}, below(3), below(5), 1 + below(2)});
    check("aten.select.int", {x, std::int64_t{2}, std::int64_t{-1}});
    check("aten.split.Tensor", {x, 1 + below(2), below(3)});
    check("aten.expand.default", {x, ints({2, sizes[0], sizes[1], sizes[2]})});
    check("aten.sum.dim_IntList", {x, ints({below(3)}), below(2) == 0});
    check("aten.var_mean.correction", {x, ints({0, 2})}, {{"correction", std::int64_t{0}}});
    check("aten.amax.default", {x, ints({1}), true});
    check("aten.cat.default", {ValueList{x, x}, below(3)});
    check("aten._softmax.default", {x, below(3), false});
  }
}

TEST_F(Shapes, HeavyOpsRulesEqualKernels) {
  const Tensor weight = scrambled({4, 2, 3, 3}), image = scrambled({2, 2, 5, 6});
  check("aten.convolution.default",
        {image, weight, Value(), ints({1, 1}), ints({1, 1}), ints({1, 1}), false, ints({0, 0}), std::int64_t{1}});
  check("aten.mm.default", {scrambled({3, 4}), scrambled({4, 5})});
  check("aten.bmm.default", {scrambled({2, 3, 4}), scrambled({2, 4, 5})});
  check("aten.addmm.default", {scrambled({5}), scrambled({3, 4}), scrambled({4, 5})});
  check("aten.embedding.default", {scrambled({4, 3}), tensorOf({2, 2}, {0, 1, 3, 2}, DType::Int64)});
  check("aten.max_pool2d_with_indices.default", {image, ints({2, 2})});
  check("aten.index.Tensor", {image, ValueList{Value(), tensorOf({2}, {0, 1}, DType::Int64)}});
}

TEST(PropagateShapes, FillsMetasAndKeepsUnknownOps) {
  GraphModule module;
  Graph& graph = module.graph;
  const NodeId x = graph.placeholder("x");
  TensorMeta meta;
  meta.sizes = {dim(2), dim(3)};
  meta.strides = {dim(3), dim(1)};
  graph.setValueMeta(x, {meta});
  const NodeId turned =
      graph.callFunction("torch.ops.aten.permute.default", {x, Argument::list({1, 0})}, {}, "permute");
  const NodeId strange = graph.callFunction("torch.ops.mine.strange.default", {turned}, {}, "strange");
  const NodeId after = graph.callFunction("torch.ops.aten.neg.default", {strange}, {}, "neg");
  const NodeId pair =
      graph.callFunction("torch.ops.aten.var_mean.correction", {turned, Argument::list({0})}, {}, "pair");
  const NodeId item = graph.callFunction("operator.getitem", {pair, 1}, {}, "getitem");
  graph.output(Argument::tuple({after, item}));
  const auto done = propagateShapes(module);
  ASSERT_TRUE(done) << done.error().text();
  ASSERT_TRUE(graph.node(turned).meta().value.tensor());
  EXPECT_EQ(graph.node(turned).meta().value.tensor()->concreteStrides(), (Sizes{1, 3}));
  EXPECT_FALSE(graph.node(strange).meta().value.known());
  EXPECT_FALSE(graph.node(after).meta().value.known());
  ASSERT_TRUE(graph.node(item).meta().value.tensor());
  EXPECT_EQ(graph.node(item).meta().value.tensor()->concreteSizes(), (Sizes{2}));
}

TEST(PropagateShapes, ErrorsNameTheNode) {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  TensorMeta meta;
  meta.sizes = {dim(2), dim(3)};
  meta.strides = {dim(3), dim(1)};
  module.graph.setValueMeta(x, {meta});
  module.graph.output(module.graph.callFunction("torch.ops.aten.mm.default", {x, x}, {}, "product"));
  const auto done = propagateShapes(module);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().node, "product");
  EXPECT_EQ(done.error().code, ErrorCode::ShapeMismatch);
}

}  // namespace
}  // namespace kerf
