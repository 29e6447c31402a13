// Copies into inputs that kernels do themselves: what the graph gives, what its inputs hold afterwards, and which
// copies stay calls.
#include <gmock/gmock.h>

#include "engine/support/thread_pool.h"
#include "tests/support/input_copies.h"
#include "tests/support/symbolic_fixture.h"

namespace kerf {
namespace {

using Case = testing_support::CopyCase;
using testing_support::adam;
using testing_support::expectClose;
using testing_support::inputsOf;
using testing_support::moduleOf;
using testing_support::partsOf;
using testing_support::randomTensor;

std::int64_t copyCalls(const CompiledGraph& graph) {
  return std::ranges::count_if(graph.kernels(), [](const KernelInfo& k) { return k.name.starts_with("extern_copy_"); });
}

/// Which outputs look at the memory of which inputs.
std::vector<bool> aliases(const Value& outputs, const ValueList& inputs) {
  std::vector<bool> result;
  for (const Value& output : partsOf(outputs))
    for (const Value& input : inputs)
      result.push_back(output.isTensor() && output.tensor().storage() == input.tensor().storage());
  return result;
}

using MakeInputs = std::function<ValueList()>;

void expectRun(const GraphModule& module, CompiledGraph& graph, const MakeInputs& make, bool returnsInputs = true) {
  const ValueList wantedInputs = make(), givenInputs = make();
  const auto wanted = Interpreter(module, referenceOps()).run(wantedInputs);
  ASSERT_TRUE(wanted) << wanted.error().text();
  const auto given = graph.run(givenInputs);
  ASSERT_TRUE(given) << given.error().text();
  if (returnsInputs) {
    EXPECT_EQ(aliases(*wanted, wantedInputs), aliases(*given, givenInputs));
  }
  const ValueList a = partsOf(*wanted), b = partsOf(*given);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(expectClose(a[i].tensor(), b[i].tensor(), 1e-5, fmt::format("output {}", i)));
  for (std::size_t i = 0; i < givenInputs.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(
        expectClose(wantedInputs[i].tensor(), givenInputs[i].tensor(), 1e-5, fmt::format("input {} afterwards", i)));
}

void expectLikeInterpreter(const Case& c, const CompileOptions& options = {}) {
  SCOPED_TRACE(c.what);
  const GraphModule module = moduleOf(c);
  const auto graph = compileFx(module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(copyCalls(**graph), c.left);
  const int threads = threadCount();
  for (const int count : {threads, 1, 4}) {
    setThreadCount(count);
    expectRun(module, **graph, [&] { return inputsOf(module); });
  }
  setThreadCount(threads);
}

TEST(InputCopies, OfAnOptimizersStepAreStoresOfItsOneKernel) {
  const auto graph = compileFx(moduleOf(adam), {});
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ((*graph)->kernels().size(), 1u);
  EXPECT_EQ((*graph)->artifacts().plannedBytes, 0);
  expectLikeInterpreter(adam);
}

TEST(InputCopies, ConvertAndLieAsTheInputDoes) {
  const char *one = "a = mul.Tensor(x, 1.5)", *copy = "c = copy_.default(p, a)";
  for (const Case& c : {
           Case{"float to bfloat16", "p: \"bf16[5, 9]\", x: \"f32[5, 9]\"", {one, copy}, "c, "},
           Case{"float64 to float16", "p: \"f16[5, 9]\", x: \"f64[5, 9]\"", {one, copy}, "c, "},
           Case{"integers to float", "p: \"f32[5, 9]\", x: \"i64[5, 9]\"", {"a = mul.Tensor(x, 3)", copy}, "c, "},
           Case{"float to integers", "p: \"i32[5, 9]\", x: \"f32[5, 9]\"", {one, copy}, "c, "},
           Case{"float to bool", "p: \"b8[5, 9]\", x: \"f32[5, 9]\"", {one, copy}, "c, "},
           Case{"bfloat16 to float", "p: \"f32[5, 9]\", x: \"bf16[5, 9]\"", {one, copy}, "c, "},
           Case{"transposed", "p: \"f32[50, 90][1, 50]\", x: \"f32[50, 90]\"", {one, copy}, "c, a"},
           Case{"with gaps", "p: \"f32[50, 9][20, 2]\", x: \"f32[50, 9]\"", {one, copy}, "c, "},
           Case{"a number", "p: \"f32[]\", x: \"f32[]\"", {one, copy}, "c, "},
           Case{"nothing", "p: \"f32[0, 4]\", x: \"f32[0, 4]\"", {one, copy}, "c, "},
           Case{"broadcast", "p: \"f32[5, 9]\", x: \"f32[9]\"", {one, copy}, "c, ", 1},
           Case{"a number everywhere", "p: \"f32[5, 9]\", x: \"f32[]\"", {one, copy}, "c, ", 1},
       })
    expectLikeInterpreter(c);
}

TEST(InputCopies, GoIntoPartsOfInputs) {
  const char* inputs = "p: \"f32[6, 40, 8]\", x: \"f32[40, 8]\", y: \"f32[6, 8]\", z: \"f32[8, 40]\"";
  const char *a = "a = sin.default(x)", *row = "w = select.int(p, 0, 2)";
  for (const Case& c : {
           Case{"one row", inputs, {row, a, "c = copy_.default(w, a)"}, "c, w"},
           Case{
               "the row, read in the kernel", inputs, {row, "a = add.Tensor(w, x)", "c = copy_.default(w, a)"}, "c, a"},
           Case{"across", inputs, {"w = select.int(p, 1, 7)", "a = sin.default(y)", "c = copy_.default(w, a)"}, "p, "},
           Case{"a row, transposed",
                inputs,
                {row, "t = t.default(w)", "a = cos.default(z)", "c = copy_.default(t, a)"},
                "c, "},
           Case{"a slice",
                inputs,
                {"w = slice.Tensor(x, 0, 3, 11, 2)", "a = exp.default(w)", "c = copy_.default(w, a)"},
                "x, c"},
           Case{"of another row's values",
                inputs,
                {row, "o = select.int(p, 0, 3)", "a = add.Tensor(o, x)", "c = copy_.default(w, a)"},
                "c, ",
                1},
           Case{"two rows",
                inputs,
                {row, "o = select.int(p, 0, 3)", a, "b = cos.default(x)", "c = copy_.default(w, a)",
                 "d = copy_.default(o, b)"},
                "p, ",
                1},
       })
    expectLikeInterpreter(c);
}

/// All of them read p before the copy and must not see what it writes.
TEST(InputCopies, LeaveTheOldValueToWhatReadsItBefore) {
  const char* inputs = "p: \"f32[64, 64]\", x: \"f32[64, 64]\", i: \"i64[7]\"";
  const char *a = "a = add.Tensor(p, x)", *copy = "c = copy_.default(p, a)";
  for (const Case& c : {
           Case{"the same element", inputs, {a, "r = mul.Tensor(p, a)", copy}, "c, r"},
           Case{"a kernel after it", inputs, {a, "r = sum.dim_IntList(p, [0])", copy}, "c, r"},
           Case{"a product after it", inputs, {a, "r = mm.default(p, x)", copy}, "c, r"},
           Case{"a product of what is copied", inputs, {a, "r = mm.default(p, a)", copy}, "c, r", 1},
           Case{"a flip", inputs, {"a = flip.default(p, [0])", copy}, "c, ", 1},
           Case{"a flip beside it", inputs, {a, "r = flip.default(p, [1])", copy}, "c, r", 1},
           Case{"a transpose", inputs, {"t = t.default(p)", "a = mul.Tensor(t, 2.0)", copy}, "c, ", 1},
           Case{"a transpose of it, added", inputs, {"t = t.default(p)", "a = add.Tensor(t, p)", copy}, "c, ", 1},
           Case{"a transposed view",
                inputs,
                {"t = t.default(p)", "a = mul.Tensor(t, 2.0)", "c = copy_.default(t, a)"},
                "p, c"},
           Case{"its row sums", inputs, {"s = sum.dim_IntList(p, [1], True)", "a = sub.Tensor(p, s)", copy}, "c, ", 1},
           Case{"sums of it beside it",
                inputs,
                {a, "s = sum.dim_IntList(p, [1])", "t = sum.dim_IntList(a, [1])", copy},
                "c, s, t"},
           Case{"sums down its columns", inputs, {a, "s = sum.dim_IntList(a, [0])", copy}, "c, s"},
           Case{"its sum, squared after its mean",
                inputs,
                {a, "l = var_mean.correction(a, [1], correction=1)", "v = l[0]", copy},
                "c, v",
                1},
           Case{"softmax", inputs, {"a = _softmax.default(p, 1, False)", copy}, "c, ", 1},
           Case{"a scan", inputs, {"a = cumsum.default(p, 1)", copy}, "c, ", 1},
           Case{"a scan across", inputs, {"a = cumsum.default(p, 0)", copy}, "c, ", 1},
           Case{"a roll", inputs, {"a = roll.default(p, [1], [0])", copy}, "c, ", 1},
           Case{"rows by index", inputs, {a, "r = index.Tensor(p, [i])", copy}, "c, r"},
           Case{"a slice", inputs, {a, "w = slice.Tensor(p, 0, 1, 9)", "r = exp.default(w)", copy}, "c, r"},
           Case{"an item of a split",
                inputs,
                {a, "l = split.Tensor(p, 16, 1)", "w = l[2]", "r = exp.default(w)", copy},
                "c, r"},
           Case{"what a call sees",
                inputs,
                {a, "w = view.dtype(p, torch.int32)", "r = bitwise_and.Scalar(w, 255)", copy},
                "c, r"},
           Case{"an as_strided",
                inputs,
                {a, "w = as_strided.default(p, [8, 8], [128, 2], 1)", "r = exp.default(w)", copy},
                "c, r"},
           Case{"a copy of it", inputs, {"o = clone.default(p)", a, copy}, "c, o"},
       })
    expectLikeInterpreter(c);
}

TEST(InputCopies, GiveTheNewValueToWhatReadsItAfterwards) {
  const char* inputs = "p: \"f32[64, 48]\", x: \"f32[64, 48]\"";
  const char *a = "a = add.Tensor(p, x)", *copy = "c = copy_.default(p, a)", *w = "w = slice.Tensor(p, 1, 3, 40)";
  for (const Case& c : {
           Case{"through the copy", inputs, {a, copy, "r = exp.default(c)"}, "r, c"},
           Case{"through the input", inputs, {a, copy, "r = sum.dim_IntList(p, [0])"}, "r, "},
           Case{"through a view from before", inputs, {w, a, copy, "r = exp.default(w)"}, "r, w"},
           Case{"through a view of the copy", inputs, {a, copy, "t = t.default(c)", "r = mm.default(t, x)"}, "r, t"},
           Case{"before and after", inputs, {w, "o = exp.default(w)", a, copy, "r = sub.Tensor(w, o)"}, "r, o, c"},
           Case{"twice",
                inputs,
                {a, copy, "b = mul.Tensor(c, x)", "d = copy_.default(p, b)", "r = neg.default(d)"},
                "r, c, d"},
           Case{"twice, of one value", inputs, {a, copy, "d = copy_.default(p, a)"}, "c, d, a", 1},
           Case{"the second one wins", inputs, {a, "b = sin.default(x)", copy, "d = copy_.default(p, b)"}, "c, d", 1},
       })
    expectLikeInterpreter(c);
}

TEST(InputCopies, OfValuesThatOthersReadToo) {
  const char* inputs = "p: \"f32[64, 48]\", q: \"f32[64, 48]\", x: \"f32[64, 48]\", b: \"bf16[64, 48]\"";
  const char *a = "a = add.Tensor(p, x)", *copy = "c = copy_.default(p, a)";
  for (const Case& c : {
           Case{"an output", inputs, {a, copy}, "a, c"},
           Case{"a view that is one", inputs, {a, "w = t.default(a)", copy}, "w, "},
           Case{"two inputs", inputs, {a, copy, "d = copy_.default(q, a)", "e = copy_.default(b, a)"}, "c, d, e"},
           Case{"a later kernel", inputs, {a, copy, "r = amax.default(a, [0])"}, "r, "},
           Case{"what is written over",
                inputs,
                {a, copy, "b1 = cos.default(x)", "d = copy_.default(p, b1)", "r = exp.default(a)"},
                "r, "},
           Case{"an input", inputs, {"c = copy_.default(p, x)"}, "c, ", 1},
           Case{"itself", inputs, {"c = copy_.default(p, p)"}, "c, ", 1},
           Case{"a view of a value",
                inputs,
                {"v = view.default(x, [48, 64])", "e = exp.default(v)", "w = view.default(e, [64, 48])",
                 "c = copy_.default(p, w)"},
                "c, ",
                1},
       })
    expectLikeInterpreter(c);
}

TEST(InputCopies, RotateInputs) {
  const char* inputs = "p: \"f32[300, 40]\", q: \"f32[300, 40]\", x: \"f32[300, 40]\"";
  for (const Case& c : {
           Case{"clones",
                inputs,
                {"a = clone.default(p)", "b = clone.default(q)", "c = copy_.default(p, b)", "d = copy_.default(q, a)"},
                "c, d",
                1},
           Case{"one clone",
                inputs,
                {"a = clone.default(p)", "c = copy_.default(p, q)", "d = copy_.default(q, a)"},
                "c, d",
                2},
           Case{"in one kernel",
                inputs,
                {"a = mul.Tensor(p, x)", "b = mul.Tensor(q, x)", "c = copy_.default(p, b)", "d = copy_.default(q, a)"},
                "c, d"},
           Case{"three",
                inputs,
                {"a = add.Tensor(p, q)", "b = add.Tensor(q, x)", "e = add.Tensor(x, p)", "c = copy_.default(p, b)",
                 "d = copy_.default(q, e)", "f = copy_.default(x, a)"},
                "c, d, f"},
       })
    expectLikeInterpreter(c);
}

TEST(InputCopies, OfReductionsAndCalls) {
  const char* inputs = "p: \"f32[40]\", x: \"f32[96, 40]\", y: \"f32[40, 40]\", q: \"f32[96, 40]\", r: \"f32[96]\"";
  const char* mean = "s = mean.dim(x, [0])";
  for (const Case& c : {
           Case{"running statistics",
                inputs,
                {mean, "a = mul.Tensor(s, 0.1)", "b = mul.Tensor(p, 0.9)", "n = add.Tensor(a, b)",
                 "o = sub.Tensor(x, s)", "c = copy_.default(p, n)"},
                "o, c"},
           Case{"of rows", inputs, {"s = mean.dim(x, [1])", "n = add.Tensor(r, s)", "c = copy_.default(r, n)"}, "c, "},
           Case{"what rows are used for before",
                inputs,
                {"u = unsqueeze.default(r, 1)", "v = mul.Tensor(x, u)", "s = sum.dim_IntList(v, [1])",
                 "c = copy_.default(r, s)"},
                "c, "},
           Case{"a row less its mean",
                inputs,
                {"s = mean.dim(x, [1], True)", "o = sub.Tensor(x, s)", "c = copy_.default(q, o)"},
                "c, s"},
           Case{"the sum of everything",
                "p: \"f32[]\", x: \"f32[500, 700]\"",
                {"s = sum.default(x)", "n = add.Tensor(p, s)", "c = copy_.default(p, n)"},
                "c, "},
           Case{"columns of many rows",
                "p: \"f32[24]\", x: \"f32[9000, 24]\"",
                {"s = sum.dim_IntList(x, [0])", "n = add.Tensor(p, s)", "c = copy_.default(p, n)"},
                "c, "},
           Case{"a sum of everything that is written",
                "p: \"f32[500, 700]\", x: \"f32[500, 700]\"",
                {"a = add.Tensor(p, x)", "s = sum.default(a)", "c = copy_.default(p, a)"},
                "c, s"},
           Case{"columns of many rows that are written",
                "p: \"f32[9000, 24]\", x: \"f32[9000, 24]\"",
                {"a = add.Tensor(p, x)", "s = sum.dim_IntList(a, [0])", "c = copy_.default(p, a)"},
                "c, s"},
           Case{"new rows of a cache",
                "p: \"f32[64, 48]\", x: \"f32[3, 48]\", i: \"i64[3]\"",
                {"s = index_put.default(p, [i], x)", "c = copy_.default(p, s)"},
                "c, "},
           Case{"many rows of a cache",
                "p: \"f32[64, 48]\", x: \"f32[30, 48]\", i: \"i64[30]\"",
                {"s = index_put.default(p, [i], x, True)", "c = copy_.default(p, s)"},
                "c, ",
                1},
           Case{"a scan", inputs, {"s = cumsum.default(x, 1)", "c = copy_.default(q, s)"}, "c, "},
           Case{"a product", inputs, {"s = mm.default(x, y)", "c = copy_.default(q, s)"}, "c, ", 1},
           Case{"what follows a product",
                inputs,
                {"s = mm.default(x, y)", "t = add.Tensor(s, q)", "c = copy_.default(q, t)"},
                "c, "},
           Case{"an item of a call",
                inputs,
                {"l = sort.default(x, 1)", "s = l[0]", "c = copy_.default(q, s)"},
                "c, ",
                1},
           Case{"an item of a reduction",
                inputs,
                {"l = var_mean.correction(x, [0], correction=1)", "v = l[0]", "m = l[1]", "c = copy_.default(p, v)"},
                "c, m"},
           Case{"into what is no input",
                inputs,
                {"e = empty.memory_format([96, 40])", "s = exp.default(x)", "c = copy_.default(e, s)",
                 "t = add.Tensor(c, 1.0)"},
                "t, "},
           Case{"a part that is scattered",
                inputs,
                {"w = slice.Tensor(x, 0, 0, 4)", "e = exp.default(w)", "s = slice_scatter.default(q, e, 0, 10, 14)",
                 "c = copy_.default(q, s)"},
                "c, "},
       })
    expectLikeInterpreter(c);
}

TEST(InputCopies, AreNotDoneBeforeWhatMayFail) {
  const Case c{"an index after it",
               "p: \"f32[40, 8]\", x: \"f32[40, 8]\", i: \"i64[3]\"",
               {"a = add.Tensor(p, x)", "s = amax.default(a, [0])", "w = index_select.default(x, 0, i)",
                "t = add.Tensor(w, s)", "c = copy_.default(p, a)"},
               "t, c",
               1};
  const GraphModule module = moduleOf(c);
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(copyCalls(**graph), c.left);
  ValueList inputs = inputsOf(module);
  inputs[2].tensor().data<std::int64_t>()[1] = 99;
  const ValueList before = inputsOf(module);
  EXPECT_FALSE((*graph)->run(inputs));
  expectClose(before[0].tensor(), inputs[0].tensor(), 0, "the input of a run that failed");
}

/// The kernel that may fail would have to come behind a write that the graph does later.
TEST(InputCopies, OfKernelsThatMayFailDoNotWait) {
  const Case c{"an index before it",
               "p: \"f32[3, 8]\", x: \"f32[40, 8]\", i: \"i64[3]\", q: \"f32[8]\"",
               {"w = index_select.default(x, 0, i)", "a = add.Tensor(p, w)", "m = mul_.Tensor(q, 2.0)",
                "r = sort.default(p, 1)", "l = r[0]", "c = copy_.default(p, a)"},
               "l, c",
               1};
  const GraphModule module = moduleOf(c);
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(copyCalls(**graph), c.left);
  ValueList inputs = inputsOf(module);
  inputs[2].tensor().data<std::int64_t>()[1] = 99;
  EXPECT_FALSE((*graph)->run(inputs));
  expectClose(inputsOf(module)[3].tensor(), inputs[3].tensor(), 0, "what is written behind it");
}

TEST(InputCopies, WaitForConvolutionsThatReadTheInput) {
  const char *inputs = "x: \"f32[2, 8, 20, 20]\", w: \"f32[8, 8, 3, 3]\"",
             *three = "p: \"f32[2, 8, 20, 20]\", x: \"f32[2, 8, 20, 20]\", w: \"f32[8, 8, 3, 3]\"";
  const char *y = "y = convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)",
             *z = "z = relu.default(y)";
  for (const Case& c : {
           Case{"the weight", inputs, {y, "n = mul.Tensor(w, 0.5)", z, "c = copy_.default(w, n)"}, "z, c"},
           Case{"the image", inputs, {y, z, "c = copy_.default(x, z)"}, "c, "},
           Case{"the image, added", inputs, {y, "n = add.Tensor(y, x)", "c = copy_.default(x, n)"}, "c, "},
           Case{"behind a call that writes the weight",
                three,
                {y, z, "u = mul_.Tensor(w, 0.5)", "r = cumsum.default(p, 3)", "c = copy_.default(p, z)"},
                "c, r"},
           Case{"behind a call that writes the image",
                three,
                {y, z, "u = zero_.default(x)", "r = cumsum.default(p, 3)", "c = copy_.default(p, z)"},
                "c, r"},
       })
    expectLikeInterpreter(c);
}

/// Inputs that are parts of one tensor.
TEST(InputCopies, OfInputsThatShareMemoryComeWhenTheGraphSaysSo) {
  const Case c{"shared",
               "p: \"f32[30, 40]\", q: \"f32[30, 40]\"",
               {"a = mul.Tensor(p, 0.5)", "b = add.Tensor(q, a)", "c = copy_.default(p, b)", "t = exp.default(q)",
                "d = copy_.default(q, a)"},
               "c, d, t"};
  const GraphModule module = moduleOf(c);
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(copyCalls(**graph), 0);
  const std::size_t kernels = (*graph)->kernels().size();
  for (const std::int64_t offset : {0, 1, 40, 600, 1199, 1200, 1300})
    expectRun(module, **graph, [&] {
      std::mt19937 random(3);
      const Tensor all = randomTensor(DType::Float32, {4000}, random);
      return ValueList{all.viewAs(Sizes{30, 40}, Sizes{40, 1}, 600),
                       all.viewAs(Sizes{30, 40}, Sizes{40, 1}, 600 + offset)};
    });
  const ValueList same = inputsOf(module);
  ASSERT_TRUE((*graph)->run({same[0], same[0]}));
  EXPECT_GT((*graph)->kernels().size(), kernels) << "those of the code that ran";
  expectRun(module, **graph, [&] { return inputsOf(module); });
}

TEST(InputCopies, OfInputsWithOtherStridesThanRecorded) {
  const GraphModule module = moduleOf(adam);
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph);
  const auto turned = [&] {
    ValueList inputs = inputsOf(module);
    Tensor other = *Tensor::zerosStrided(DType::Float32, {70, 33}, {1, 70});
    EXPECT_TRUE(copyElements(inputs[0].tensor(), other));
    inputs[0] = other;
    return inputs;
  };
  expectRun(module, **graph, turned, false);  // a copy of the input, which is copied back
}

TEST(InputCopies, OfSizesThatAreExpressions) {
  testing_support::SymbolicFixture f({{"s0", 6}});
  const NodeId p = f.tensor("p", DType::Float32, {"s0", "8"}), x = f.tensor("x", DType::Float32, {"s0", "8"});
  const NodeId w = f.tensor("w", DType::Float32, {"8", "s0"}), h = f.tensor("h", DType::BFloat16, {"s0", "8"});
  const NodeId a = f.call("aten.add.Tensor", {p, x});
  const NodeId t = f.call("aten.t.default", {w}), b = f.call("aten.mul.Tensor", {t, a});
  const NodeId c = f.call("aten.copy_.default", {p, a}), d = f.call("aten.copy_.default", {h, a});
  f.output({c, d, f.call("aten.copy_.default", {t, b})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(copyCalls(**graph), 1) << "of the transposed input, whose strides are no row-major ones";
  for (const std::int64_t size : {6, 2, 33, 100})
    expectRun(f.module, **graph, [&] {
      f.random.seed(5);
      return f.inputsFor({{"s0", size}});
    });
}

TEST(InputCopies, StayCallsWhereNodesAreKeptApart) {
  CompileOptions options;
  options.fuse = false;
  Case apart = adam;
  apart.left = 3;
  expectLikeInterpreter(apart, options);
  options = {};
  options.interpreted = {"y"};
  apart.left = 1;
  expectLikeInterpreter(apart, options);
}

}  // namespace
}  // namespace kerf
