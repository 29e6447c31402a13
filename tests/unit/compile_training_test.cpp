// Training steps through compileFx: every stage, the partition, hooks, sizes; values as those of the joint graph.
#include <gmock/gmock.h>

#include "engine/autograd/decompose.h"
#include "engine/ops/random/state.h"
#include "tests/support/compiled_fixture.h"
#include "tests/support/symbolic_fixture.h"

namespace kerf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::expectClose;
using testing_support::expectLikeInterpreter;
using testing_support::parsed;
using testing_support::randomTensor;
using testing_support::SymbolicFixture;
using Names = std::vector<std::string>;

constexpr const char* layerText = R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 6]", w: "f32[8, 6]", b: "f32[8]"):
        linear: "f32[4, 8]" = torch._C._nn.linear(x, w, b)
        gelu: "f32[4, 8]" = torch._C._nn.gelu(linear)
        mul: "f32[4, 8]" = gelu * 2
        softmax: "f32[4, 8]" = torch.nn.functional.softmax(mul, dim = -1)
        return (softmax,)
)";

/// A layer with a parameter, as PyTorch would trace it for training, and inputs of its joint graph.
struct Layer {
  GraphModule module = parsed(layerText);
  CompileOptions options;
  GraphModule joint;
  ValueList inputs;

  Layer() {
    options.goal = CompileGoal::Training;
    options.aot.inputs = plainInputs(module);
    options.aot.inputs[1].kind = options.aot.inputs[2].kind = AotInput::Kind::Parameter;
    options.aot.requiresGrad = [](const AotInput&) { return true; };
    auto traced =
        aotTrace(module, options.aot.inputs, {.stage = AotStage::Joint, .requiresGrad = options.aot.requiresGrad});
    EXPECT_TRUE(traced) << traced.error().text();
    if (!traced) return;
    auto decomposed = decomposeGraph(traced->module, DecompositionTable::Inductor);
    EXPECT_TRUE(decomposed) << decomposed.error().text();
    if (decomposed) joint = std::move(*decomposed);
    std::mt19937 random{3};
    for (const Sizes& sizes : {Sizes{4, 6}, Sizes{8, 6}, Sizes{8}, Sizes{4, 8}})
      inputs.emplace_back(randomTensor(DType::Float32, sizes, random));
  }
};

Names titlesOf(const CompiledGraph& graph) {
  Names titles;
  for (const StageRecord& record : graph.stageRecords()) titles.push_back(record.title());
  return titles;
}

TEST(TrainingCompile, GivesWhatTheJointGraphGives) {
  const Layer layer;
  for (const double budget : {1.0, 0.5, 0.0}) {
    CompileOptions options = layer.options;
    options.memoryBudget = budget;
    const auto graph = compileFx(layer.module, options);
    ASSERT_TRUE(graph) << graph.error().text();
    expectLikeInterpreter(layer.joint, **graph, layer.inputs);
    ASSERT_TRUE((*graph)->traced());
    EXPECT_EQ((*graph)->traced()->userOutputs, 1u);
    const auto kernels = (*graph)->kernels();
    const auto isOf = [](std::string_view part) {
      return [part](const KernelInfo& kernel) { return kernel.name.starts_with(part); };
    };
    EXPECT_GT(std::ranges::count_if(kernels, isOf("forward.")), 0);
    EXPECT_GT(std::ranges::count_if(kernels, isOf("backward.")), 0);
  }
}

