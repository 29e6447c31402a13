// kernelBits(): which kernels can have eager mode's bits, and the reason of each that need not.
#include <gmock/gmock.h>

#include "engine/pipeline/kernel_bits.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing_support::GraphFixture;

RecordedFusionGroup bitGroup(const std::string& kernel, std::vector<std::string> nodes) {
  RecordedFusionGroup group;
  group.kernel = kernel;
  group.postGradNodes = std::move(nodes);
  return group;
}

/// "cause: node node" of each reason.
std::vector<std::string> reasonsOf(const KernelBits& bits) {
  std::vector<std::string> texts;
  for (const BitReason& reason : bits.reasons) {
    std::string text = reason.cause + ":";
    for (const std::string& node : reason.nodes) text += " " + node;
    texts.push_back(std::move(text));
  }
  return texts;
}

KernelBits bitsOfOne(const GraphFixture& fixture, const std::string& kernel, std::vector<std::string> nodes,
                     const EagerOps& eager = {}, bool own = false) {
  const auto rows = kernelBits(fixture.module.graph, std::vector{bitGroup(kernel, std::move(nodes))}, eager, own);
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? KernelBits{} : rows.front();
}

/// mul in one kernel, add and relu in another: of the second.
KernelBits bitsOfTwo(const GraphFixture& fixture, const std::string& first, const std::string& second) {
  const std::vector groups{bitGroup(first, {"mul"}), bitGroup(second, {"add", "relu"})};
  const auto rows = kernelBits(fixture.module.graph, groups);
  EXPECT_EQ(rows.size(), 2U);
  return rows.size() == 2 ? rows[1] : KernelBits{};
}

/// relu(x * y + y).
struct ProductAndSum : GraphFixture {
  explicit ProductAndSum(DType dtype) {
    const NodeId x = input("x", dtype, {4, 8}), y = input("y", dtype, {4, 8});
    const NodeId product = call("aten.mul.Tensor", {x, y});
    const NodeId sum = call("aten.add.Tensor", {product, y});
    const NodeId relu = call("aten.relu.default", {sum});
    output({relu});
  }
};

TEST(KernelBits, AProductAndASumInOneTritonKernelAreRoundedOnce) {
  const ProductAndSum graph(DType::Float32);
  const auto triton = bitsOfOne(graph, "triton_poi_fused_add_mul_relu_0", {"mul", "add", "relu"});
  EXPECT_EQ(triton.code, "Triton");
  EXPECT_FALSE(triton.canBeEqual());
  EXPECT_THAT(reasonsOf(triton), ElementsAre("fused multiply-add: mul add"));
  // C++ is compiled without contraction, and so are Kerf's own kernels.
  EXPECT_TRUE(bitsOfOne(graph, "cpp_fused_add_mul_relu_0", {"mul", "add", "relu"}).canBeEqual());
  EXPECT_TRUE(bitsOfOne(graph, "cpp_fused_add_mul_relu_0", {"mul", "add", "relu"}, {}, true).canBeEqual());
  // Of two kernels neither sees the other's product unrounded.
  EXPECT_TRUE(bitsOfTwo(graph, "triton_poi_fused_mul_0", "triton_poi_fused_add_relu_1").canBeEqual());
}

/// In registers a view is nothing.
TEST(KernelBits, AViewBetweenProductAndSumIsLookedThrough) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {4, 8});
  const NodeId product = graph.call("aten.mul.Tensor", {x, x});
  const NodeId seen = graph.call("aten.alias.default", {product});
  const NodeId sum = graph.call("aten.add.Tensor", {seen, seen});
  graph.output({sum});
  const auto triton = bitsOfOne(graph, "triton_poi_fused_add_mul_0", {"mul", "alias", "add"});
  EXPECT_THAT(reasonsOf(triton), ElementsAre("fused multiply-add: mul add"));
}

