// Writes counted over whole tensors, searches, and sums at one place, in generated loops beside the ops' own kernels.
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectClose;
using testing_support::GraphFixture;
using testing_support::partsOf;

std::int64_t externCalls(const CompiledGraph& graph) {
  return std::ranges::count_if(graph.kernels(), [](const KernelInfo& kernel) { return kernel.kind == "extern"; });
}

/// The compiled outputs, which must have the interpreter's bits.
ValueList expectSameBits(const GraphFixture& f, const std::string& what, std::int64_t calls = 0) {
  const auto graph = compileFx(f.module, {});
  EXPECT_TRUE(graph) << what;
  if (!graph) return {};
  EXPECT_EQ(externCalls(**graph), calls) << what;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  EXPECT_TRUE(reference && result) << what;
  if (!reference || !result) return {};
  const ValueList expected = partsOf(*reference), given = partsOf(*result);
  for (std::size_t i = 0; i < given.size(); ++i)
    expectClose(expected[i].tensor(), given[i].tensor(), 0, fmt::format("{}, output {}", what, i));
  return given;
}

Tensor numbersOf(DType dtype, const Sizes& sizes, std::initializer_list<double> values) {
  Tensor wide = *Tensor::zeros(DType::Float64, sizes);
  std::ranges::copy(values, wide.data<double>());
  return *wide.to(dtype);
}

Tensor integersOf(const Sizes& sizes, std::initializer_list<std::int64_t> values) {
  Tensor tensor = *Tensor::zeros(DType::Int64, sizes);
  std::ranges::copy(values, tensor.data<std::int64_t>());
  return tensor;
}

std::vector<double> elementsOf(const Value& value) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < value.tensor().numel(); ++i) result.push_back(value.tensor().itemAsDouble(i));
  return result;
}

using Numbers = std::vector<double>;

TEST(FlatWrites, PutCountsOverTheWholeTensor) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Int32, DType::UInt8, DType::Bool})
    for (const bool adds : {false, true})
      for (const Sizes& sizes : {Sizes{12}, Sizes{3, 4}, Sizes{2, 1, 6}}) {
        GraphFixture f;
        const NodeId x = f.input("x", dtype, sizes), v = f.input("v", dtype, {5});
        const NodeId i = f.input("i", integersOf({5}, {11, 0, -1, 0, 7}));
        f.output({f.call("aten.put.default", {x, i, v, adds})});
        expectSameBits(f, fmt::format("{} {} {}", dtypeInfo(dtype).shortCode, adds, sizes.size()));
      }
}

TEST(FlatWrites, PutRefusesAPlaceOutside) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {2, 3}), v = f.input("v", DType::Float32, {1});
  f.output({f.call("aten.put.default", {x, f.input("i", integersOf({1}, {6})), v, false})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph);
  const auto result = (*graph)->run(f.inputs);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text().find("index 6 is out of bounds"), std::string::npos) << result.error().text();
}

TEST(FlatWrites, StridedPartsAreWrittenWhereTheyLie) {
  GraphFixture f;
  const NodeId x = f.input("x", counted({4, 5})), s = f.input("s", counted({2, 3}, 100));
  const auto wanted = [&](std::initializer_list<std::int64_t> numbers) {
    return Argument::list(ArgumentList(numbers.begin(), numbers.end()));
  };
  const Argument sizes = wanted({2, 3});
  f.output({f.call("aten.as_strided_scatter.default", {x, s, sizes, wanted({7, 2}), std::int64_t{3}})});
  const ValueList outs = expectSameBits(f, "apart");
  ASSERT_EQ(outs.size(), 1u);
  Numbers expected = elementsOf(f.inputs[0]);
  const Numbers source = elementsOf(f.inputs[1]);
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t c = 0; c < 3; ++c) expected[3 + 7 * r + 2 * c] = source[3 * r + c];
  EXPECT_EQ(elementsOf(outs[0]), expected);
}

// Which of them is the last is decided by the op's own kernel, which walks the result in the order of its memory.
TEST(FlatWrites, LeavePartsThatMeetToTheOp) {
  GraphFixture f;
  const NodeId x = f.input("x", counted({10})), s = f.input("s", counted({3, 4}, 100));
  const auto wanted = [&](std::initializer_list<std::int64_t> numbers) {
    return Argument::list(ArgumentList(numbers.begin(), numbers.end()));
  };
  const Argument sizes = wanted({3, 4});
  f.output({f.call("aten.as_strided_scatter.default", {x, s, sizes, wanted({2, 1}), std::int64_t{1}})});
  const ValueList outs = expectSameBits(f, "meeting", 1);
  ASSERT_EQ(outs.size(), 1u);
  const Numbers source = elementsOf(f.inputs[1]), given = elementsOf(outs[0]);
  EXPECT_EQ(given[3], source[4]);  // row 1's first element lies on row 0's third
  EXPECT_EQ(given[8], source[11]);
}

// --- searches