TEST(TrainingCompile, HasARecordForEveryStage) {
  Layer layer;
  layer.options.aot.recordsEveryStage = true;
  const auto graph = compileFx(layer.module, layer.options);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_THAT(
      titlesOf(**graph),
      ElementsAre("pre_grad", "aten", "functional", "joint", "joint, inductor decompositions", "joint",
                  "forward min_cut", "backward min_cut", "forward post_grad", "forward lowering", "forward lower",
                  "forward schedule", "forward codegen", "forward link", "backward post_grad", "backward lowering",
                  "backward lower", "backward schedule", "backward codegen", "backward link"));
  const auto& records = (*graph)->stageRecords();
  EXPECT_EQ(records[0].nodesAfter, layer.module.graph.size());
  EXPECT_EQ(records[4].nodesAfter, layer.joint.graph.size());
  EXPECT_TRUE(records[3].changed);
  EXPECT_TRUE(records[0].changed) << "calls are normalized";
  EXPECT_LT(records[6].nodesAfter, records[6].nodesBefore);
  layer.options.aot.recordsEveryStage = false;
  const auto plain = compileFx(layer.module, layer.options);
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_EQ(titlesOf(**plain)[1], "joint") << "that is traced, the stages before it are within";
}

TEST(TrainingCompile, AJointGraphIsPartitionedToo) {
  const Layer layer;
  CompileOptions options{.goal = CompileGoal::Joint};
  const auto graph = compileFx(layer.joint, options);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(titlesOf(**graph)[2], "forward min_cut");
  expectLikeInterpreter(layer.joint, **graph, layer.inputs);
  options.memoryBudget = 2;
  const auto refused = compileFx(layer.joint, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::BadUsage);
  options = {.goal = CompileGoal::Joint};
  EXPECT_EQ(compileFx(layer.module, options).error().code, ErrorCode::BadInput) << "it has no tangents";
}

TEST(InferenceCompile, TakesWhatDynamoGives) {
  const Layer layer;
  CompileOptions options{.goal = CompileGoal::Inference};
  const auto graph = compileFx(layer.module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  expectLikeInterpreter(layer.module, **graph, ValueList(layer.inputs.begin(), layer.inputs.end() - 1));
  EXPECT_EQ(titlesOf(**graph)[1], "functional");
  for (const NodeId id : (*graph)->finalModule().graph.order())
    EXPECT_THAT((*graph)->finalModule().graph.node(id).target(), Not(HasSubstr("torch._C._nn")));
}

TEST(CompileHooks, RunAtTheirPoints) {
  Layer layer;
  Names seen;
  const auto note = [&](std::string name) {
    return [&seen, name](GraphModule& module) -> Result<void> {
      seen.push_back(fmt::format("{} {}", name, module.graph.placeholders().size()));
      return {};
    };
  };
  layer.options.hooks.passes = {note("pre_grad"), note("joint"), note("post_grad")};
  layer.options.hooks.partition = [&](GraphModule joint, const PartitionOptions& options, double budget) {
    seen.emplace_back("partition");
    EXPECT_THAT(*options.joint.staticInputs, ElementsAre("primals_2", "primals_3"));
    EXPECT_EQ(options.joint.forwardOutputs, 1u);
    PartitionOptions changed = options;
    changed.method = PartitionMethod::Default;
    return partitionJoint(std::move(joint), changed, budget);
  };
  const auto graph = compileFx(layer.module, layer.options);
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen[0], "pre_grad 3");
  EXPECT_EQ(seen[1], "joint 4");
  EXPECT_EQ(seen[2], "partition");
  EXPECT_EQ(seen[3], "post_grad 3");
  EXPECT_THAT(seen[4], ::testing::StartsWith("post_grad "));
  expectLikeInterpreter(layer.joint, **graph, layer.inputs);
  EXPECT_THAT(titlesOf(**graph), ::testing::Contains("backward partition_hook"));
}

TEST(CompileHooks, ThatChangeTheGraphAreSeenAndThatFailAreNamed) {
  Layer layer;
  layer.options.hooks.passes.joint = [](GraphModule& module) -> Result<void> {
    for (const NodeId id : module.graph.placeholders())
      if (module.graph.node(id).users().empty()) return {};
    return fail(ErrorCode::CompileFailed, "no use for this graph");
  };
  Names told;
  layer.options.onStage = [&](const StageRecord& record) { told.push_back(record.title()); };
  const auto graph = compileFx(layer.module, layer.options);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().text(), HasSubstr("no use for this graph"));
  EXPECT_THAT(graph.error().text(), HasSubstr("joint_custom_post_pass"));
  EXPECT_THAT(told, ElementsAre("pre_grad", "joint", "joint, inductor decompositions"));
}

