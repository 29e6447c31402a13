// Higher-order ops in the interpreter, against the same computation written straight.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

Tensor filled(const Sizes& sizes, double start, double step) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(start + step * double(i));
  return tensor;
}

GraphModule parsed(std::string_view text) {
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().text());
  return module ? *module : GraphModule();
}

ValueList run(std::string_view text, const ValueList& inputs) {
  const GraphModule module = parsed(text);
  auto result = Interpreter(module, referenceOps()).run(inputs);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result && result->isList() ? result->list() : ValueList();
}

Error failure(std::string_view text, const ValueList& inputs, InterpreterLimits limits = {}) {
  const GraphModule module = parsed(text);
  Interpreter interpreter(module, referenceOps());
  interpreter.limits = limits;
  auto result = interpreter.run(inputs);
  EXPECT_FALSE(result);
  return result ? Error() : result.error();
}

void expectSame(const Value& actual, const Tensor& expected, double tolerance = 0) {
  ASSERT_TRUE(actual.isTensor());
  ASSERT_EQ(actual.tensor().sizes(), expected.sizes());
  ASSERT_EQ(actual.tensor().dtype(), expected.dtype());
  for (std::int64_t i = 0; i < expected.numel(); ++i)
    ASSERT_NEAR(actual.tensor().itemAsDouble(i), expected.itemAsDouble(i), tolerance) << "element " << i;
}

constexpr const char* condGraph = R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[3]"):
        sum_1: "f32[]" = torch.ops.aten.sum.default(x)
        gt: "b8[]" = torch.ops.aten.gt.Scalar(sum_1, 0)
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(gt, true_graph_0, false_graph_0, (x,))
        getitem: "f32[3]" = cond[0]
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            add: "f32[3]" = torch.ops.aten.add.Tensor(x, 1)
            return (add,)

    class false_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            mul: "f32[3]" = torch.ops.aten.mul.Tensor(x, 2)
            return (mul,)
)";

TEST(HigherOrder, CondTakesTheBranchOfItsCondition) {
  expectSame(run(condGraph, {filled({3}, 1, 1)}).at(0), filled({3}, 2, 1));
  expectSame(run(condGraph, {filled({3}, -3, 1)}).at(0), filled({3}, -6, 2));
}

TEST(HigherOrder, ShapesPassThroughNestedGraphs) {
  GraphModule module = parsed(condGraph);
  for (const NodeId id : std::vector<NodeId>(module.graph.order().begin(), module.graph.order().end()))
    if (module.graph.node(id).op() != Opcode::Placeholder) module.graph.setValueMeta(id, {});
  const auto done = propagateShapes(module);
  ASSERT_TRUE(done) << done.error().text();
  const TensorMeta* meta = module.graph.node(*module.graph.find("getitem")).meta().value.tensor();
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->concreteSizes(), Sizes{3});
}

constexpr const char* whileGraph = R"(
class <lambda>(torch.nn.Module):
    def forward(self, i: "i64[]", x: "f32[2]", step: "f32[2]"):
        cond_fn = self.cond_fn
        body_fn = self.body_fn
        while_loop = torch.ops.higher_order.while_loop(cond_fn, body_fn, (i, x), (step,))
        getitem: "i64[]" = while_loop[0]
        getitem_1: "f32[2]" = while_loop[1]
        return (getitem, getitem_1)

    class cond_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]", step: "f32[2]"):
            lt: "b8[]" = torch.ops.aten.lt.Scalar(i, LIMIT)
            return lt

    class body_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]", step: "f32[2]"):
            add: "i64[]" = torch.ops.aten.add.Tensor(i, 1)
            add_1: "f32[2]" = torch.ops.aten.add.Tensor(x, step)
            return (add, add_1)
)";

std::string whileUntil(const std::string& limit) {
  std::string text = whileGraph;
  return text.replace(text.find("LIMIT"), 5, limit);
}

