// Backends by name, what they compute and what they leave to look at.
#include <gmock/gmock.h>

#include "engine/backend/registry/backends.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

struct Chain : GraphFixture {
  Chain() {
    const NodeId x = input("x", DType::Float32, {4, 4});
    const NodeId relu = call("aten.relu.default", {call("aten.mm.default", {x, x})});
    call("aten.exp.default", {relu});
    output({relu, call("aten.sum.dim_IntList", {relu, Argument::list({1})})});
  }
};

TEST(Backends, AreFoundByName) {
  std::vector<std::string_view> names;
  for (const Backend* backend : backends()) {
    names.push_back(backend->name());
    EXPECT_EQ(*findBackend(backend->name()), backend);
    EXPECT_FALSE(backend->description().empty());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("llvm", "interp"));
  const auto unknown = findBackend("triton");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::BadUsage);
  EXPECT_EQ(unknown.error().message, "unknown backend \"triton\"; there is llvm, interp, cuda");
  EXPECT_EQ((*findBackend("cuda"))->name(), "cuda");
  EXPECT_EQ(compileFx(Chain().module, {.backend = "triton"}).error().code, ErrorCode::BadUsage);
}

TEST(Backends, GiveTheSameResults) {
  const Chain chain;
  for (const Backend* backend : backends()) {
    const auto graph = compileFx(chain.module, {.backend = std::string(backend->name())});
    ASSERT_TRUE(graph) << graph.error().text();
    for (int round = 0; round < 2; ++round) {
      const auto result = (*graph)->run(chain.inputs);
      ASSERT_TRUE(result) << result.error().text();
      for (const std::size_t i : {0, 1})
        expectClose(chain.interpret()->list()[i].tensor(), result->list()[i].tensor(), 1e-5,
                    std::string(backend->name()));
    }
  }
}

TEST(Backends, LowerAndCompileStepByStep) {
  const Chain chain;
  const auto module = std::make_shared<const GraphModule>(chain.module);
  for (const Backend* backend : backends()) {
    const auto lowered = backend->lower(module, {}, {});
    ASSERT_TRUE(lowered) << lowered.error().text();
    const auto executable = (*lowered)->compile({});
    ASSERT_TRUE(executable) << executable.error().text();
    EXPECT_TRUE((*executable)->run(chain.inputs, {}));
    EXPECT_FALSE((*executable)->artifacts().kernels.empty());
  }
}

TEST(LlvmBackend, LeavesTextsByFormat) {
  const auto graph = compileFx(Chain().module);
  ASSERT_TRUE(graph);
  const Artifacts& artifacts = (*graph)->artifacts();
  const auto fused = std::ranges::find(artifacts.kernels, "fused", &KernelInfo::kind);
  ASSERT_NE(fused, artifacts.kernels.end());
  EXPECT_THAT(std::string(fused->text("loop")), ::testing::HasSubstr("for"));
  EXPECT_THAT(std::string(fused->text("llvm")), ::testing::HasSubstr("define"));
  EXPECT_EQ(fused->text("ptx"), "");
  const auto lean = compileFx(Chain().module, {.keepArtifacts = false});
  ASSERT_TRUE(lean);
  for (const KernelInfo& kernel : (*lean)->kernels()) EXPECT_TRUE(kernel.texts.empty()) << kernel.name;
}

TEST(InterpreterBackend, RunsWhatThePassesLeft) {
  const auto graph = compileFx(Chain().module, {.backend = "interp"});
  ASSERT_TRUE(graph);
  std::vector<std::string> nodes;
  for (const KernelInfo& kernel : (*graph)->kernels()) {
    EXPECT_EQ(kernel.kind, "interpreted");
    nodes.insert(nodes.end(), kernel.nodes.begin(), kernel.nodes.end());
  }
  EXPECT_THAT(nodes, ::testing::ElementsAre("mm", "relu", "sum_1"));
}

TEST(InterpreterBackend, RunsPlantedFaultsToo) {
  const Chain chain;
  CompileOptions options{.backend = "interp"};
  options.faults.faults.push_back(*parseFault("relu=accuracy"));
  const auto graph = compileFx(chain.module, options);
  ASSERT_TRUE(graph);
  const auto result = (*graph)->run(chain.inputs);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->list()[0].tensor().itemAsDouble() - chain.interpret()->list()[0].tensor().itemAsDouble(), 1,
              1e-6);
}

}  // namespace
}  // namespace kerf
