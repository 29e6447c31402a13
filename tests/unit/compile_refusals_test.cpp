// Wrong arguments: compiled code refuses what the interpreter refuses, with the same words, before it touches memory.
#include "engine/backend/input_symbols.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;

Tensor integers(const Sizes& sizes, std::int64_t value = 0) {
  Tensor tensor = *Tensor::zeros(DType::Int64, sizes);
  std::fill_n(tensor.data<std::int64_t>(), tensor.numel(), value);
  return tensor;
}

/// What compiling or running says; empty where both go well.
std::string refusalOf(const GraphModule& module, const ValueList& inputs) {
  const auto graph = compileFx(module, {});
  if (!graph) return graph.error().text();
  const auto result = (*graph)->run(inputs);
  return result ? std::string() : result.error().text();
}

/// `body` computes `out` of x: f32[3, 4], i: i64[2, 3], n: i64[2] and w: f32[3].
void expectRefused(const std::string& body, std::string_view words) {
  const std::string text =
      "def forward(self, x: \"f32[3, 4]\", i: \"i64[2, 3]\", n: \"i64[2]\", w: \"f32[3]\"):\n    " + body +
      "\n    return (out,)\n";
  const auto module = parseReadable(text);
  ASSERT_TRUE(module) << module.error().text();
  const ValueList inputs{counted({3, 4}), integers({2, 3}), integers({2}), counted({3})};
  const auto reference = Interpreter(*module, referenceOps()).run(inputs);
  ASSERT_FALSE(reference) << body;
  EXPECT_NE(reference.error().text().find(words), std::string::npos) << body << ": " << reference.error().text();
  const std::string compiled = refusalOf(*module, inputs);
  EXPECT_NE(compiled.find(words), std::string::npos) << body << ": " << compiled;
}

constexpr std::string_view outside = "the view reaches outside of the storage";

TEST(Refusals, ViewsStayWithinTheirStorage) {
  const char* const views[] = {"as_strided.default(y, [64], [1], 4096)", "as_strided.default(y, [13], [1], 0)",
                               "as_strided.default(y, [2, 2], [1, 11], 0)", "_reshape_alias.default(y, [4, 4], [4, 1])",
                               "as_strided_copy.default(y, [64], [1], 0)"};
  for (const std::string view : views) {
    const std::string taken = "    v = torch.ops.aten." + view + "\n    out = torch.ops.aten.mul.Tensor(v, 3)";
    expectRefused("y = torch.ops.aten.alias.default(x)\n" + taken, outside);
    expectRefused("y = torch.ops.aten.mul.Tensor(x, 2)\n" + taken, outside);
  }
}

TEST(Refusals, NothingIsWrittenOutsideOfABuffer) {
  expectRefused(R"(y = torch.ops.aten.mul.Tensor(x, 2)
    v = torch.ops.aten.as_strided.default(y, [40], [1], 0)
    p = torch.ops.aten.full.default([40], 7.0)
    c = torch.ops.aten.copy_.default(v, p)
    out = torch.ops.aten.add.Tensor(y, 1))",
                outside);
}

TEST(Refusals, ViewsWithinTheirTensorAreCompiled) {
  const auto module = testing_support::parsed(R"(def forward(self, x: "f32[3, 4]"):
    y = torch.ops.aten.mul.Tensor(x, 2)
    v = torch.ops.aten.as_strided.default(y, [2, 3], [4, 1], 5)
    out = torch.ops.aten.mul.Tensor(v, 3)
    return (out,)
)");
  auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  testing_support::expectLikeInterpreter(module, **graph, {counted({3, 4})});
}

/// The kernel of a view that sizes place knows where it is; as_strided counts from the start of the memory under it.
TEST(Refusals, OffsetsCountFromTheStorageUnderAView) {
  const auto module = testing_support::parsed(R"py(def forward(self, s0: "Sym(s0)", x: "f32[s0]"):
    y = torch.ops.aten.clone.default(x)
    last = torch.ops.aten.select.int(y, 0, -1)
    same = torch.ops.aten._reshape_alias.default(last, [], [])
    first = torch.ops.aten.as_strided.default(same, [], [], 0)
    zero = torch.ops.aten.zero_.default(first)
    out = torch.ops.aten.add.Tensor(y, 1)
    return (out, last)
)py");
  auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  testing_support::expectLikeInterpreter(module, **graph, {std::int64_t{5}, counted({5})});
}