/// floor(a / b) of Inductor is not what fmod gives.
TEST(KernelBits, FloorDivideIsAnotherAlgorithm) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {4}), y = graph.input("y", DType::Float32, {4});
  graph.output({graph.call("aten.floor_divide.default", {x, y})});
  const auto triton = bitsOfOne(graph, "triton_poi_fused_floor_divide_0", {"floor_divide"});
  EXPECT_THAT(reasonsOf(triton), ElementsAre("several roundings in one op: floor_divide"));
}

TEST(KernelBits, SixteenBitsBetweenTheOpsOfAKernelAreNotRounded) {
  const ProductAndSum graph(DType::BFloat16);
  EXPECT_THAT(reasonsOf(bitsOfOne(graph, "cpp_fused_add_mul_relu_0", {"mul", "add", "relu"})),
              ElementsAre("rounding between fused ops: mul"));
  // relu of a value and rounding it may change places.
  EXPECT_TRUE(bitsOfTwo(graph, "cpp_fused_mul_0", "cpp_fused_add_relu_1").canBeEqual());
  EXPECT_TRUE(bitsOfOne(graph, "cpp_fused_add_mul_relu_0", {"mul", "add", "relu"}, {}, true).canBeEqual());
}

TEST(KernelBits, AComparisonSeesTheUnroundedValue) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float16, {8}), y = graph.input("y", DType::Float16, {8});
  const NodeId sum = graph.call("aten.add.Tensor", {x, y});
  const NodeId above = graph.call("aten.gt.Tensor", {sum, y});
  graph.output({graph.call("aten.where.self", {above, x, y})});
  EXPECT_THAT(reasonsOf(bitsOfOne(graph, "triton_poi_fused_0", {"add", "gt", "where"})),
              ElementsAre("rounding between fused ops: add"));
}

TEST(KernelBits, SumsAndFunctionsAreNamed) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {4, 8});
  const NodeId greatest = graph.call("aten.amax.default", {x, Argument::list({Argument(1)}), Argument(true)});
  const NodeId centred = graph.call("aten.sub.Tensor", {x, greatest});
  const NodeId exp = graph.call("aten.exp.default", {centred});
  const NodeId sum = graph.call("aten.sum.dim_IntList", {exp, Argument::list({Argument(1)}), Argument(true)});
  graph.output({graph.call("aten.div.Tensor", {exp, sum})});
  const std::vector<std::string> nodes{"amax", "sub", "exp", "sum_1", "div"};
  EXPECT_THAT(reasonsOf(bitsOfOne(graph, "triton_per_fused__softmax_0", nodes)),
              ElementsAre("order of sums: sum_1", "elementary functions of another library: exp",
                          "division that is not correctly rounded: div"));
  EXPECT_THAT(reasonsOf(bitsOfOne(graph, "cpp_fused__softmax_0", nodes)),
              ElementsAre("order of sums: sum_1", "elementary functions of another library: exp"));
  EXPECT_TRUE(bitsOfOne(graph, "triton_per_fused_amax_0", {"amax"}).canBeEqual());
}

TEST(KernelBits, WholeNumbersAreExact) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Int64, {4, 8});
  const NodeId square = graph.call("aten.mul.Tensor", {x, x});
  const NodeId sum = graph.call("aten.sum.dim_IntList", {square, Argument::list({Argument(1)})});
  graph.output({graph.call("aten.add.Tensor", {sum, 1})});
  EXPECT_TRUE(bitsOfOne(graph, "triton_per_fused_add_mul_sum_0", {"mul", "sum_1", "add"}).canBeEqual());
}

TEST(KernelBits, AnExistingFunctionIsEqualWhereItTakesTheSameAlgorithm) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {4, 8}), w = graph.input("w", DType::Float32, {8, 4});
  graph.output({graph.call("aten.mm.default", {x, w})});
  const auto library = bitsOfOne(graph, "extern_kernels.mm:1", {"mm"});
  EXPECT_TRUE(library.canBeEqual());
  EXPECT_EQ(library.condition, "where the library takes the algorithm that it takes for eager mode");
  EXPECT_THAT(reasonsOf(bitsOfOne(graph, "triton_tem_fused_mm_0", {"mm"})),
              ElementsAre("another algorithm of the product: mm"));
}