TEST(HigherOrder, WhileLoopRunsUntilItsConditionFails) {
  const ValueList out =
      run(whileUntil("5"), {Tensor::scalarInt(0, DType::Int64), filled({2}, 1, 1), filled({2}, 10, 10)});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].tensor().itemAsInt(), 5);
  expectSame(out[1], filled({2}, 51, 51));
}

TEST(HigherOrder, EndlessLoopsStop) {
  const ValueList inputs{Tensor::scalarInt(0, DType::Int64), filled({2}, 0, 0), filled({2}, 0, 0)};
  EXPECT_EQ(failure(whileUntil("9000000000000000000"), inputs, {.nodes = 10'000}).code, ErrorCode::TooLarge);
}

TEST(HigherOrder, ScanCarriesAndStacks) {
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, init: "f32[2]", xs: "f32[3, 2]", k: "f32[2]"):
        scan_combine_graph_0 = self.scan_combine_graph_0
        scan = torch.ops.higher_order.scan(scan_combine_graph_0, [init], [xs], [k])
        getitem: "f32[2]" = scan[0]
        getitem_1: "f32[3, 2]" = scan[1]
        return (getitem, getitem_1)

    class scan_combine_graph_0(torch.nn.Module):
        def forward(self, carry: "f32[2]", x: "f32[2]", k: "f32[2]"):
            add: "f32[2]" = torch.ops.aten.add.Tensor(carry, x)
            mul: "f32[2]" = torch.ops.aten.mul.Tensor(add, k)
            return [add, mul]
)",
                            {filled({2}, 100, 0), filled({3, 2}, 1, 1), filled({2}, 2, 0)});
  ASSERT_EQ(out.size(), 2u);
  expectSame(out[0], filled({2}, 109, 3));
  ASSERT_EQ(out[1].tensor().sizes(), (Sizes{3, 2}));
  const double expected[] = {202, 204, 208, 212, 218, 224};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out[1].tensor().itemAsDouble(i), expected[i]);
}

TEST(HigherOrder, AssociativeScanAccumulates) {
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, xs: "f32[4, 2]"):
        combine = self.combine
        associative_scan = torch.ops.higher_order.associative_scan(combine, [xs], ())
        getitem: "f32[4, 2]" = associative_scan[0]
        return (getitem,)

    class combine(torch.nn.Module):
        def forward(self, a: "f32[2]", b: "f32[2]"):
            mul: "f32[2]" = torch.ops.aten.mul.Tensor(a, b)
            return (mul,)
)",
                            {filled({4, 2}, 1, 1)});
  const double expected[] = {1, 2, 3, 8, 15, 48, 105, 384};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out.at(0).tensor().itemAsDouble(i), expected[i]);
}

TEST(HigherOrder, MapRunsRowByRow) {
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, xs: "f32[3, 2]", w: "f32[2]"):
        body_graph_0 = self.body_graph_0
        map_impl = torch.ops.higher_order.map_impl(body_graph_0, [xs], [w])
        getitem: "f32[3]" = map_impl[0]
        return (getitem,)

    class body_graph_0(torch.nn.Module):
        def forward(self, x: "f32[2]", w: "f32[2]"):
            mul: "f32[2]" = torch.ops.aten.mul.Tensor(x, w)
            sum_1: "f32[]" = torch.ops.aten.sum.default(mul)
            return (sum_1,)
)",
                            {filled({3, 2}, 1, 1), filled({2}, 1, 1)});
  expectSame(out.at(0), filled({3}, 5, 6));
}

TEST(HigherOrder, WrappersRunTheirGraph) {
  for (const std::string call :
       {"invoke_subgraph(g, 'g_0', x)", "wrap_with_set_grad_enabled(False, g, x)",
        "tag_activation_checkpoint(g, x, use_reentrant = False)", "wrap_with_autocast('cpu', None, True, None, g, x)",
        "run_const_graph(g, (x,))", "wrap(g, x)", "strict_mode(g, (x,))"}) {
    const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[3]"):
        g = self.g
        call = torch.ops.higher_order.)" +
                                  call + R"(
        getitem: "f32[3]" = call[0]
        return (getitem,)

    class g(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            neg: "f32[3]" = torch.ops.aten.neg.default(x)
            return (neg,)
)",
                              {filled({3}, 1, 1)});
    ASSERT_EQ(out.size(), 1u) << call;
    expectSame(out[0], filled({3}, -1, -1));
  }
}

