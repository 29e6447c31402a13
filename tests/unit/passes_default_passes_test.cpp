// Each default pass on small graphs: what it changes, and above all what it leaves alone.
#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/passes/constant_folding.h"
#include "engine/passes/cse.h"
#include "engine/passes/dce.h"
#include "engine/passes/remove_noop_ops.h"

namespace kerf {
namespace {

constexpr const char* reluTarget = "torch.ops.aten.relu.default";
constexpr const char* expTarget = "torch.ops.aten.exp.default";
constexpr const char* addTarget = "torch.ops.aten.add.Tensor";
constexpr const char* mulTarget = "torch.ops.aten.mul.Tensor";
constexpr const char* viewTarget = "torch.ops.aten.view.default";
constexpr const char* permuteTarget = "torch.ops.aten.permute.default";
constexpr const char* cloneTarget = "torch.ops.aten.clone.default";
constexpr const char* fullTarget = "torch.ops.aten.full.default";
constexpr const char* iotaTarget = "torch.ops.prims.iota.default";
constexpr const char* randTarget = "torch.ops.aten.rand.default";
constexpr const char* addInplaceTarget = "torch.ops.aten.add_.Tensor";

ValueMeta meta(Sizes sizes, DType dtype = DType::Float32) {
  TensorMeta tensor{.dtype = dtype};
  for (auto size : sizes) tensor.sizes.push_back(dim(size));
  for (auto stride : contiguousStrides(sizes)) tensor.strides.push_back(dim(stride));
  return {tensor};
}

/// A graph under construction on placeholders with contiguous metas.
struct Builder {
  GraphModule module;
  Graph& graph = module.graph;

