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
    EXPECT_EQ(result.error().node, std::string(fault).substr(0, std::string(fault).find('=')));
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
  EXPECT_NEAR(shiftOf(chain, "relu=flaky:1", 0), 1, 1e-5);
}

TEST(PlantedFaultsDeathTest, CrashIsARealSignal) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Chain chain;
  const auto graph = compileFx(chain.module, planted("relu=crash"));
  ASSERT_TRUE(graph);
  EXPECT_DEATH((void)(*graph)->run(chain.inputs), "");
}

TEST(PlantedFaultsDeathTest, HangDoesNotEnd) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Chain chain;
  const auto graph = compileFx(chain.module, planted("relu=hang"));
  ASSERT_TRUE(graph);
  const auto limited = [&] {
    const rlimit oneSecond{1, 1};
    setrlimit(RLIMIT_CPU, &oneSecond);
    (void)(*graph)->run(chain.inputs);
  };
  EXPECT_EXIT(limited(), [](int status) { return WIFSIGNALED(status); }, "");
}

/// Halves, 0-dimensional and strided results.
TEST(PlantedFaults, AccuracyKeepsTypeAndLayout) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float16, {3, 4});
  const NodeId relu = f.call("aten.relu.default", {f.call("aten.t.default", {x})});
  f.output({relu, f.call("aten.sum.default", {relu})});
  for (const char* fault : {"relu=accuracy", "relu=flaky:1", "sum=flaky:1"}) {
    const auto graph = compileFx(f.module, planted(fault));
    ASSERT_TRUE(graph) << graph.error().text();
    const auto result = (*graph)->run(f.inputs);
    ASSERT_TRUE(result) << result.error().text();
    const Tensor relued = f.interpret()->list()[0].tensor(), summed = f.interpret()->list()[1].tensor();
    const bool ofRelu = fault[0] == 'r';
    EXPECT_EQ(result->list()[0].tensor().strides(), relued.strides()) << fault;
    EXPECT_EQ(result->list()[0].tensor().dtype(), DType::Float16) << fault;
    EXPECT_EQ(result->list()[1].tensor().dtype(), DType::Float16) << fault;
    EXPECT_NEAR(result->list()[0].tensor().itemAsDouble() - relued.itemAsDouble(), ofRelu ? 1 : 0, 2e-3) << fault;
    EXPECT_NEAR(result->list()[1].tensor().itemAsDouble() - summed.itemAsDouble(), ofRelu ? 12 : 1, 3e-2) << fault;
  }
}

TEST(PlantedFaults, AccuracyHitsEveryFloatingResultOfACall) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 6});
  const NodeId both = f.call("aten.var_mean.correction", {x, Argument::list({1})}, {{"correction", 0}});
  const NodeId top = f.call("aten.topk.default", {x, 2});
  f.output({f.item(both, 0), f.item(both, 1), f.item(top, 0), f.item(top, 1)});
  const ValueList right = f.interpret()->list();
  const auto shift = [&](const char* fault, std::size_t output) {
    const auto graph = compileFx(f.module, planted(fault));
    EXPECT_TRUE(graph) << graph.error().text();
    const auto result = (*graph)->run(f.inputs);
    EXPECT_TRUE(result) << result.error().text();
    return result->list()[output].tensor().itemAsDouble() - right[output].tensor().itemAsDouble();
  };
  for (const std::size_t output : {0, 1}) EXPECT_NEAR(shift("var_mean=accuracy", output), 1, 1e-5) << output;
  EXPECT_NEAR(shift("var_mean=accuracy", 2), 0, 1e-5);
  EXPECT_NEAR(shift("topk=accuracy", 2), 1, 1e-5);
  EXPECT_EQ(shift("topk=accuracy", 3), 0) << "indices are no floats";
}