TEST(HigherOrder, EffectsKeepTheirToken) {
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, token: "f32[0]", x: "f32[3]"):
        with_effects = torch.ops.higher_order.with_effects(token, torch.ops.aten.add.Tensor, x, 1)
        getitem: "f32[0]" = with_effects[0]
        getitem_1: "f32[3]" = with_effects[1]
        return (getitem, getitem_1)
)",
                            {filled({0}, 0, 0), filled({3}, 1, 1)});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].tensor().sizes(), Sizes{0});
  expectSame(out[1], filled({3}, 2, 1));
}

TEST(HigherOrder, FunctionalizedMutationLeavesItsInputsAlone) {
  Tensor x = filled({4}, 0, 0);
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4]", y: "f32[4]"):
        auto_functionalized = torch.ops.higher_order.auto_functionalized(torch.ops.aten.add_.Tensor, self = x, other = y)
        getitem: "f32[4]" = auto_functionalized[1]
        return (getitem, x)
)",
                            {x, filled({4}, 1, 1)});
  ASSERT_EQ(out.size(), 2u);
  expectSame(out[0], filled({4}, 1, 1));
  expectSame(out[1], filled({4}, 0, 0));
}

TEST(HigherOrder, FunctionalizedMutationOfAViewChangesItsBase) {
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, base: "f32[6]", y: "f32[2]"):
        auto_functionalized_v2 = torch.ops.higher_order.auto_functionalized_v2(torch.ops.aten.copy_.default, src = y, _self_base_index = 0, _self_size = (2,), _self_stride = (1,), _self_storage_offset = 2, _all_bases = [base])
        getitem: "f32[6]" = auto_functionalized_v2[1]
        return (getitem,)
)",
                            {filled({6}, 0, 1), filled({2}, 50, 1)});
  const double expected[] = {0, 1, 50, 51, 4, 5};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out.at(0).tensor().itemAsDouble(i), expected[i]);
}

TEST(HigherOrder, OutDtypeComputesInTheWiderDtype) {
  Tensor a = *Tensor::zeros(DType::Int8, {1, 2});
  a.data<std::int8_t>()[0] = a.data<std::int8_t>()[1] = 100;
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, a: "i8[1, 2]", b: "i8[2, 1]"):
        out_dtype: "i32[1, 1]" = torch.ops.higher_order.out_dtype(torch.ops.aten.mm.default, torch.int32, a, b)
        return (out_dtype,)
)",
                            {a, a.viewAs({2, 1}, {1, 1}, 0)});
  EXPECT_EQ(out.at(0).tensor().dtype(), DType::Int32);
  EXPECT_EQ(out.at(0).tensor().itemAsInt(), 20'000);
}

constexpr const char* flexGraph = R"(
class <lambda>(torch.nn.Module):
    def forward(self, q: "f32[1, 2, 3, 4]", k: "f32[1, 1, 3, 4]", v: "f32[1, 1, 3, 4]", bias: "f32[3]"):
        score = self.score
        mask = self.mask
        flex_attention = torch.ops.higher_order.flex_attention(q, k, v, score, (3, 3, None, None, None, None, None, None, None, None, 128, 128, mask), 0.5, {'BACKEND': 'AUTO'}, (bias,), ())
        getitem: "f32[1, 2, 3, 4]" = flex_attention[0]
        getitem_1: "f32[1, 2, 3]" = flex_attention[1]
        return (getitem, getitem_1)

    class score(torch.nn.Module):
        def forward(self, s: "f32[]", b: "i32[]", h: "i32[]", m: "i32[]", n: "i32[]", bias: "f32[3]"):
            sub: "i32[]" = torch.ops.aten.sub.Tensor(m, n)
            mul: "f32[]" = torch.ops.aten.mul.Tensor(sub, 0.25)
            index: "f32[]" = torch.ops.aten.index.Tensor(bias, [n])
            add: "f32[]" = torch.ops.aten.add.Tensor(s, mul)
            add_1: "f32[]" = torch.ops.aten.add.Tensor(add, index)
            return add_1

    class mask(torch.nn.Module):
        def forward(self, b: "i32[]", h: "i32[]", m: "i32[]", n: "i32[]"):
            ge: "b8[]" = torch.ops.aten.ge.Tensor(m, n)
            return ge
)";

