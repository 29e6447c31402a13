// Nested graphs of every kind of higher-order op: loops over numbers, rows and sizes, graphs in graphs.
#include <gmock/gmock.h>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectLikeInterpreter;
using testing_support::hasGenerated;
using testing_support::parsed;

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