TEST(SearchLoops, FindBoundariesAndPutNanBehindThem) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16})
    for (const bool right : {false, true}) {
      GraphFixture f;
      const NodeId x = f.input("x", numbersOf(dtype, {2, 4}, {-3, 0, 1, 1.5, 7, 8, nan, -infinity}));
      const NodeId edges = f.input("edges", numbersOf(dtype, {5}, {0, 1, 1, 2, 7}));
      f.output({f.call("aten.bucketize.Tensor", {x, edges}, {{"right", right}})});
      const ValueList outs = expectSameBits(f, fmt::format("{} {}", dtypeInfo(dtype).shortCode, right));
      ASSERT_EQ(outs.size(), 1u);
      EXPECT_EQ(elementsOf(outs[0]), right ? (Numbers{0, 1, 3, 3, 5, 5, 5, 0}) : (Numbers{0, 0, 1, 3, 4, 5, 5, 0}));
    }
}

TEST(SearchLoops, SortedRowsOfTheirOwn) {
  for (std::int64_t width = 1; width <= 17; ++width) {
    GraphFixture f;
    Tensor sorted = *Tensor::zeros(DType::Float32, {3, width}), values = counted({3, 9}, -1);
    for (std::int64_t i = 0; i < sorted.numel(); ++i)
      sorted.data<float>()[i] = float(i % width) * 0.5f - float(i / width);
    const NodeId edges = f.input("edges", sorted), x = f.input("x", values);
    f.output({f.call("aten.searchsorted.Tensor", {edges, x}, {{"out_int32", true}})});
    const ValueList outs = expectSameBits(f, fmt::format("{}", width));
    ASSERT_EQ(outs.size(), 1u);
    EXPECT_EQ(outs[0].tensor().dtype(), DType::Int32);
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      const float* const row = sorted.data<float>() + i / 9 * width;
      EXPECT_EQ(outs[0].tensor().itemAsInt(i), std::lower_bound(row, row + width, values.data<float>()[i]) - row);
    }
  }
}

/// As PyTorch's halving does.
TEST(SearchLoops, BoundariesOutOfOrderGiveWhatTheKernelGives) {
  for (std::int64_t count = 1; count <= 20; ++count) {
    GraphFixture f;
    const NodeId edges = f.input("edges", DType::Float32, {count}), x = f.input("x", DType::Float32, {50});
    f.output({f.call("aten.searchsorted.Tensor", {edges, x}), f.call("aten.bucketize.Tensor", {x, edges})});
    expectSameBits(f, fmt::format("{}", count));
  }
}

TEST(SearchLoops, IntegersKeepTheirLastBit) {
  constexpr std::int64_t large = 1LL << 60;
  GraphFixture f;
  const NodeId x = f.input("x", integersOf({3}, {large, large + 1, large + 2}));
  const NodeId edges = f.input("edges", integersOf({2}, {large, large + 1}));
  f.output({f.call("aten.bucketize.Tensor", {x, edges})});
  const ValueList outs = expectSameBits(f, "int64");
  ASSERT_EQ(outs.size(), 1u);
  EXPECT_EQ(elementsOf(outs[0]), (Numbers{0, 1, 2}));
}

// --- many additions at one place

/// PyTorch's CPU kernels add in float32, one after the other: what is left of 2^24 and ones is 2^24.
TEST(SumsAtOnePlace, RoundAfterEveryWriteAsPyTorchDoes) {
  const auto sumOf = [](const std::string& op, std::int64_t rows) {
    GraphFixture f;
    Tensor start = *Tensor::zeros(DType::Float32, {2}), ones = *Tensor::zeros(DType::Float32, {rows});
    start.data<float>()[1] = 16777216.0f;
    std::fill_n(ones.data<float>(), rows, 1.0f);
    Tensor places = *Tensor::zeros(DType::Int64, {rows});
    std::fill_n(places.data<std::int64_t>(), rows, std::int64_t{1});
    const NodeId x = f.input("x", start), i = f.input("i", places), v = f.input("v", ones);
    const std::int64_t first = 0;
    if (op == "aten.index_put.default")
      f.output({f.call(op, {x, Argument::list({i}), v, true})});
    else if (op == "aten.put.default")
      f.output({f.call(op, {x, i, v, true})});
    else if (op == "aten.scatter_reduce.two")
      f.output({f.call(op, {x, first, i, v, "sum"})});
    else
      f.output({f.call(op, {x, first, i, v})});
    const ValueList outs = expectSameBits(f, fmt::format("{} of {}", op, rows));
    return outs.empty() ? -1.0 : outs[0].tensor().itemAsDouble(1);
  };
  for (const char* op : {"aten.index_put.default", "aten.put.default", "aten.scatter_add.default",
                         "aten.scatter_reduce.two", "aten.index_add.default"})
    for (const std::int64_t rows : {5, 50})  // asked by every element, and written one after the other
      EXPECT_EQ(sumOf(op, rows), 16777216.0) << op << " of " << rows;
}

}  // namespace
}  // namespace kerf