TEST(HigherOrder, FlexAttentionIsAttentionWithItsGraphs) {
  const Tensor q = filled({1, 2, 3, 4}, -1, 0.1), k = filled({1, 1, 3, 4}, 0.5, -0.1), v = filled({1, 1, 3, 4}, 1, 0.3);
  const Tensor bias = filled({3}, 0.1, 0.2);
  const ValueList out = run(flexGraph, {q, k, v, bias});
  ASSERT_EQ(out.size(), 2u);
  for (int h = 0; h < 2; ++h)
    for (int m = 0; m < 3; ++m) {
      double weights[3], sum = 0;
      for (int n = 0; n <= m; ++n) {
        double dot = 0;
        for (int d = 0; d < 4; ++d) dot += q.itemAsDouble((h * 3 + m) * 4 + d) * k.itemAsDouble(n * 4 + d);
        sum += weights[n] = std::exp(0.5 * dot + 0.25 * (m - n) + bias.itemAsDouble(n));
      }
      EXPECT_NEAR(out[1].tensor().itemAsDouble(h * 3 + m), std::log2(sum), 1e-5);
      for (int d = 0; d < 4; ++d) {
        double expected = 0;
        for (int n = 0; n <= m; ++n) expected += weights[n] / sum * v.itemAsDouble(n * 4 + d);
        EXPECT_NEAR(out[0].tensor().itemAsDouble((h * 3 + m) * 4 + d), expected, 1e-5);
      }
    }
}

constexpr const char* flexBackwardGraph = R"(
class <lambda>(torch.nn.Module):
    def forward(self, q: "f32[1, 2, 3, 4]", k: "f32[1, 1, 3, 4]", v: "f32[1, 1, 3, 4]", bias: "f32[3]", out: "f32[1, 2, 3, 4]", lse: "f32[1, 2, 3]", grad: "f32[1, 2, 3, 4]"):
        score = self.score
        joint = self.joint
        mask = self.mask
        flex_attention_backward = torch.ops.higher_order.flex_attention_backward(q, k, v, out, lse, grad, None, score, joint, (3, 3, None, None, None, None, None, None, None, None, 128, 128, mask), 0.5, {'BACKEND': 'AUTO'}, (bias,), ())
        getitem: "f32[1, 2, 3, 4]" = flex_attention_backward[0]
        getitem_1: "f32[1, 1, 3, 4]" = flex_attention_backward[1]
        getitem_2: "f32[1, 1, 3, 4]" = flex_attention_backward[2]
        return (getitem, getitem_1, getitem_2)

    class joint(torch.nn.Module):
        def forward(self, s: "f32[]", b: "i32[]", h: "i32[]", m: "i32[]", n: "i32[]", g: "f32[]", bias: "f32[3]"):
            return [g, None, None, None, None, None]
)";

/// Σ out · grad of the forward graph.
double weighted(const ValueList& inputs, const Tensor& grad) {
  const ValueList out = run(flexGraph, inputs);
  double sum = 0;
  for (std::int64_t i = 0; i < grad.numel(); ++i) sum += out.at(0).tensor().itemAsDouble(i) * grad.itemAsDouble(i);
  return sum;
}

