// Branches and loop bodies on their way through a compilation: passes work on them, and results stay.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectClose;
using testing_support::expectLikeInterpreter;
using testing_support::hasGenerated;
using testing_support::parsed;

/// A loop whose body computes one sum twice.
constexpr const char* loopText = R"(
class <lambda>(torch.nn.Module):
    def forward(self, i: "i64[]", x: "f32[2]"):
        cond_fn = self.cond_fn
        body_fn = self.body_fn
        while_loop = torch.ops.higher_order.while_loop(cond_fn, body_fn, (i, x), ())
        getitem: "i64[]" = while_loop[0]
        getitem_1: "f32[2]" = while_loop[1]
        return (getitem, getitem_1)

    class cond_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]"):
            lt: "b8[]" = torch.ops.aten.lt.Scalar(i, 5)
            return lt

    class body_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]"):
            add: "i64[]" = torch.ops.aten.add.Tensor(i, 1)
            exp: "f32[2]" = torch.ops.aten.exp.default(x)
            exp_1: "f32[2]" = torch.ops.aten.exp.default(x)
            sub: "f32[2]" = torch.ops.aten.sub.Tensor(exp, exp_1)
            cos: "f32[2]" = torch.ops.aten.cos.default(sub)
            return (add, cos)
)";

struct Loop {
  GraphModule module = parsed(loopText);
  ValueList inputs{Tensor::scalarInt(0, DType::Int64), *Tensor::zeros(DType::Float32, {2})};
};

std::vector<std::string> changes(const CompiledGraph& graph) {
  std::vector<std::string> changes;
  for (const PassRecord& record : graph.passRecords())
    if (record.changed)
      changes.push_back(fmt::format("{} {} -> {}", record.path, record.nodesBefore, record.nodesAfter));
  return changes;
}

TEST(NestedGraphs, OfALoopAreWorkedOnByEveryPass) {
  const Loop loop;
  const auto reference = Interpreter(loop.module, referenceOps()).run(loop.inputs);
  ASSERT_TRUE(reference) << reference.error().text();
  for (const char* backend : {"llvm", "interp"}) {
    const auto graph = compileFx(loop.module, {.backend = backend});
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_THAT(changes(**graph), ::testing::ElementsAre("body_fn 8 -> 7"));
    const auto result = (*graph)->run(loop.inputs);
    ASSERT_TRUE(result) << result.error().text();
    for (const std::size_t i : {0, 1})
      expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), 1e-6, backend);
  }
  EXPECT_EQ(loop.module.submodule("body_fn")->graph->graph.size(), 8u) << "the captured module must not change";
}

TEST(NestedGraphs, OfALoopCanHoldFaults) {
  const Loop loop;
  CompileOptions options;
  options.faults.faults.push_back(*parseFault("cos=accuracy"));
  const auto graph = compileFx(loop.module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(loop.inputs);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->list()[1].tensor().itemAsDouble(), 2) << "cos(0) + 1";
}

TEST(NestedGraphs, AreCompiledAndNamedByTheirPath) {
  const Loop loop;
  const auto graph = compileFx(loop.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_TRUE(hasGenerated(**graph, "cond_fn/cpp_fused_lt_0"));
  EXPECT_TRUE(hasGenerated(**graph, "body_fn/cpp_fused_add_0"));
  EXPECT_TRUE(hasGenerated(**graph, "body_fn/cpp_fused_cos_exp_sub_1"));
  const auto loopKernel = std::ranges::find((*graph)->kernels(), std::vector<std::string>{"while_loop"},
                                            [](const KernelInfo& kernel) { return kernel.nodes; });
  ASSERT_NE(loopKernel, (*graph)->kernels().end());
  EXPECT_EQ(loopKernel->reason, "calls compiled graphs");
  const auto body = std::ranges::find((*graph)->kernels(), "body_fn/cpp_fused_add_0", &KernelInfo::name);
  EXPECT_THAT(body->nodes, ::testing::ElementsAre("body_fn/add"));
}

constexpr const char* condText = R"(
class <lambda>(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[3, 4]"):
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, (x,))
        getitem: "f32[3, 4]" = cond[0]
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3, 4]"):
            sin: "f32[3, 4]" = torch.ops.aten.sin.default(x)
            mul: "f32[3, 4]" = torch.ops.aten.mul.Tensor(sin, 2.0)
            return (mul,)

    class false_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3, 4]"):
            relu: "f32[3, 4]" = torch.ops.aten.relu.default(x)
            return (relu,)
)";

