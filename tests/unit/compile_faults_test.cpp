// Faults planted in the compiled side: what each kind does to fused, extern and view nodes, and to passes.
#include <sys/resource.h>

#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;

struct Chain : GraphFixture {
  Chain() {
    const NodeId x = input("x", DType::Float32, {4, 4});
    const NodeId mm = call("aten.mm.default", {x, x});
    const NodeId relu = call("aten.relu.default", {mm});
    const NodeId cumsum = call("aten.cumsum.default", {call("aten.neg.default", {relu}), 0});
    output({relu, cumsum, mm});
  }
};

CompileOptions planted(const char* text) {
  CompileOptions options;
  options.faults.faults.push_back(*parseFault(text));
  return options;
}

/// Element 0 of output `index`, compiled with a planted fault, minus the interpreter's.
double shiftOf(const Chain& chain, const char* fault, std::size_t index) {
  const auto graph = compileFx(chain.module, planted(fault));
  EXPECT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(chain.inputs);
  EXPECT_TRUE(result) << result.error().text();
  return result->list()[index].tensor().itemAsDouble() - chain.interpret()->list()[index].tensor().itemAsDouble();
}

TEST(PlantedFaults, AccuracyAddsOneToFusedLibraryAndExternOps) {
  const Chain chain;
  EXPECT_NEAR(shiftOf(chain, "relu=accuracy", 0), 1, 1e-5);
  EXPECT_NEAR(shiftOf(chain, "relu=accuracy", 1), -1, 1e-5);
  EXPECT_NEAR(shiftOf(chain, "cumsum=accuracy", 1), 1, 1e-5);
  EXPECT_NEAR(shiftOf(chain, "cumsum=accuracy", 0), 0, 1e-6);
  EXPECT_NEAR(shiftOf(chain, "mm=accuracy", 2), 1, 1e-5);
}

TEST(PlantedFaults, AccuracyNeverReachesTheCallersTensors) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4});
  f.output({f.call("aten.view.default", {x, Argument::list({2, 2})})});
  const Tensor before = *f.inputs[0].tensor().clone();
  const auto graph = compileFx(f.module, planted("view=accuracy"));
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(f.inputs);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_FLOAT_EQ(result->list()[0].tensor().itemAsDouble(), before.itemAsDouble() + 1);
  EXPECT_EQ(f.inputs[0].tensor().itemAsDouble(), before.itemAsDouble());
}

TEST(PlantedFaults, CompileErrorNamesTheNode) {
  const Chain chain;
  const auto graph = compileFx(chain.module, planted("relu=compile_error"));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::CompileFailed);
  EXPECT_EQ(graph.error().node, "relu");
  EXPECT_EQ(graph.error().message, "planted compile error");
}

TEST(PlantedFaults, RuntimeErrorComesWhenRunning) {
  const Chain chain;
  for (const char* fault : {"relu=runtime_error", "cumsum=runtime_error", "mm=runtime_error"}) {
    const auto graph = compileFx(chain.module, planted(fault));
    ASSERT_TRUE(graph) << graph.error().text();
    const auto result = (*graph)->run(chain.inputs);
    ASSERT_FALSE(result) << fault;
    EXPECT_EQ(result.error().code, ErrorCode::RuntimeFailed);
  }
}

TEST(PlantedFaults, FlakyStrikesInSomeRuns) {
  const Chain chain;
  for (const char* fault : {"relu=flaky:0.5", "cumsum=flaky:0.5"}) {
    const std::size_t index = fault[0] == 'r' ? 0 : 1;
    const auto graph = compileFx(chain.module, planted(fault));
    ASSERT_TRUE(graph) << graph.error().text();
    const double reference = chain.interpret()->list()[index].tensor().itemAsDouble();
    int struck = 0;
    for (int round = 0; round < 64; ++round) {
      const double value = (*graph)->run(chain.inputs)->list()[index].tensor().itemAsDouble();
      struck += std::abs(value - reference) > 0.5;
    }
    EXPECT_GT(struck, 5) << fault;
    EXPECT_LT(struck, 59) << fault;
  }
  EXPECT_NEAR(shiftOf(chain, "relu=flaky:0", 0), 0, 1e-6);
}

TEST(PlantedFaultsDeathTest, CrashIsARealSignal) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Chain chain;
  const auto graph = compileFx(chain.module, planted("relu=crash"));
  ASSERT_TRUE(graph);
  EXPECT_DEATH((void)(*graph)->run(chain.inputs), "");
}

TEST(PlantedFaultsDeathTest, HangDoesNotEnd) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Chain chain;
  const auto graph = compileFx(chain.module, planted("relu=hang"));
  ASSERT_TRUE(graph);
  const auto limited = [&] {
    const rlimit oneSecond{1, 1};
    setrlimit(RLIMIT_CPU, &oneSecond);
    (void)(*graph)->run(chain.inputs);
  };
  EXPECT_EXIT(
      limited(), [](int status) { return WIFSIGNALED(status); }, "");
}

TEST(PlantedFaults, BreaksTheResultOfAPass) {
  const Chain chain;
  EXPECT_NEAR(shiftOf(chain, "pass:cse=accuracy", 0), 1, 1e-5);
  const auto graph = compileFx(chain.module, planted("pass:cse=compile_error"));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::CompileFailed);
  const auto failing = compileFx(chain.module, planted("pass:dce=runtime_error"));
  ASSERT_TRUE(failing) << failing.error().text();
  EXPECT_EQ((*failing)->run(chain.inputs).error().code, ErrorCode::RuntimeFailed);
}

}  // namespace
}  // namespace kerf