TEST(HigherOrder, FlexAttentionBackwardIsTheSlopeOfForward) {
  const ValueList inputs{filled({1, 2, 3, 4}, -1, 0.1), filled({1, 1, 3, 4}, 0.5, -0.1), filled({1, 1, 3, 4}, 1, 0.3),
                         filled({3}, 0.1, 0.2)};
  const Tensor grad = filled({1, 2, 3, 4}, 0.3, -0.07);
  const ValueList forward = run(flexGraph, inputs);
  std::string text = flexBackwardGraph;
  const std::string bodies = flexGraph;
  text += bodies.substr(bodies.find("\n    class score"));
  ValueList all = inputs;
  all.insert(all.end(), {forward.at(0), forward.at(1), Value(grad)});
  const ValueList slopes = run(text, all);
  ASSERT_EQ(slopes.size(), 3u);
  for (std::size_t which = 0; which < 3; ++which)
    for (const std::int64_t at : {0, 5, 11}) {
      const auto moved = [&](float by) {
        ValueList changed = inputs;
        Tensor copy = *inputs[which].tensor().clone();
        copy.data<float>()[at] += by;
        changed[which] = copy;
        return weighted(changed, grad);
      };
      const double slope = (moved(0.01f) - moved(-0.01f)) / 0.02;
      EXPECT_NEAR(slopes[which].tensor().itemAsDouble(at), slope, 2e-3) << which << " at " << at;
    }
}

TEST(HigherOrder, TritonKernelsSayWhyTheyCannotRun) {
  const Error error = failure(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[3]"):
        triton = torch.ops.higher_order.triton_kernel_wrapper_functional(kernel_idx = 0, x = x)
        return (triton,)
)",
                              {filled({3}, 0, 0)});
  EXPECT_EQ(error.code, ErrorCode::UnsupportedOp);
  EXPECT_NE(error.message.find("Triton"), std::string::npos);
  EXPECT_EQ(error.node, "triton");
}

TEST(HigherOrder, RefusesWrongArguments) {
  for (const char* call :
       {"cond(x, y, y, (x,))", "cond()", "while_loop(x, x)", "scan(x, [x], [x])", "invoke_subgraph(x)",
        "with_effects(x)", "out_dtype(x, x)", "auto_functionalized(x)", "auto_functionalized_v2()",
        "flex_attention(x, x, x)", "flex_attention_backward(x)", "map_impl(x, [x])"}) {
    const std::string text = std::string(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[3]", y: "f32[3]"):
        call = torch.ops.higher_order.)") +
                             call + "\n        return (call,)\n";
    const Error error = failure(text, {filled({3}, 0, 0), filled({3}, 0, 0)});
    EXPECT_EQ(error.node, "call") << call;
    EXPECT_TRUE(error.code == ErrorCode::ShapeMismatch || error.code == ErrorCode::NotFound) << call << error.text();
  }
}

TEST(PythonLevel, RunsWhatDynamoWrites) {
  const ValueList out = run(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3]", w: "f32[4, 3]", b: "f32[4]"):
        linear: "f32[2, 4]" = torch._C._nn.linear(x, w, b)
        relu: "f32[2, 4]" = torch.nn.functional.relu(linear, inplace = False)
        size = relu.size(1)
        view: "f32[8]" = relu.view(2, size)
        float_1: "f64[2, 4]" = view.double()
        getitem: "f64[2]" = float_1[(slice(None, None, None), 1)]
        getitem_1: "f64[2, 1, 2]" = float_1[(slice(None, None, None), None, slice(1, None, 2))]
        dropout: "f64[2]" = torch.nn.functional.dropout(getitem, 0.5, False, False)
        to = dropout.to(torch.float32)
        return (to, getitem_1)
)",
                            {filled({2, 3}, 0, 1), filled({4, 3}, 1, 0), filled({4}, 0, 1)});
  ASSERT_EQ(out.size(), 2u);
  expectSame(out[0], filled({2}, 4, 9));
  ASSERT_EQ(out[1].tensor().sizes(), (Sizes{2, 1, 2}));
  EXPECT_EQ(out[1].tensor().dtype(), DType::Float64);
  const double expected[] = {4, 6, 13, 15};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[1].tensor().itemAsDouble(i), expected[i]);
}

