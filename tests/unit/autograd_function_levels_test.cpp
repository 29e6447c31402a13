// Levels of torch.func in graphs of Dynamo, written out: vmap, grad, vjp and jvp, one inside the other.
#include <numeric>

#include <gmock/gmock.h>

#include "autograd_testing.h"
#include "engine/autograd/function_levels.h"
#include "engine/ir/parser.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr std::string_view predispatch = "torch._functorch.predispatch.";

/// `body` with "@" for the module of vmap's calls, "%" for that of grad's.
GraphModule levelled(const std::string& parameters, std::string_view body) {
  std::string text = "def forward(self, " + parameters + "):\n";
  for (const char c : body) {
    if (c == '@')
      text += predispatch;
    else if (c == '%')
      text += "torch._C._functorch.";
    else
      text += c;
  }
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().text());
  return module ? std::move(*module) : GraphModule();
}

Result<AotGraph> writtenOut(const GraphModule& module) {
  EXPECT_TRUE(holdsFunctionLevels(module));
  return aotTrace(module, plainInputs(module), {.stage = AotStage::Functional});
}

std::vector<std::vector<double>> valuesAfter(const GraphModule& module, const ValueList& inputs) {
  const auto traced = writtenOut(module);
  EXPECT_TRUE(traced) << (traced ? "" : traced.error().text());
  std::vector<std::vector<double>> values;
  if (!traced) return values;
  EXPECT_FALSE(holdsFunctionLevels(traced->module));
  for (const Value& output : runGraph(traced->module, inputs).outputs) values.push_back(valuesOf(output.tensor()));
  return values;
}

std::string refusalOf(const GraphModule& module) {
  const auto traced = writtenOut(module);
  return traced ? std::string() : traced.error().text();
}

auto near(const std::vector<double>& expected) { return Pointwise(::testing::DoubleNear(1e-6), expected); }

