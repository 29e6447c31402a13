// Inductor's ops in ATen's terms: the rewritten graphs compute the same.
#include "engine/capture/pt2/stock_ops.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

Argument pair(std::int64_t a, std::int64_t b) { return Argument::list({Argument(a), Argument(b)}); }

/// Values without ties, in no order.
Tensor mixed(const Sizes& sizes) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float((i * 37) % 101);
  return tensor;
}

void describe(GraphModule& module, const Tensor& input) {
  TensorMeta meta;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    meta.sizes.push_back(dim(input.size(d)));
    meta.strides.push_back(dim(input.stride(d)));
  }
  for (const NodeId id : module.graph.placeholders()) module.graph.setValueMeta(id, {meta});
  const auto done = propagateShapes(module);
  ASSERT_TRUE(done.has_value()) << done.error().text();
}

ValueList run(const GraphModule& module, const ValueList& inputs) {
  const auto result = Interpreter(module, referenceOps()).run(inputs);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  return result ? result->list() : ValueList();
}

void expectSame(const ValueList& actual, const ValueList& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Tensor &a = actual[i].tensor(), &e = expected[i].tensor();
    ASSERT_EQ(a.sizes(), e.sizes());
    EXPECT_EQ(a.dtype(), e.dtype());
    for (std::int64_t k = 0; k < a.numel(); ++k) EXPECT_EQ(a.itemAsDouble(k), e.itemAsDouble(k)) << i << " " << k;
  }
}

TEST(StockOps, PoolsByIndicesWithTheSameOffsets) {
  struct Case {
    std::int64_t kernel, stride, padding, dilation;
  };
  for (const auto& [kernel, stride, padding, dilation] : {Case{2, 2, 0, 1}, Case{3, 2, 1, 1}, Case{2, 1, 0, 2}}) {
    GraphModule module;
    Graph& graph = module.graph;
    const NodeId x = graph.placeholder("x");
    const NodeId pool = graph.callFunction(
        "torch.ops.prims._low_memory_max_pool_with_offsets.default",
        {x, pair(kernel, kernel), pair(stride, stride), pair(padding, padding), pair(dilation, dilation), false});
    const NodeId maxima = graph.callFunction("operator.getitem", {pool, 0});
    const NodeId offsets = graph.callFunction("operator.getitem", {pool, 1});
    const NodeId indices = graph.callFunction("torch.ops.prims._low_memory_max_pool_offsets_to_indices.default",
                                              {offsets, pair(kernel, kernel), pair(6, 7), pair(stride, stride),
                                               pair(padding, padding), pair(dilation, dilation)});
    graph.output(Argument::tuple({maxima, offsets, indices}));
    const Tensor input = mixed({2, 3, 6, 7});
    describe(module, input);
    const ValueList before = run(module, {input});
    pt2::useStockOps(graph);
    ASSERT_TRUE(graph.lint().has_value());
    for (const NodeId id : graph.order()) EXPECT_EQ(graph.node(id).target().find("prims"), std::string::npos);
    expectSame(run(module, {input}), before);
  }
}

TEST(StockOps, PoolsWithoutOffsetsBecomeOneOp) {
  GraphModule module;
  Graph& graph = module.graph;
  const NodeId x = graph.placeholder("x");
  const NodeId pool = graph.callFunction("torch.ops.prims._low_memory_max_pool_with_offsets.default",
                                         {x, pair(2, 2), pair(2, 2), pair(0, 0), pair(1, 1), false});
  graph.output(Argument::tuple({graph.callFunction("operator.getitem", {pool, 0})}));
  const Tensor input = mixed({1, 1, 4, 4});
  describe(module, input);
  const ValueList before = run(module, {input});
  const std::size_t size = graph.size();
  pt2::useStockOps(graph);
  EXPECT_EQ(graph.size(), size);
  EXPECT_EQ(graph.node(pool).target(), "torch.ops.aten.max_pool2d_with_indices.default");
  expectSame(run(module, {input}), before);
}

TEST(StockOps, SplitsFusedProducts) {
  GraphModule module;
  Graph& graph = module.graph;
  const NodeId a = graph.placeholder("a"), b = graph.placeholder("b"), c = graph.placeholder("c");
  const NodeId sum = graph.callFunction("torch.ops.prims.fma.default", {a, b, c}, {}, "fma");
  graph.output(Argument::tuple({sum}));
  const Tensor x = mixed({5}), y = mixed({5}), z = mixed({5});
  const ValueList before = run(module, {x, y, z});
  EXPECT_EQ(pt2::useStockOps(graph),
            (std::vector<std::string>{"1 op is written: prims.fma as aten.mul and aten.add, which round twice"}));
  EXPECT_TRUE(pt2::useStockOps(graph).empty());
  EXPECT_EQ(graph.node(sum).name(), "fma");
  EXPECT_EQ(graph.node(sum).target(), "torch.ops.aten.add.Tensor");
  expectSame(run(module, {x, y, z}), before);  // whole numbers: nothing is rounded
}

}  // namespace
}  // namespace kerf