TEST(PythonLevel, WritesThroughIndices) {
  const ValueList out = run(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2, 3]", i: "i64[2]", v: "f32[2]"):
        x[(0, slice(None, None, None))] = 7;  setitem = x
        x[(i, 2)] = v;  setitem_1 = x
        x += 1
        return (x,)
)",
                            {filled({2, 3}, 0, 1), Tensor([] {
                               Tensor t = *Tensor::zeros(DType::Int64, {2});
                               t.data<std::int64_t>()[1] = 1;
                               return t;
                             }()),
                             filled({2}, 20, 1)});
  const double expected[] = {8, 8, 21, 4, 5, 22};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out.at(0).tensor().itemAsDouble(i), expected[i]);
}

TEST(PythonLevel, BuildsModulesFromTheirRepr) {
  GraphModule module = parsed(R"(
class Repro(torch.nn.Module):
    def forward(self, x: "f32[2, 3]"):
        fc = self.fc(x)
        act = self.act(fc)
        flat = self.flat(act)
        other = self.other(x)
        return (fc, flat, other)
)");
  const auto define = [&](const char* path, const char* repr) {
    module.submodules.eraseIf([&](const auto& entry) { return entry.first == path; });
    module.submodules.add(path, Submodule{nullptr, repr});
  };
  define("fc", "Linear(in_features=3, out_features=4, bias=True)");
  define("act", "ReLU()");
  define("flat", "Flatten(start_dim=0, end_dim=-1)");
  define("other", "Linear(in_features=3, out_features=4, bias=True)");
  const auto first = Interpreter(module, referenceOps()).run({filled({2, 3}, 0, 0)});
  ASSERT_TRUE(first) << first.error().text();
  const Tensor& fc = first->list()[0].tensor();
  ASSERT_EQ(fc.sizes(), (Sizes{2, 4}));
  bool differs = false;
  for (std::int64_t i = 0; i < 4; ++i) {  // of zeros only the bias is left
    EXPECT_LE(std::abs(fc.itemAsDouble(i)), 1 / std::sqrt(3.0));
    EXPECT_EQ(fc.itemAsDouble(i), fc.itemAsDouble(4 + i));
    EXPECT_EQ(first->list()[1].tensor().itemAsDouble(i), std::max(fc.itemAsDouble(i), 0.0));
    differs = differs || fc.itemAsDouble(i) != first->list()[2].tensor().itemAsDouble(i);
  }
  EXPECT_TRUE(differs) << "modules at other paths have weights of their own";
  const auto again = Interpreter(module, referenceOps()).run({filled({2, 3}, 0, 0)});
  ASSERT_TRUE(again);
  expectSame(again->list()[0], fc);
  define("act", "Sequential(\n  (0): Linear(in_features=3)\n)");
  EXPECT_EQ(Interpreter(module, referenceOps()).run({filled({2, 3}, 0, 0)}).error().code, ErrorCode::UnsupportedOp);
}

TEST(Mutation, CopyWritesTheInputAndViewsSeeIt) {
  Tensor x = filled({4}, 0, 1);
  const ValueList out = run(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        as_strided: "f32[2]" = torch.ops.aten.as_strided.default(x, [2], [2], 1)
        mul: "f32[4]" = torch.ops.aten.mul.Tensor(x, 10)
        copy_: "f32[4]" = torch.ops.aten.copy_.default(x, mul)
        view: "f32[2, 2]" = torch.ops.aten.view.default(x, [2, 2])
        return (as_strided, view, mul)
)",
                            {x});
  ASSERT_EQ(out.size(), 3u);
  expectSame(out[0], filled({2}, 10, 20));
  EXPECT_EQ(out[1].tensor().storage(), x.storage());
  EXPECT_NE(out[2].tensor().storage(), x.storage());
  EXPECT_EQ(x.itemAsDouble(3), 30);
}

}  // namespace
}  // namespace kerf