TEST(FunctionLevels, VmapSeesOneExample) {
  const auto module = levelled("x: \"f32[2, 3]\"", R"(
    n = @_vmap_increment_nesting(2, 'error')
    a: "f32[3]" = @_add_batch_dim(x, 0, 1)
    s: "f32[]" = a.sum()
    b: "f32[3]" = a * s
    y = @_remove_batch_dim(b, 1, 2, 1)
    e = @_vmap_decrement_nesting()
    return (y,)
)");
  const auto values = valuesAfter(module, {tensorOf({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(values.at(0), ElementsAre(6, 60, 12, 75, 18, 90));  // [3, 2]
}

TEST(FunctionLevels, VmapsNestAndShare) {
  const auto module = levelled("x: \"f32[2]\", y: \"f32[3]\", m: \"f32[2, 3]\"", R"(
    n = @_vmap_increment_nesting(2, 'error')
    a: "f32[]" = @_add_batch_dim(x, 0, 1)
    n2 = @_vmap_increment_nesting(3, 'error')
    b: "f32[]" = @_add_batch_dim(y, 0, 2)
    c = b - a
    one = a.new_ones((), dtype = torch.float32)
    d = c + one
    z = @_remove_batch_dim(d, 2, 3, 0)
    shared = @_remove_batch_dim(a, 2, 3, 0)
    e = @_vmap_decrement_nesting()
    r = @_remove_batch_dim(z, 1, 2, 0)
    q = @_remove_batch_dim(shared, 1, 2, 0)
    e2 = @_vmap_decrement_nesting()
    return (r, q)
)");
  const auto values =
      valuesAfter(module, {tensorOf({2}, {10, 20}), tensorOf({3}, {1, 2, 3}), tensorOf({2, 3}, {0, 0, 0, 0, 0, 0})});
  EXPECT_THAT(values.at(0), ElementsAre(-8, -7, -6, -18, -17, -16));
  EXPECT_THAT(values.at(1), ElementsAre(10, 10, 10, 20, 20, 20));
}

/// A mask by indices, as attention masks are made: no call for each example.
TEST(FunctionLevels, ManyExamplesStayFewCalls) {
  const auto module = levelled("keep: \"b8[2, 64]\"", R"(
    rows = torch.arange(2)
    q = torch.arange(64)
    k = torch.arange(64)
    n = @_vmap_increment_nesting(2, 'error')
    i = @_add_batch_dim(rows, 0, 1)
    n2 = @_vmap_increment_nesting(64, 'error')
    a = @_add_batch_dim(q, 0, 2)
    n3 = @_vmap_increment_nesting(64, 'error')
    b = @_add_batch_dim(k, 0, 3)
    causal = b <= a
    one = a.new_ones((), dtype = torch.bool)
    all = one & causal
    kept = torch.ops.aten.index.Tensor(keep, [i, b])
    both = all & kept
    m = @_remove_batch_dim(both, 3, 64, 0)
    e = @_vmap_decrement_nesting()
    m2 = @_remove_batch_dim(m, 2, 64, 0)
    e2 = @_vmap_decrement_nesting()
    m3 = @_remove_batch_dim(m2, 1, 2, 0)
    e3 = @_vmap_decrement_nesting()
    return (m3,)
)");
  const auto traced = writtenOut(module);
  ASSERT_TRUE(traced) << traced.error().text();
  EXPECT_LE(traced->module.graph.size(), 60u);
  Tensor keep = *Tensor::zeros(DType::Bool, Sizes{2, 64});
  keep.data<bool>()[0] = keep.data<bool>()[64 + 5] = true;
  const auto values = valuesOf(runGraph(traced->module, {Value(keep)}).outputs.at(0).tensor());
  ASSERT_EQ(values.size(), std::size_t(2 * 64 * 64));
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[64 * 64 + 4 * 64 + 5], 0) << "before its column";
  EXPECT_EQ(values[64 * 64 + 5 * 64 + 5], 1);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), 64 + 59);
}

/// loss = (x·w - y)²; its gradient for each example is 2 (x·w - y) x.
TEST(FunctionLevels, GradientsOfEachExample) {
  const auto module = levelled("w: \"f32[2]\", xs: \"f32[3, 2]\", ys: \"f32[3]\"", R"(
    n = @_vmap_increment_nesting(3, 'error')
    x: "f32[2]" = @_add_batch_dim(xs, 0, 1)
    y: "f32[]" = @_add_batch_dim(ys, 0, 1)
    g = %_grad_increment_nesting()
    c: "f32[2]" = %_wrap_for_grad(w, 2)
    x2: "f32[2]" = %_wrap_for_grad(x, 2)
    y2: "f32[]" = %_wrap_for_grad(y, 2)
    p = %set_inplace_requires_grad_allowed(True)
    r = torch._functorch.eager_transforms._set_tensor_requires_grad(c)
    p1 = %set_inplace_requires_grad_allowed(False)
    d = torch.matmul(x2, c)
    out = torch.nn.functional.mse_loss(d, y2)
    both = torch._functorch.eager_transforms._autograd_grad((out,), [c], create_graph = True)
    gw = both[0]
    u = %_unwrap_for_grad(gw, 2)
    o = %_unwrap_for_grad(out, 2)
    e = %_grad_decrement_nesting()
    gws = @_remove_batch_dim(u, 1, 3, 0)
    os = @_remove_batch_dim(o, 1, 3, 0)
    e2 = @_vmap_decrement_nesting()
    return (gws, os)
)");
  const auto values =
      valuesAfter(module, {tensorOf({2}, {1, -1}), tensorOf({3, 2}, {1, 2, 3, 4, 5, 7}), tensorOf({3}, {0, 1, 2})});
  EXPECT_THAT(values.at(0), near({-2, -4, -12, -16, -40, -56}));
  EXPECT_THAT(values.at(1), near({1, 4, 16}));
}

/// vjp of sin, then its function called on every row of the identity: the Jacobian.
TEST(FunctionLevels, FunctionsOfVjpOutliveTheirLevel) {
  const auto module = levelled("x: \"f64[2]\"", R"(
    g = %_grad_increment_nesting()
    c: "f64[2]" = %_wrap_for_grad(x, 1)
    r = torch._functorch.eager_transforms._set_tensor_requires_grad(c)
    s = c.sin()
    out = s * c
    o = %_unwrap_for_grad(out, 1)
    e = %_grad_decrement_nesting()
    basis = o.new_zeros(2, 2)
    diagonal = basis.diagonal(0)
    f = diagonal.fill_(1)
    n = @_vmap_increment_nesting(2, 'error')
    v: "f64[2]" = @_add_batch_dim(basis, 0, 1)
    all = torch._functorch.eager_transforms._autograd_grad([out], [c], [v], retain_graph = True, create_graph = True)
    gx = all[0]
    rows = @_remove_batch_dim(gx, 1, 2, 0)
    e2 = @_vmap_decrement_nesting()
    return (rows,)
)");
  const auto values = valuesAfter(module, {tensorOf({2}, {0.5, 2}, DType::Float64)});
  const auto slope = [](double x) { return std::cos(x) * x + std::sin(x); };
  EXPECT_THAT(values.at(0), near({slope(0.5), 0, 0, slope(2)}));
}

/// jvp over grad: the second derivative of x³ times the direction.
TEST(FunctionLevels, TangentsOfGradients) {
  const auto module = levelled("x: \"f64[2]\", t: \"f64[2]\"", R"(
    j = %_jvp_increment_nesting()
    f = torch._C._set_fwd_grad_enabled(True)
    d = torch._C._enter_dual_level()
    l = torch.autograd.forward_ad._maybe_load_decompositions()
    dual: "f64[2]" = torch._make_dual(x, t, level = 0)
    g = %_grad_increment_nesting()
    c: "f64[2]" = %_wrap_for_grad(dual, 2)
    r = torch._functorch.eager_transforms._set_tensor_requires_grad(c)
    p = c.pow(3)
    out = p.sum()
    all = torch._functorch.eager_transforms._autograd_grad((out,), [c], create_graph = True)
    gx = all[0]
    u = %_unwrap_for_grad(gx, 2)
    e = %_grad_decrement_nesting()
    parts = torch._unpack_dual(u, level = 0)
    primal = parts[0]
    tangent = parts[1]
    a = %_unwrap_for_grad(primal, 1)
    b = %_unwrap_for_grad(tangent, 1)
    x1 = torch._C._exit_dual_level(0)
    e2 = %_jvp_decrement_nesting()
    return (a, b)
)");
  const auto values =
      valuesAfter(module, {tensorOf({2}, {2, -1}, DType::Float64), tensorOf({2}, {1, 10}, DType::Float64)});
  EXPECT_THAT(values.at(0), near({12, 3}));
  EXPECT_THAT(values.at(1), near({12, -60}));
}

TEST(FunctionLevels, AWriteIntoRowsIsOneIntoTheWhole) {
  const auto module = levelled("x: \"f32[2, 2]\"", R"(
    n = @_vmap_increment_nesting(2, 'error')
    a: "f32[2]" = @_add_batch_dim(x, 1, 1)
    s = a.sum()
    w = a.mul_(s)
    y = @_remove_batch_dim(w, 1, 2, 0)
    e = @_vmap_decrement_nesting()
    return (y,)
)");
  const auto traced = writtenOut(module);
  ASSERT_TRUE(traced) << traced.error().text();
  const GraphRun run = runGraph(traced->module, {tensorOf({2, 2}, {1, 2, 3, 4})});
  EXPECT_THAT(valuesOf(run.outputs.at(0).tensor()), ElementsAre(4, 12, 12, 24));
  EXPECT_THAT(valuesOf(run.inputs.at(0).tensor()), ElementsAre(4, 12, 12, 24)) << "columns of x";
}

std::string oneLevel(const std::string& randomness, const std::string& line) {
  return "\n    n = @_vmap_increment_nesting(2, '" + randomness + R"(')
    a: "f32[2]" = @_add_batch_dim(x, 0, 1)
    )" + line +
         R"(
    z = @_remove_batch_dim(y, 1, 2, 0)
    e = @_vmap_decrement_nesting()
    return (z,)
)";
}

