// Branches and loop bodies on their way through a compilation: passes work on them, and results stay.
#include <gmock/gmock.h>

#include <algorithm>

#include "engine/ir/parser.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;

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
  GraphModule module;
  ValueList inputs{Tensor::scalarInt(0, DType::Int64), *Tensor::zeros(DType::Float32, {2})};
  Loop() {
    auto parsed = parseReadable(loopText);
    EXPECT_TRUE(parsed) << parsed.error().text();
    module = std::move(*parsed);
    EXPECT_TRUE(propagateShapes(module));
  }
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
    EXPECT_THAT(changes(**graph), testing::ElementsAre("body_fn 8 -> 7"));
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

GraphModule parsed(const char* text) {
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << module.error().text();
  if (!module) return {};
  const auto shapes = propagateShapes(*module);
  EXPECT_TRUE(shapes) << shapes.error().text();
  return std::move(*module);
}

Tensor counted(const Sizes& sizes, double first = -1.5) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(first + 0.37 * double(i));
  return tensor;
}

ValueList partsOf(const Value& value) { return value.isList() ? value.list() : ValueList{value}; }

/// Whether a kernel of this name was generated.
bool hasGenerated(const CompiledGraph& graph, std::string_view name) {
  return std::ranges::any_of(graph.kernels(), [&](const KernelInfo& kernel) {
    return kernel.name == name && kernel.kind == "fused" && !kernel.text("llvm").empty();
  });
}