  NodeId input(const char* name, Sizes sizes, DType dtype = DType::Float32) {
    const NodeId id = graph.placeholder(name);
    graph.setValueMeta(id, meta(std::move(sizes), dtype));
    return id;
  }
  NodeId call(const char* target, ArgumentList args, KeywordArguments kwargs = {}) {
    return graph.callFunction(target, std::move(args), std::move(kwargs));
  }
  GraphModule& finish(ArgumentList outputs) {
    graph.output(Argument::tuple(std::move(outputs)));
    EXPECT_TRUE(propagateShapes(module).has_value());
    return module;
  }
};

/// Whether the pass wrote anything.
bool runPass(const Pass& pass, GraphModule& module) {
  const ModuleRevision before = module.revision();
  const auto done = pass.run(module, {pass.options, {}});
  EXPECT_TRUE(done.has_value()) << done.error().text();
  EXPECT_TRUE(module.graph.lint().has_value());
  return module.revision() != before;
}

std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> list;
  for (NodeId id : graph.order()) {
    if (graph.node(id).op() == Opcode::CallFunction) list.push_back(graph.node(id).target());
  }
  return list;
}

TEST(RemoveNoopOps, SkipsViewsCastsAndUnitsThatChangeNothing) {
  Builder b;
  const NodeId x = b.input("x", {2, 3});
  const NodeId view = b.call(viewTarget, {x, Argument::list({2, 3})});
  const NodeId permute = b.call(permuteTarget, {view, Argument::list({0, 1})});
  const NodeId cast = b.call("torch.ops.prims.convert_element_type.default", {permute, DType::Float32});
  const NodeId one = b.call(mulTarget, {cast, 1});
  const NodeId relu = b.call(reluTarget, {one});
  GraphModule& module = b.finish({relu});
  EXPECT_TRUE(runPass(removeNoopOpsPass(), module));
  EXPECT_EQ(targets(module.graph), (std::vector<std::string>{reluTarget}));
  EXPECT_EQ(module.graph.node(relu).args()[0], Argument(x));
}

TEST(RemoveNoopOps, KeepsWhatChangesShapeOrder) {
  Builder b;
  const NodeId x = b.input("x", {2, 2});
  const NodeId swapped = b.call(permuteTarget, {x, Argument::list({1, 0})});
  const NodeId other = b.call(viewTarget, {x, Argument::list({4})});
  GraphModule& module = b.finish({b.call(reluTarget, {swapped}), b.call(reluTarget, {other})});
  EXPECT_FALSE(runPass(removeNoopOpsPass(), module));
  EXPECT_EQ(module.graph.size(), 6u);
}

TEST(RemoveNoopOps, KnowsThatAddingZeroLosesMinusZero) {
  Builder b;
  const NodeId x = b.input("x", {4});
  const NodeId n = b.input("n", {4}, DType::Int64);
  const NodeId plusZero = b.call(addTarget, {x, 0});
  const NodeId minusZero = b.call(addTarget, {x, -0.0});
  const NodeId integer = b.call(addTarget, {n, 0});
  GraphModule& module =
      b.finish({b.call(reluTarget, {plusZero}), b.call(expTarget, {minusZero}), b.call(mulTarget, {integer, 2})});
  EXPECT_TRUE(runPass(removeNoopOpsPass(), module));
  EXPECT_TRUE(module.graph.contains(plusZero));
  EXPECT_FALSE(module.graph.contains(minusZero));
  EXPECT_FALSE(module.graph.contains(integer));
}

TEST(RemoveNoopOps, KeepsACloneThatChangesStridesOrIsReturned) {
  Builder b;
  const NodeId x = b.input("x", {2, 3});
  const NodeId swapped = b.call(permuteTarget, {x, Argument::list({1, 0})});
  const NodeId repacked = b.call(cloneTarget, {swapped}, {{"memory_format", MemoryFormat::Contiguous}});
  const NodeId same = b.call(cloneTarget, {x});
  const NodeId returned = b.call(cloneTarget, {x});
  GraphModule& module = b.finish({b.call(reluTarget, {repacked}), b.call(expTarget, {same}), returned});
  EXPECT_TRUE(runPass(removeNoopOpsPass(), module));
  EXPECT_TRUE(module.graph.contains(repacked));
  EXPECT_FALSE(module.graph.contains(same));
  EXPECT_TRUE(module.graph.contains(returned));
}

TEST(RemoveNoopOps, KeepsACopyOfMutatedMemory) {
  Builder b;
  const NodeId x = b.input("x", {3});
  const NodeId before = b.call(cloneTarget, {x});
  b.call(addInplaceTarget, {x, 1});
  GraphModule& module = b.finish({b.call(reluTarget, {before})});
  EXPECT_FALSE(runPass(removeNoopOpsPass(), module));
  EXPECT_TRUE(module.graph.contains(before));
}

TEST(ConstantFolding, FreezesComputedConstants) {
  Builder b;
  const NodeId x = b.input("x", {4}, DType::Int64);
  const NodeId iota =
      b.call(iotaTarget, {4},
             {{"start", 0}, {"step", 1}, {"dtype", DType::Int64}, {"device", Device{}}, {"requires_grad", false}});
  const NodeId twice = b.call(mulTarget, {iota, 2});
  const NodeId sum = b.call(addTarget, {x, twice});
  GraphModule& module = b.finish({sum});
  EXPECT_TRUE(runPass(constantFoldingPass(), module));
  EXPECT_EQ(targets(module.graph), (std::vector<std::string>{addTarget}));
  const TensorAttribute* frozen = module.attribute("_frozen_param0");
  ASSERT_NE(frozen, nullptr);
  EXPECT_EQ(frozen->tensor.itemAsInt(3), 6);
  const NodeId read = *module.graph.node(sum).args()[1].as<NodeId>();
  EXPECT_EQ(module.graph.node(read).op(), Opcode::GetAttr);
  EXPECT_EQ(module.graph.node(read).meta().value, meta({4}, DType::Int64));
  EXPECT_EQ(module.graph.node(read).meta().fromNodes, (std::vector<std::string>{"mul_tensor"}));
}

TEST(ConstantFolding, KeepsUniformConstantsAsFull) {
  Builder b;
  const NodeId x = b.input("x", {4});
  const NodeId full = b.call(fullTarget, {Argument::list({4}), 3.0}, {{"dtype", DType::Float32}});
  const NodeId twice = b.call(mulTarget, {full, 2});
  GraphModule& module = b.finish({b.call(addTarget, {x, twice})});
  EXPECT_TRUE(runPass(constantFoldingPass(), module));
  EXPECT_EQ(targets(module.graph), (std::vector<std::string>{fullTarget, addTarget}));
  const auto folded = module.graph.find("full_default_1");
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(module.graph.node(*folded).args()[1], Argument(6.0));
  EXPECT_TRUE(module.attributes.empty());
  EXPECT_FALSE(runPass(constantFoldingPass(), module));  // a lone full stays as it is
}

TEST(ConstantFolding, LeavesRandomOpsAlone) {
  Builder b;
  const NodeId random = b.call(randTarget, {Argument::list({4})});
  GraphModule& module = b.finish({b.call(reluTarget, {b.call(mulTarget, {random, 2})})});
  EXPECT_FALSE(runPass(constantFoldingPass(), module));
}

TEST(ConstantFolding, LeavesLargeResultsAlone) {
  Builder b;
  const NodeId x = b.input("x", {100'000}, DType::Int64);
  const NodeId iota =
      b.call(iotaTarget, {100'000},
             {{"start", 0}, {"step", 1}, {"dtype", DType::Int64}, {"device", Device{}}, {"requires_grad", false}});
  GraphModule& module = b.finish({b.call(addTarget, {x, b.call(mulTarget, {iota, 2})})});
  EXPECT_FALSE(runPass(constantFoldingPass(), module));
}

TEST(Cse, MergesEqualCallsAndTheirProvenance) {
  Builder b;
  const NodeId x = b.input("x", {4});
  const NodeId first = b.call(expTarget, {x});
  const NodeId second = b.call(expTarget, {x});
  const NodeId a = b.call(reluTarget, {first});
  const NodeId c = b.call(reluTarget, {second});
  const NodeId sum = b.call(addTarget, {a, c});
  GraphModule& module = b.finish({sum});
  EXPECT_TRUE(runPass(csePass(), module));
  EXPECT_EQ(targets(module.graph), (std::vector<std::string>{expTarget, reluTarget, addTarget}));
  EXPECT_EQ(module.graph.node(sum).args(), (ArgumentList{a, a}));
  EXPECT_EQ(module.graph.node(first).meta().fromNodes, (std::vector<std::string>{"exp_default", "exp_default_1"}));
}

TEST(Cse, KeepsDifferentArgumentsRandomCallsAndReturnedPairs) {
  Builder b;
  const NodeId x = b.input("x", {4});
  const NodeId plus = b.call(addTarget, {x, 0.0});
  const NodeId minus = b.call(addTarget, {x, -0.0});
  const NodeId r1 = b.call("torch.ops.aten.rand_like.default", {x});
  const NodeId r2 = b.call("torch.ops.aten.rand_like.default", {x});
  const NodeId e1 = b.call(expTarget, {x});
  const NodeId e2 = b.call(expTarget, {x});
  GraphModule& module = b.finish({plus, minus, r1, r2, e1, e2});
  EXPECT_FALSE(runPass(csePass(), module));
}

TEST(Cse, DoesNotMergeAcrossMutation) {
  Builder b;
  const NodeId x = b.input("x", {4});
  const NodeId before = b.call(expTarget, {x});
  const NodeId view = b.call(viewTarget, {x, Argument::list({2, 2})});
  b.call(addInplaceTarget, {view, 1});
  const NodeId after = b.call(expTarget, {x});
  GraphModule& module = b.finish({b.call(addTarget, {before, after})});
  EXPECT_FALSE(runPass(csePass(), module));
}

TEST(Dce, DropsUnusedPureCallsOnly) {
  Builder b;
  const NodeId x = b.input("x", {4});
  const NodeId unused = b.input("unused", {4});
  const NodeId dead = b.call(expTarget, {b.call(reluTarget, {x})});
  const NodeId random = b.call("torch.ops.aten.rand_like.default", {x});
  const NodeId unknown = b.call("torch.ops.mine.notify.default", {x});
  const NodeId write = b.call(addInplaceTarget, {x, 1});
  GraphModule& module = b.finish({b.call(reluTarget, {x})});
  EXPECT_TRUE(runPass(dcePass(), module));
  EXPECT_FALSE(module.graph.contains(dead));
  for (NodeId id : {unused, random, unknown, write}) EXPECT_TRUE(module.graph.contains(id));
  EXPECT_EQ(module.graph.size(), 7u);
}

}  // namespace
}  // namespace kerf
