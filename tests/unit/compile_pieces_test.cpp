// Cheap values that a cat, a stack or a padding takes are computed where they are put.
#include <algorithm>

#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

/// `kernels`: how many are generated.
void expectKernels(const GraphFixture& f, int kernels, const std::string& what) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  int generated = 0;
  for (const KernelInfo& kernel : (*graph)->kernels()) generated += kernel.kind == "fused" ? 1 : 0;
  EXPECT_EQ(generated, kernels) << what;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference) << what << ": " << reference.error().text();
  ASSERT_TRUE(result) << what << ": " << result.error().text();
  for (std::size_t i = 0; i < result->list().size(); ++i)
    expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), 1e-6, what);
}

Argument pairOf(NodeId a, NodeId b) { return Argument::list({Argument(a), Argument(b)}); }
Argument number(std::int64_t value) { return Argument(value); }

/// x cos + cat(-x2, x1) sin, as language models turn queries and keys.
TEST(Pieces, ARotaryEmbeddingIsOneKernel) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16, DType::Int64})
    for (const Sizes& sizes : {Sizes{2, 3, 5, 8}, Sizes{1, 1, 1, 2}, Sizes{2, 1, 4, 34}}) {
      GraphFixture f;
      const std::int64_t half = sizes[3] / 2;
      const NodeId x = f.input("x", dtype, sizes), cos = f.input("c", dtype, {sizes[2], sizes[3]}),
                   sin = f.input("s", dtype, {sizes[2], sizes[3]});
      const NodeId first = f.call("aten.slice.Tensor", {x, number(3), number(0), number(half)});
      const NodeId second = f.call("aten.slice.Tensor", {x, number(3), number(half), number(sizes[3])});
      const NodeId turned =
          f.call("aten.cat.default", {pairOf(f.call("aten.neg.default", {second}), first), number(-1)});
      const NodeId left = f.call("aten.mul.Tensor", {x, cos}), right = f.call("aten.mul.Tensor", {turned, sin});
      f.output({f.call("aten.add.Tensor", {left, right})});
      expectKernels(f, 1, fmt::format("rotary of {}", sizes.back()));
    }
}

TEST(Pieces, OfEveryKindOfMove) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {3, 4}), y = f.input("y", DType::Float32, {4});
  const NodeId sum = f.call("aten.add.Tensor", {x, y});  // y is repeated
  const NodeId twice = f.call("aten.mul.Tensor", {x, Argument(2.0)});
  f.output({f.call("aten.stack.default", {pairOf(sum, twice), number(1)})});
  expectKernels(f, 1, "stack");
  GraphFixture g;
  const NodeId z = g.input("z", DType::Float32, {3, 4});
  const NodeId negative = g.call("aten.neg.default", {z});
  g.output({g.call("aten.constant_pad_nd.default",
                   {negative, Argument::list({number(1), number(-2), number(2), number(0)}), Argument(7.0)})});
  expectKernels(g, 1, "padding");
}

TEST(Pieces, OfOtherTypesAndConstants) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Int32, {3, 4}), y = f.input("y", DType::Float32, {3, 2});
  const NodeId zeros = f.call("aten.full_like.default", {y, Argument(0.5)});
  const NodeId less = f.call("aten.lt.Scalar", {x, number(1)});
  f.output({f.call("aten.cat.default", {Argument::list({Argument(less), Argument(zeros), Argument(y),
                                                        Argument(f.call("aten.neg.default", {x}))}),
                                        number(1)})});
  expectKernels(f, 1, "types");
}

/// What others use too, or what costs more than a read, is computed once.
TEST(Pieces, ThatAreUsedElsewhereOrDearStayKernels) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {3, 4});
  const NodeId negative = f.call("aten.neg.default", {x});
  f.output({f.call("aten.cat.default", {pairOf(negative, x), number(0)}), negative});
  expectKernels(f, 2, "used twice");
  GraphFixture g;
  const NodeId y = g.input("y", DType::Float32, {3, 4});
  g.output({g.call("aten.cat.default", {pairOf(g.call("aten.tanh.default", {y}), y), number(0)})});
  expectKernels(g, 2, "dear");
}

TEST(Pieces, OfWhatAnotherKernelComputes) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 6}), w = f.input("w", DType::Float32, {6, 6});
  const NodeId product = f.call("aten.mm.default", {x, w});
  const NodeId soft = f.call("aten.tanh.default", {product});
  const NodeId negative = f.call("aten.neg.default", {soft});
  f.output({f.call("aten.cat.default", {pairOf(negative, product), number(1)}), soft});
  expectKernels(f, 2, "computed and kept");
}

}  // namespace
}  // namespace kerf