TEST(Refusals, ArgumentsThatAnOpDoesNotHave) {
  expectRefused("out = torch.ops.aten.full_like.default(x, 1, bogus = 1)", "has no argument 'bogus'");
  expectRefused("y = torch.ops.aten.full_like.default(x, 1, bogus = 1)\n    out = torch.ops.aten.mul.Tensor(y, 2)",
                "has no argument 'bogus'");
  expectRefused("out = torch.ops.aten.neg.default(x, 1)", "takes at most 1 positional arguments, got 2");
}

TEST(Refusals, ViewsAtSizesThatComeLater) {
  const auto module = parseReadable(R"py(def forward(self, s0: "Sym(s0)", x: "f32[s0, 4]"):
    v = torch.ops.aten.as_strided.default(x, [8, 4], [4, 1], 0)
    out = torch.ops.aten.mul.Tensor(v, 2)
    return (out,)
)py");
  ASSERT_TRUE(module) << module.error().text();
  const auto graph = compileFx(*module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_TRUE((*graph)->run({std::int64_t{8}, counted({8, 4})}));
  const auto small = (*graph)->run({std::int64_t{3}, counted({3, 4})});
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().text().find(outside), std::string::npos) << small.error().text();
}

/// What a call asks of sizes is a guard, although the size of its result depends on values.
TEST(Refusals, MasksAtSizesThatComeLater) {
  const auto module = parseReadable(
      R"py(def forward(self, s0: "Sym(s0)", s1: "Sym(s1)", x: "f32[s0, 4]", y: "f32[s1, 4]"):
    c = torch.ops.aten.clone.default(x)
    m = torch.ops.aten.gt.Scalar(y, 1)
    w = torch.ops.aten.masked_select.default(c, m)
    out = torch.ops.aten.mul.Tensor(w, 2)
    return (out,)
)py");
  ASSERT_TRUE(module) << module.error().text();
  const auto example = withExample(*module, {{"s0", 6}, {"s1", 6}});
  ASSERT_TRUE(example) << example.error().text();
  const auto graph = compileFx(*example, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_TRUE((*graph)->run({std::int64_t{6}, std::int64_t{6}, counted({6, 4}), counted({6, 4})}));
  const auto apart = (*graph)->run({std::int64_t{4}, std::int64_t{6}, counted({4, 4}), counted({6, 4})});
  ASSERT_FALSE(apart);
  EXPECT_NE(apart.error().text().find("do not broadcast"), std::string::npos) << apart.error().text();
}

TEST(Refusals, IndicesThatDoNotFit) {
  constexpr std::string_view tooLarge = "index of size 9 is too large in dimension 1";
  const std::string wide = "j = torch.ops.aten.full.default([1, 9], 0, dtype = torch.int64)\n    ";
  const std::string source = wide + "s = torch.ops.aten.full.default([1, 9], 1.0)\n    ";
  expectRefused(wide + "out = torch.ops.aten.scatter.value(x, 0, j, 1.0)", tooLarge);
  expectRefused(source + "out = torch.ops.aten.scatter.src(x, 0, j, s)", tooLarge);
  expectRefused(source + "out = torch.ops.aten.scatter_add.default(x, 0, j, s)", tooLarge);
  expectRefused(source + "out = torch.ops.aten.scatter_reduce.two(x, 0, j, s, 'amax')", tooLarge);
  expectRefused(
      source + "y = torch.ops.aten.mul.Tensor(x, 2)\n    out = torch.ops.aten.scatter_add_.default(y, 0, j, s)",
      tooLarge);
  expectRefused("out = torch.ops.aten.scatter.src(x, 0, i, w)", "must have as many dimensions");
  expectRefused("out = torch.ops.aten.scatter.src(x, 0, i, i)", "self and src must have one dtype");
}

TEST(Refusals, SlicesThatDoNotFit) {
  constexpr std::string_view expected = "expected [2, 4]";
  expectRefused("out = torch.ops.aten.index_add.default(x, 0, n, x)", expected);
  expectRefused("out = torch.ops.aten.index_copy.default(x, 0, n, x)", expected);
  expectRefused("out = torch.ops.aten.index_reduce.default(x, 0, n, x, 'prod')", expected);
  expectRefused("out = torch.ops.aten.index_fill.int_Tensor(x, 0, n, w)", "'value' must have no dimensions");
  expectRefused("out = torch.ops.aten.put.default(x, n, w)", "index and source differ in size");
  expectRefused("out = torch.ops.aten.diagonal_scatter.default(x, x)", "does not fit the slice [3]");
  expectRefused("out = torch.ops.aten.select_scatter.default(x, w, 0, 1)", "does not fit the slice [4]");
  expectRefused("out = torch.ops.aten.slice_scatter.default(x, x, 0, 0, 2)", "does not fit the slice [2, 4]");
  expectRefused("out = torch.ops.aten.slice_backward.default(x, [5, 4], 0, 0, 2, 1)", "does not fit the view [2, 4]");
  expectRefused("out = torch.ops.aten.as_strided_scatter.default(x, w, [2], [1], 0)", "does not fit the slice [2]");
}

/// PyTorch asks src to have the slice's own size: what would broadcast to it is refused, too.
TEST(Refusals, SourcesThatWouldHaveToBeSpread) {
  const std::string one = "s = torch.ops.aten.full.default([1], 1.0)\n    ";
  const std::string row = "s = torch.ops.aten.full.default([1, 4], 1.0)\n    ";
  expectRefused(one + "out = torch.ops.aten.select_scatter.default(x, s, 0, 1)",
                "src of shape [1] does not fit the slice [4]");
  expectRefused(row + "out = torch.ops.aten.slice_scatter.default(x, s, 0, 0, 2)",
                "src of shape [1, 4] does not fit the slice [2, 4]");
}

TEST(Refusals, ParametersAndMasks) {
  expectRefused("out = torch.ops.aten.native_layer_norm.default(x, [4], w, None, 1e-05)[0]",
                "'weight' has 3 elements, expected 4");
  expectRefused("out = torch.ops.aten.native_group_norm.default(x, None, w, 3, 4, 1, 2, 1e-05)[0]",
                "'bias' has 3 elements, expected 4");
  expectRefused("out = torch.ops.aten.masked_fill.Scalar(w, w, 1.0)", "'mask' must be a bool tensor");
  expectRefused("out = torch.ops.aten.fill.Tensor(x, w)", "'value' must have no dimensions");
  expectRefused("out = torch.ops.aten.clamp.default(x)", "at least one of 'min' or 'max'");
  expectRefused("out = torch.ops.aten.quantile.scalar(x, 1.5)", "in the range [0, 1]");
  expectRefused("b = torch.ops.aten.gt.Scalar(x, 0)\n    out = torch.ops.aten.sub.Tensor(b, b)", "two bool tensors");
}

TEST(Refusals, WhatPyTorchRefusesBesideSizes) {
  expectRefused("out = torch.ops.aten.full.default([2], 300, dtype = torch.uint8)", "which torch.uint8 cannot hold");
  expectRefused("out = torch.ops.aten.roll.default(x, [1], [7])", "dimension out of range");
  expectRefused("out = torch.ops.aten.roll.default(x, [1, 2], [0])", "2 shifts for 1 dims");
  expectRefused("out = torch.ops.aten.div.Tensor_mode(x, x, rounding_mode = 'up')", "must be None, 'trunc' or 'floor'");
  expectRefused("out = torch.ops.aten.hardtanh_backward.default(i, i, -1, 1)", "not implemented for torch.int64");
  expectRefused("out = torch.ops.aten.index_put.default(x, [n], i)", "must have one dtype");
  expectRefused("out = torch.ops.aten.cumsum.default(x, 1, dtype = torch.bool)", "not implemented for torch.bool");
  expectRefused("out = torch.ops.aten.gather.default(x, 0, x)", "'index' must be int64 or int32");
  expectRefused("out = torch.ops.aten.scatter.value_reduce(x, 0, i, 1.0, reduce = 'amax')", "'add' or 'multiply'");
  expectRefused("s = torch.ops.aten.full.default([1], 0.0)\n    out = torch.ops.aten.diagonal_scatter.default(x, s)",
                "does not fit the slice [3]");
  expectRefused("y = torch.ops.aten.expand.default(w, [4, 3])\n    out = torch.ops.aten.add_.Tensor(y, 1)",
                "several of its elements share memory");
  expectRefused("q = torch.ops.aten.full.default([], 1.5)\n    out = torch.ops.aten.quantile.default(x, q)",
                "q values must be in the range [0, 1]");
}

/// Before code is made, so that no device is needed.
TEST(Refusals, CudaRefusesWithTheSameWords) {
  const std::pair<const char*, std::string_view> calls[] = {
      {"out = torch.ops.aten.scatter.src(x, 0, i, i)", "self and src must have one dtype"},
      {"out = torch.ops.aten.index_add.default(x, 0, n, x)", "expected [2, 4]"},
      {"out = torch.ops.aten.masked_fill.Scalar(w, w, 1.0)", "'mask' must be a bool tensor"},
      {"out = torch.ops.aten.quantile.scalar(x, 1.5)", "in the range [0, 1]"},
      {"out = torch.ops.aten.heaviside.default(x, i)", "must have one dtype"},
      {"out = torch.ops.aten.isclose.default(n, w)", "must have one dtype"},
      {"out = torch.ops.aten.dist.default(i, i)", "needs floating point"},
  };
  for (const auto& [body, words] : calls) {
    const auto module =
        parseReadable("def forward(self, x: \"f32[3, 4]\", i: \"i64[2, 3]\", n: \"i64[2]\", w: \"f32[3]\"):\n    " +
                      std::string(body) + "\n    return (out,)\n");
    ASSERT_TRUE(module) << module.error().text();
    for (const char* backend : {"cuda", "llvm"}) {
      CompileOptions options;
      options.backend = backend;
      const auto graph = compileFx(*module, options);
      ASSERT_FALSE(graph) << backend << ": " << body;
      EXPECT_NE(graph.error().text().find(words), std::string::npos) << backend << ": " << graph.error().text();
    }
  }
}

/// At sizes that come later a compiled graph refuses what the call refuses.
TEST(Refusals, LaterSizesAreRefusedByTheCall) {
  auto module = parseReadable(R"py(def forward(self, s0: "Sym(s0)", s1: "Sym(s1)", x: "f32[s0, 4]", y: "f32[s1, 4]"):
    out = torch.ops.aten.add.Tensor(x, y)
    return (out,)
)py");
  ASSERT_TRUE(module) << module.error().text();
  for (const NodeId id : module->graph.placeholders()) {
    ValueMeta meta = module->graph.node(id).meta().value;
    if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) tensor->sizes[0].hint = 6;
    module->graph.setValueMeta(id, std::move(meta));
  }
  ASSERT_TRUE(propagateShapes(*module));
  const auto graph = compileFx(*module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const ValueList wrong{std::int64_t{3}, std::int64_t{5}, counted({3, 4}), counted({5, 4})};
  const auto reference = Interpreter(*module, referenceOps()).run(wrong);
  ASSERT_FALSE(reference);
  const auto later = (*graph)->run(wrong);
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().text().find("shapes [3, 4] and [5, 4] do not broadcast"), std::string::npos)
      << later.error().text();
}

/// A graph's text may say anything of its results.
TEST(Refusals, AnnotationsAreNotTrusted) {
  const auto module = parseReadable(R"(def forward(self, x: "f32[3, 4]", i: "i64[2, 9]"):
    out: "f32[2, 9]" = torch.ops.aten.gather.default(x, 1, i)
    far: "f32[64, 64]" = torch.ops.aten.mul.Tensor(x, 2)
    return (out, far)
)");
  ASSERT_TRUE(module) << module.error().text();
  const auto graph = compileFx(*module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run({counted({3, 4}), integers({2, 9})});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->list()[1].tensor().sizes(), (Sizes{3, 4}));
}

}  // namespace
}  // namespace kerf