/// cond(flag, relu(x), neg(x)): what runs in a nested graph.
struct Branches : GraphFixture {
  explicit Branches(bool flag) {
    for (const char* name : {"true_graph_0", "false_graph_0"}) {
      GraphModule branch;
      const NodeId x = branch.graph.placeholder("x");
      const bool first = std::string_view(name).starts_with("true");
      branch.graph.output(Argument::tuple({branch.graph.callFunction(
          first ? "torch.ops.aten.relu.default" : "torch.ops.aten.neg.default", {x}, {}, first ? "relu" : "neg")}));
      module.submodules.add(name, {std::make_shared<const GraphModule>(std::move(branch)), {}});
    }
    Tensor condition = Tensor::scalarInt(flag ? 1 : 0, DType::Bool);
    const NodeId c = input("c", std::move(condition)), x = input("x", DType::Float32, {4});
    const NodeId yes = module.graph.getAttr("true_graph_0"), no = module.graph.getAttr("false_graph_0");
    const NodeId cond = module.graph.callFunction("torch.ops.higher_order.cond",
                                                  {c, yes, no, Argument::tuple({Argument(x)})}, {}, "cond");
    output({item(cond, 0)});
  }
  Result<Value> run(const char* fault) const {
    KERF_TRY(const auto graph, compileFx(module, planted(fault)));
    return graph->run(inputs);
  }
  double shift(const char* fault) const {
    const auto result = run(fault);
    EXPECT_TRUE(result) << result.error().text();
    return result->list()[0].tensor().itemAsDouble() - interpret()->list()[0].tensor().itemAsDouble();
  }
};

TEST(PlantedFaults, ReachIntoNestedGraphs) {
  const Branches yes(true), no(false);
  EXPECT_NEAR(yes.shift("relu=accuracy"), 1, 1e-5);
  EXPECT_NEAR(no.shift("relu=accuracy"), 0, 1e-5);
  EXPECT_NEAR(yes.shift("relu=flaky:1"), 1, 1e-5);
  EXPECT_NEAR(yes.shift("cond=accuracy"), 1, 1e-5);
  const auto failed = yes.run("relu=runtime_error");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "planted runtime error");
  EXPECT_EQ(failed.error().node, "true_graph_0/relu");
  EXPECT_TRUE(no.run("relu=runtime_error"));
  const auto refused = no.run("relu=compile_error");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::CompileFailed);
  EXPECT_EQ(refused.error().node, "true_graph_0/relu");
}

TEST(PlantedFaults, ShowTheRealNodesInKernels) {
  const Chain chain;
  for (const char* fault : {"relu=accuracy", "mm=accuracy", "cumsum=flaky:0.5", "relu=runtime_error", "mm=crash"}) {
    const auto graph = compileFx(chain.module, planted(fault));
    ASSERT_TRUE(graph) << graph.error().text();
    for (const KernelInfo& kernel : (*graph)->kernels()) {
      EXPECT_EQ(kernel.name.find("planted"), std::string::npos) << fault << ": " << kernel.name;
      EXPECT_FALSE(kernel.nodes.empty()) << fault << ": " << kernel.name;
      for (const auto& node : kernel.nodes) EXPECT_TRUE(chain.module.graph.find(node)) << fault << ": " << node;
      for (const auto& node : kernel.capturedNodes) EXPECT_TRUE(chain.module.graph.find(node)) << fault << ": " << node;
    }
  }
}

TEST(PlantedFaults, AccuracyOfAFusedNodeStaysInItsKernel) {
  const Chain chain;
  const auto clean = compileFx(chain.module), broken = compileFx(chain.module, planted("relu=accuracy"));
  ASSERT_TRUE(clean && broken);
  std::vector<std::string> names[2];
  for (const KernelInfo& kernel : (*clean)->kernels()) names[0].push_back(kernel.name);
  for (const KernelInfo& kernel : (*broken)->kernels()) names[1].push_back(kernel.name);
  EXPECT_EQ(names[0], names[1]);
}

TEST(PlantedFaults, ThatHitNothingAreBadUsage) {
  const Chain chain;
  EXPECT_TRUE(checkOptions(chain.module, planted("relu=accuracy")));
  EXPECT_TRUE(checkOptions(chain.module, planted("pass:cse=crash")));
  EXPECT_TRUE(checkOptions(Branches(true).module, planted("relu=accuracy")));
  for (const char* fault : {"gelu=accuracy", "pass:fuse=accuracy"}) {
    const auto checked = checkOptions(chain.module, planted(fault));
    ASSERT_FALSE(checked) << fault;
    EXPECT_EQ(checked.error().code, ErrorCode::BadUsage);
    EXPECT_NE(checked.error().message.find(fault), std::string::npos) << checked.error().message;
  }
  CompileOptions disabled = planted("pass:cse=accuracy");
  disabled.passes.disabled = {"cse"};
  EXPECT_FALSE(checkOptions(chain.module, disabled));
}

/// What a file from outside may call.
TEST(PlantedFaults, CrashOnlyWhereThisProcessPlantedThem) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4});
  f.call("kerf.planted_crash.default", {std::string("x"), 1});
  f.call("kerf.planted_hang.default", {std::string("x"), 1});
  f.output({x});
  const auto result = f.interpret();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::UnsupportedOp);
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