void expectLikeInterpreter(const GraphModule& module, CompiledGraph& graph, const ValueList& inputs) {
  const auto reference = Interpreter(module, referenceOps()).run(inputs);
  ASSERT_TRUE(reference) << reference.error().text();
  const auto result = graph.run(inputs);
  ASSERT_TRUE(result) << result.error().text();
  const ValueList expected = partsOf(*reference), given = partsOf(*result);
  ASSERT_EQ(expected.size(), given.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (expected[i].isTensor()) expectClose(expected[i].tensor(), given[i].tensor(), 1e-5, fmt::format("output {}", i));
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
  EXPECT_THAT(body->nodes, testing::ElementsAre("body_fn/add"));
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

TEST(NestedGraphs, TakeCountersThatAreNumbers) {
  const GraphModule module = parsed(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        while_loop_cond_graph_0 = self.while_loop_cond_graph_0
        while_loop_body_graph_0 = self.while_loop_body_graph_0
        while_loop = torch.ops.higher_order.while_loop(while_loop_cond_graph_0, while_loop_body_graph_0, (0, x), ())
        getitem_1: "f32[4]" = while_loop[1]
        return (getitem_1,)

    class while_loop_cond_graph_0(torch.nn.Module):
        def forward(self, arg0_1, arg1_1: "f32[4]"):
            lt = arg0_1 < 20
            return lt

    class while_loop_body_graph_0(torch.nn.Module):
        def forward(self, arg0_1, arg1_1: "f32[4]"):
            add = arg0_1 + 1
            mul: "f32[4]" = torch.ops.aten.mul.Tensor(arg1_1, 0.5)
            add_1: "f32[4]" = torch.ops.aten.add.Tensor(mul, arg0_1)
            return (add, add_1)
)");
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  expectLikeInterpreter(module, **graph, {counted({4})});
}

TEST(NestedGraphs, OfScanAndMapSeeRows) {
  const GraphModule module = parsed(R"(
class <lambda>(torch.nn.Module):
    def forward(self, init: "f32[3]", xs: "f32[5, 3]", w: "f32[3]"):
        scan_combine_graph_0 = self.scan_combine_graph_0
        scan = torch.ops.higher_order.scan(scan_combine_graph_0, [init], [xs], (w,))
        getitem: "f32[3]" = scan[0]
        getitem_1: "f32[5, 3]" = scan[1]
        body_graph_0 = self.body_graph_0
        map_impl = torch.ops.higher_order.map_impl(body_graph_0, [xs], [w])
        getitem_2: "f32[5, 3]" = map_impl[0]
        return (getitem, getitem_1, getitem_2)

    class scan_combine_graph_0(torch.nn.Module):
        def forward(self, c: "f32[3]", x: "f32[3]", w: "f32[3]"):
            mul: "f32[3]" = torch.ops.aten.mul.Tensor(c, w)
            add: "f32[3]" = torch.ops.aten.add.Tensor(mul, x)
            tanh: "f32[3]" = torch.ops.aten.tanh.default(add)
            return [add, tanh]

    class body_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]", w: "f32[3]"):
            sum_1: "f32[]" = torch.ops.aten.sum.default(x)
            sub: "f32[3]" = torch.ops.aten.sub.Tensor(x, sum_1)
            mul: "f32[3]" = torch.ops.aten.mul.Tensor(sub, w)
            return (mul,)
)");
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_TRUE(hasGenerated(**graph, "scan_combine_graph_0/cpp_fused_add_mul_tanh_0"));
  EXPECT_TRUE(hasGenerated(**graph, "body_graph_0/cpp_fused_mul_sub_sum_0"));
  expectLikeInterpreter(module, **graph, {counted({3}), counted({5, 3}), counted({3}, 0.2)});
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

TEST(NestedGraphs, MayNestAndWrap) {
  const GraphModule module = parsed(R"(
class <lambda>(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[6]"):
        outer_0 = self.outer_0
        invoke_subgraph = torch.ops.higher_order.invoke_subgraph(outer_0, 'outer_0', p, x)
        getitem: "f32[6]" = invoke_subgraph[0]
        return (getitem,)

    class outer_0(torch.nn.Module):
        def forward(self, p: "b8[]", x: "f32[6]"):
            yes_0 = self.yes_0
            no_0 = self.no_0
            exp: "f32[6]" = torch.ops.aten.exp.default(x)
            cond = torch.ops.higher_order.cond(p, yes_0, no_0, (exp,))
            getitem: "f32[6]" = cond[0]
            neg: "f32[6]" = torch.ops.aten.neg.default(getitem)
            return (neg,)

        class yes_0(torch.nn.Module):
            def forward(self, x: "f32[6]"):
                sqrt: "f32[6]" = torch.ops.aten.sqrt.default(x)
                return (sqrt,)

        class no_0(torch.nn.Module):
            def forward(self, x: "f32[6]"):
                log: "f32[6]" = torch.ops.aten.log.default(x)
                return (log,)
)");
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_TRUE(hasGenerated(**graph, "outer_0/yes_0/cpp_fused_sqrt_0"));
  EXPECT_TRUE(hasGenerated(**graph, "outer_0/no_0/cpp_fused_log_0"));
  expectLikeInterpreter(module, **graph, {*Tensor::zeros(DType::Bool, {}), counted({6})});
  CompileOptions options;
  options.faults.faults = {*parseFault("log=runtime_error")};
  const auto failing = compileFx(module, options);
  ASSERT_TRUE(failing) << failing.error().text();
  const auto result = (*failing)->run({*Tensor::zeros(DType::Bool, {}), counted({6})});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().node, "outer_0/no_0/log");
}

/// Checkpointing, branches with a number among their operands, associative_scan, functionalised mutation.
TEST(NestedGraphs, OfEveryKindRunAsTheInterpreterRunsThem) {
  const GraphModule module = parsed(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4, 6]", y: "f32[4, 6]", p: "b8[]"):
        wrap_body_0 = self.wrap_body_0
        tag = torch.ops.higher_order.tag_activation_checkpoint(wrap_body_0, x, y, use_reentrant = False)
        g0: "f32[4, 6]" = tag[0]
        g1: "f32[4, 6]" = tag[1]
        b0 = self.b0
        b1 = self.b1
        cond = torch.ops.higher_order.cond(p, b0, b1, (x, y, 3))
        c0: "f32[6, 4]" = cond[0]
        c1: "f32[4, 6]" = cond[1]
        comb = self.comb
        assoc = torch.ops.higher_order.associative_scan(comb, [x], ())
        a0: "f32[4, 6]" = assoc[0]
        af = torch.ops.higher_order.auto_functionalized(torch.ops.aten.add_.Tensor, self = x, other = y)
        af1: "f32[4, 6]" = af[1]
        return (g0, g1, c0, c1, a0, af1)

    class wrap_body_0(torch.nn.Module):
        def forward(self, x: "f32[4, 6]", y: "f32[4, 6]"):
            sin: "f32[4, 6]" = torch.sin(x)
            mul: "f32[4, 6]" = sin * y
            return (mul, x)

    class b0(torch.nn.Module):
        def forward(self, x: "f32[4, 6]", y: "f32[4, 6]", k):
            t: "f32[6, 4]" = torch.ops.aten.t.default(x)
            m: "f32[4, 6]" = torch.ops.aten.mul.Tensor(y, k)
            return (t, m)

    class b1(torch.nn.Module):
        def forward(self, x: "f32[4, 6]", y: "f32[4, 6]", k):
            t: "f32[6, 4]" = torch.ops.aten.t.default(y)
            e: "f32[6, 4]" = torch.ops.aten.exp.default(t)
            s: "f32[4, 6]" = torch.ops.aten.sub.Tensor(x, y, alpha = k)
            return (e, s)

    class comb(torch.nn.Module):
        def forward(self, a: "f32[6]", b: "f32[6]"):
            add: "f32[6]" = torch.ops.aten.add.Tensor(a, b)
            return [add]
)");
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  for (const char* body : {"wrap_body_0/", "b0/", "b1/", "comb/"})
    EXPECT_TRUE(std::ranges::any_of((*graph)->kernels(), [&](const KernelInfo& kernel) {
      return kernel.name.starts_with(body);
    })) << body;
  for (const bool taken : {true, false}) {
    Tensor flag = *Tensor::zeros(DType::Bool, {});
    flag.data<bool>()[0] = taken;
    expectLikeInterpreter(module, **graph, {counted({4, 6}), counted({4, 6}, 0.1), flag});
  }
}

/// A counter that sizes depend on is a guard in every iteration; sooner or later the body takes any number.
TEST(NestedGraphs, TakeCountersThatSizesDependOn) {
  const GraphModule module = parsed(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        c = self.c
        b = self.b
        w = torch.ops.higher_order.while_loop(c, b, (0, x), ())
        w1: "f32[4]" = w[1]
        return (w1,)

    class c(torch.nn.Module):
        def forward(self, i, x: "f32[4]"):
            lt = i < 15
            return lt

    class b(torch.nn.Module):
        def forward(self, i, x: "f32[4]"):
            add = i + 1
            full: "f32[4]" = torch.ops.aten.full.default([4], i)
            s: "f32[4]" = torch.ops.aten.add.Tensor(x, full)
            eq = i % 3
            v: "f32[1]" = torch.ops.aten.slice.Tensor(x, 0, eq, 3)
            m: "f32[]" = torch.ops.aten.sum.default(v)
            a: "f32[4]" = torch.ops.aten.add.Tensor(s, m)
            return (add, a)
)");
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  expectLikeInterpreter(module, **graph, {counted({4}, 0.01)});
}

}  // namespace
}  // namespace kerf