TEST(KernelBits, PartsOfOneEagerOpAreThatOpsOwnKernel) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {8});
  const NodeId half = graph.call("aten.mul.Tensor", {x, 0.5});
  const NodeId shifted = graph.call("aten.sub.Tensor", {half, 1.0});
  graph.output({graph.call("aten.neg.default", {shifted})});
  const EagerOps eager{{"mul", {{"act (mylib.act)"}}}, {"sub", {{"act (mylib.act)"}}}, {"neg", {{"act (mylib.act)"}}}};
  const auto bits = bitsOfOne(graph, "cpp_fused_0", {"mul", "sub", "neg"}, eager);
  EXPECT_THAT(reasonsOf(bits), ElementsAre("one kernel in eager mode: mul sub"));
  EXPECT_EQ(bits.reasons.front().detail, "act (mylib.act)");
  // One rounding is what each op does itself.
  const EagerOps two{
      {"mul", {{"half (mylib.half)"}}}, {"sub", {{"shift (mylib.shift)"}}}, {"neg", {{"shift (mylib.shift)"}}}};
  EXPECT_TRUE(bitsOfOne(graph, "cpp_fused_0", {"mul", "sub", "neg"}, two).canBeEqual());
}

/// A pass made one addmm out of a product and a sum: eager mode rounds the product first.
TEST(KernelBits, AnOpThatStandsForSeveralOfEagerModeNeedNotBeEqual) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {4, 8}), w = graph.input("w", DType::Float32, {8, 4});
  const NodeId b = graph.input("b", DType::Float32, {4});
  graph.output({graph.call("aten.addmm.default", {b, x, w})});
  const EagerOps joined{{"addmm", {{"matmul (torch.matmul)"}, {"add (operator.add)"}}}};
  const auto bits = bitsOfOne(graph, "extern_kernels.addmm:1", {"addmm"}, joined);
  EXPECT_FALSE(bits.canBeEqual());
  EXPECT_THAT(reasonsOf(bits), ElementsAre("one op for several of eager mode: addmm"));
  EXPECT_EQ(bits.reasons.front().detail, "matmul (torch.matmul), add (operator.add)");
  const EagerOps viewed{{"addmm", {{"view (view)", false}, {"linear (torch.nn.functional.linear)"}}}};
  EXPECT_TRUE(bitsOfOne(graph, "extern_kernels.addmm:1", {"addmm"}, viewed).canBeEqual());
}

TEST(KernelBits, NothingIsSaidOfAKernelWhoseNodesAreNotRecorded) {
  const ProductAndSum graph(DType::Float32);
  const auto bits = bitsOfOne(graph, "cpp_fused_9", {"gone"});
  EXPECT_FALSE(bits.known);
  EXPECT_FALSE(bits.canBeEqual());
  EXPECT_THAT(bits.reasons, IsEmpty());
}

TEST(KernelBits, AddWithAlphaRoundsTwice) {
  GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {8}), y = graph.input("y", DType::Float32, {8});
  graph.output({graph.call("aten.add.Tensor", {x, y}, {{"alpha", Argument(3)}})});
  EXPECT_THAT(reasonsOf(bitsOfOne(graph, "cpp_fused_add_0", {"add"})), ElementsAre("several roundings in one op: add"));
}

TEST(KernelBits, EveryCauseHasAName) {
  for (std::size_t cause = 0; cause <= std::size_t(lastOf(BitCause())); ++cause)
    EXPECT_FALSE(bitCauseName(BitCause(cause)).empty());
}

}  // namespace
}  // namespace kerf