TEST(NestedGraphs, OfBothBranchesAreCompiled) {
  const GraphModule module = parsed(condText);
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_TRUE(hasGenerated(**graph, "true_graph_0/cpp_fused_mul_sin_0"));
  EXPECT_TRUE(hasGenerated(**graph, "false_graph_0/cpp_fused_relu_0"));
  for (const bool taken : {true, false}) {
    Tensor flag = *Tensor::zeros(DType::Bool, {});
    flag.data<bool>()[0] = taken;
    expectLikeInterpreter(module, **graph, {flag, counted({3, 4})});
  }
}

TEST(NestedGraphs, OfABranchHoldFaultsThatNothingElseHas) {
  const GraphModule module = parsed(condText);
  CompileOptions options;
  options.faults.faults.push_back(*parseFault("relu=accuracy"));
  EXPECT_TRUE(checkOptions(module, options));
  const auto graph = compileFx(module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run({*Tensor::zeros(DType::Bool, {}), *Tensor::zeros(DType::Float32, {3, 4})});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->list()[0].tensor().itemAsDouble(5), 1) << "relu(0) + 1";
  options.faults.faults = {*parseFault("tanh=accuracy")};
  const auto unhit = checkOptions(module, options);
  ASSERT_FALSE(unhit);
  EXPECT_EQ(unhit.error().code, ErrorCode::BadUsage);
}

TEST(NestedGraphs, ErrorsNameTheNodeWithItsPath) {
  const GraphModule module = parsed(condText);
  CompileOptions options;
  options.faults.faults = {*parseFault("relu=runtime_error")};
  const auto failing = compileFx(module, options);
  ASSERT_TRUE(failing) << failing.error().text();
  const auto result = (*failing)->run({*Tensor::zeros(DType::Bool, {}), counted({3, 4})});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().node, "false_graph_0/relu");
  options.faults.faults = {*parseFault("sin=compile_error")};
  const auto refused = compileFx(module, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::CompileFailed);
  EXPECT_EQ(refused.error().node, "true_graph_0/sin");
  std::string text = condText;
  text.replace(text.find("torch.ops.aten.relu.default"), 27, "torch.ops.mylib.strange.default");
  const GraphModule strange = parsed(text.c_str());
  const auto unknown = compileFx(strange, {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(unknown.error().node, "false_graph_0/relu");
}

TEST(NestedGraphs, OfDynamicSizesServeEverySize) {
  std::string text = condText;
  for (std::size_t at = text.find("f32[3, 4]"); at != std::string::npos; at = text.find("f32[3, 4]", at))
    text.replace(at, 9, "f32[s0, 4]");
  auto module = parseReadable(text);
  ASSERT_TRUE(module) << module.error().text();
  for (const NodeId id : module->graph.placeholders()) {
    ValueMeta meta = module->graph.node(id).meta().value;
    if (auto* tensor = std::get_if<TensorMeta>(&meta.value))
      for (Dim& size : tensor->sizes)
        if (size.text == "s0") size.hint = 6;
    module->graph.setValueMeta(id, std::move(meta));
  }
  ASSERT_TRUE(propagateShapes(*module));
  const auto graph = compileFx(*module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  for (const std::int64_t rows : {6, 9, 2})
    expectLikeInterpreter(*module, **graph, {*Tensor::zeros(DType::Bool, {}), counted({rows, 4})});
  EXPECT_EQ((*graph)->compilations(), 1);
}

}  // namespace
}  // namespace kerf