TEST(FunctionLevels, WhatHasNoMeaningIsRefused) {
  const std::string x = "x: \"f32[2, 2]\", v: \"f32[2]\"";
  EXPECT_THAT(refusalOf(levelled(x, oneLevel("error", "y = torch.rand_like(a)"))), HasSubstr("randomness='error'"));
  EXPECT_THAT(refusalOf(levelled(x, oneLevel("error", "y = v.add_(a)"))), HasSubstr("all examples share"));
  EXPECT_THAT(refusalOf(levelled(x,
                                 "\n    e = @_vmap_decrement_nesting()\n    n = @_vmap_increment_nesting(2, 'error')\n"
                                 "    return (x,)\n")),
              HasSubstr("not the innermost"));
}

TEST(FunctionLevels, DifferentExamplesDrawDifferentNumbers) {
  const auto values =
      valuesAfter(levelled("x: \"f32[2, 2]\", v: \"f32[2]\"", oneLevel("different", "y = torch.rand([2])")),
                  {tensorOf({2, 2}, {1, 2, 3, 4}), tensorOf({2}, {1, 2})});
  ASSERT_EQ(values.at(0).size(), 4u);
  EXPECT_NE(values[0][0], values[0][2]);
  const auto same = valuesAfter(levelled("x: \"f32[2, 2]\", v: \"f32[2]\"", oneLevel("same", "y = torch.rand([2])")),
                                {tensorOf({2, 2}, {1, 2, 3, 4}), tensorOf({2}, {1, 2})});
  EXPECT_EQ(same.at(0)[0], same.at(0)[2]);
}

}  // namespace
}  // namespace kerf