TEST(TrainingCompile, RandomCallsThatAreMadeAgainDrawTheSameNumbers) {
  const GraphModule joint = parsed(R"(
class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[8, 8]", tangents_1: "f32[8, 8]"):
        rand_like: "f32[8, 8]" = torch.ops.aten.rand_like.default(primals_1)
        mul: "f32[8, 8]" = torch.ops.aten.mul.Tensor(primals_1, rand_like)
        rand_like_1: "f32[8, 8]" = torch.ops.aten.rand_like.default(primals_1)
        add: "f32[8, 8]" = torch.ops.aten.add.Tensor(mul, rand_like_1)
        mul_1: "f32[8, 8]" = torch.ops.aten.mul.Tensor(tangents_1, rand_like)
        return [add, mul_1]
)");
  CompileOptions options{.goal = CompileGoal::Joint};
  options.partition.joint.policies = {{"rand_like", RecomputePolicy::MustRecompute}};
  const auto graph = compileFx(joint, options);
  ASSERT_TRUE(graph) << graph.error().text();
  const ValueList inputs{testing_support::counted({8, 8}), testing_support::counted({8, 8}, 1)};
  const RandomScope random;
  const auto expected = Interpreter(joint, referenceOps()).run(inputs);
  ASSERT_TRUE(expected) << expected.error().text();
  seedRandom();
  const auto given = (*graph)->run(inputs);
  ASSERT_TRUE(given) << given.error().text();
  for (std::size_t i = 0; i < 2; ++i)
    expectClose(expected->list()[i].tensor(), given->list()[i].tensor(), 1e-6, fmt::format("result {}", i));
}

TEST(TrainingCompile, ServesOtherSizes) {
  SymbolicFixture f({{"s0", 6}});
  const NodeId x = f.tensor("primals_1", DType::Float32, {"s0", "4"});
  const NodeId tangent = f.tensor("tangents_1", DType::Float32, {"s0", "4"});
  const NodeId exp = f.call("aten.exp.default", {x});
  const NodeId sum = f.call("aten.sum.dim_IntList", {exp, Argument::list({0}), true});
  const NodeId out = f.call("aten.div.Tensor", {exp, sum});
  const NodeId slope = f.call("aten.mul.Tensor", {tangent, out});
  f.output({out, f.call("aten.sub.Tensor", {slope, f.call("aten.mul.Tensor", {out, exp})})});
  const auto graph = compileFx(f.module, {.goal = CompileGoal::Joint});
  ASSERT_TRUE(graph) << graph.error().text();
  for (const std::int64_t size : {6, 2, 33}) {
    const SymbolBindings values{{"s0", size}};
    testing_support::expectLikeInterpreter(f.module, **graph, f.inputsFor(values), values, 1e-5, std::to_string(size));
  }
  EXPECT_EQ((*graph)->compilations(), 1);
}

TEST(CompilerPasses, LookForAttentionBeforeViewsAreCleanedUp) {
  Names names;
  for (const Pass& pass : compilerPasses()) names.push_back(pass.name);
  const auto attention = std::ranges::find(names, "fuse_attention");
  ASSERT_NE(attention, names.end());
  EXPECT_EQ(*(attention - 2), "user_patterns");
  EXPECT_EQ(*(attention + 1), "recomposition");
  EXPECT_EQ(*(attention + 2), "pointless_view");
  const auto activation = std::ranges::find(names, "addmm_activation");
  ASSERT_NE(activation, names.end());
  EXPECT_EQ(*(activation - 1), "addmm_fusion");
  EXPECT_EQ(names.size(), defaultPasses().size() + 5);
}

}  // namespace
}  // namespace kerf
