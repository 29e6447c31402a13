// Quotients, remainders, shifts and positions of extrema as CUDA C++, run on the CPU, beside the interpreter.
#include <array>
#include <limits>

#include "tests/support/device_on_host.h"
#include "tests/support/graph_on_host.h"

namespace kerf {
namespace {

using testing_support::expectGraphLikeInterpreter;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

Tensor asTensor(DType dtype, const std::vector<double>& values, Sizes sizes = {}) {
  if (sizes.empty()) sizes = {std::int64_t(values.size())};
  Tensor wide = *Tensor::zeros(DType::Float64, sizes);
  std::ranges::copy(values, wide.data<double>());
  return *wide.to(dtype);
}

/// Every one over every other.
std::array<Tensor, 2> everyPair(DType dtype, const std::vector<double>& numbers) {
  std::vector<double> left, right;
  for (const double a : numbers)
    for (const double b : numbers) left.push_back(a), right.push_back(b);
  return {asTensor(dtype, left), asTensor(dtype, right)};
}

class CudaQuotients : public ::testing::TestWithParam<DType> {};

TEST_P(CudaQuotients, OfFloatsAreTheInterpreters) {
  const auto [x, y] = everyPair(GetParam(), {0,   -0.0, 1,    -1,   2,     3,        -3,        0.1,        7.5, -7.5,
                                             100, 1e-3, 0.25, -0.7, 12345, infinite, -infinite, notANumber, 5,   6});
  const std::string type = fmt::format("\"{}[400]\"", dtypeInfo(GetParam()).shortCode);
  std::vector<std::string> calls{"torch.ops.aten.floor_divide.default(x, y)",
                                 "torch.ops.aten.div.Tensor_mode(x, y, rounding_mode = 'floor')",
                                 "torch.ops.aten.div.Tensor_mode(x, y, rounding_mode = 'trunc')",
                                 "torch.ops.aten.div.Tensor_mode(x, 1.002, rounding_mode = 'trunc')",
                                 "torch.ops.aten.floor_divide.Scalar(x, 1.002)"};
  if (GetParam() == DType::Float64)
    calls.insert(calls.end(), {"torch.ops.aten.remainder.Tensor(x, y)", "torch.ops.aten.fmod.Tensor(x, y)"});
  expectGraphLikeInterpreter("x: " + type + ", y: " + type, calls, {x, y});
}

std::string nameOfType(const ::testing::TestParamInfo<DType>& info) {
  return std::string(dtypeInfo(info.param).shortCode);
}

INSTANTIATE_TEST_SUITE_P(Types, CudaQuotients, ::testing::Values(DType::Float32, DType::Float64, DType::BFloat16),
                         nameOfType);

TEST(CudaQuotient, WholeNumbersAreDividedByANumber) {
  const std::pair<DType, std::vector<double>> cases[] = {
      {DType::Int8, {0, 1, -1, 7, -7, 127, -128, 50}},
      {DType::UInt8, {0, 1, 7, 127, 128, 255, 200, 13}},
      {DType::Int16, {0, 1, -1, 32767, -32768, 1000, -999, 6}},
      {DType::Int32, {0, 1, -1, 2147483647, -2147483648.0, 123456789, -7, 14}}};
  for (const auto& [dtype, numbers] : cases) {
    std::vector<std::string> calls;
    for (const char* call :
         {"remainder.Scalar(x, 7)", "fmod.Scalar(x, 7)", "floor_divide.Scalar(x, 3)",
          "div.Scalar_mode(x, 5, rounding_mode = 'floor')", "div.Scalar_mode(x, 5, rounding_mode = 'trunc')",
          "__rshift__.Scalar(x, 4)", "__rshift__.Scalar(x, 0)", "__rshift__.Scalar(x, 40)", "__lshift__.Scalar(x, 3)",
          "__lshift__.Scalar(x, 40)"})
      calls.push_back(std::string("torch.ops.aten.") + call);
    if (dtype != DType::UInt8)
      for (const char* call : {"remainder.Scalar(x, -7)", "fmod.Scalar(x, -7)", "floor_divide.Scalar(x, -3)",
                               "div.Scalar_mode(x, -5, rounding_mode = 'trunc')"})
        calls.push_back(std::string("torch.ops.aten.") + call);
    ASSERT_NO_FATAL_FAILURE(expectGraphLikeInterpreter(fmt::format("x: \"{}[8]\"", dtypeInfo(dtype).shortCode), calls,
                                                       {asTensor(dtype, numbers)}));
  }
}

/// Rows with one largest element, several, a NaN or two, infinities alone and both zeros.
Tensor rowsOfExtrema(DType dtype, std::int64_t width) {
  constexpr std::int64_t rows = 8;
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * width; ++i) values.push_back(double(i * 7919 % 23) - 11);
  const auto set = [&](std::int64_t row, std::int64_t at, double x) { values[std::size_t(row * width + at)] = x; };
  set(0, width - 2, 40), set(0, 1, -40);
  if (isFloating(dtype)) {
    set(1, width / 2, notANumber);
    set(2, width - 1, notANumber), set(2, width / 3, notANumber);
    for (std::int64_t i = 0; i < width; ++i)
      set(3, i, -infinite), set(4, i, infinite), set(5, i, i % 3 == 0 ? -0.0 : 0.0);
    set(6, width - 3, infinite), set(6, 2, -infinite);
  }
  return asTensor(dtype, values, {rows, width});
}

class CudaPositions : public ::testing::TestWithParam<DType> {};

TEST_P(CudaPositions, OfExtremaAreTheInterpreters) {
  for (const std::int64_t width : {11, 1500})
    for (const int dim : {1, 0}) {
      std::vector<std::string> calls;
      for (const char* call : {"argmax.default(x, {})", "argmin.default(x, {})", "max.dim(x, {})", "min.dim(x, {})"})
        calls.push_back("torch.ops.aten." + fmt::format(fmt::runtime(call), dim));
      for (const char* item : {"a2[1]", "a3[1]"}) calls.push_back(item);
      ASSERT_NO_FATAL_FAILURE(
          expectGraphLikeInterpreter(fmt::format("x: \"{}[8, {}]\"", dtypeInfo(GetParam()).shortCode, width), calls,
                                     {rowsOfExtrema(GetParam(), width)}));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaPositions,
                         ::testing::Values(DType::Float32, DType::Float64, DType::BFloat16, DType::Int32), nameOfType);

/// Threads of a row that have combined its zeros in different orders have the same of both.
TEST(CudaZeros, AreOrderedByTheirSigns) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    std::vector<double> values(3 * 2048, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761u >> 9 & 1 ? 0.0 : -0.0;
    const Tensor x = asTensor(dtype, values, {3, 2048});
    const std::string code(dtypeInfo(dtype).shortCode);
    const std::string text = "def forward(self, x: \"" + code + R"py([3, 2048]"):
    most = torch.ops.aten.amax.default(x, [1], True)
    least = torch.ops.aten.amin.default(x, [1], True)
    one = torch.ops.aten.full_like.default(x, 1.0)
    ofMost = torch.ops.aten.div.Tensor(one, most)
    ofLeast = torch.ops.aten.div.Tensor(one, least)
    return (ofMost, ofLeast)
)py";
    const GraphModule module = testing_support::parsed(text.c_str());
    const auto given = testing_support::runOnHost(module, {x});
    ASSERT_TRUE(given) << given.error().text();
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      ASSERT_EQ((*given)[0].tensor().itemAsDouble(i), infinite) << code << " " << i;
      ASSERT_EQ((*given)[1].tensor().itemAsDouble(i), -infinite) << code << " " << i;
    }
  }
}

/// Packs of 16 indices, of eight and of four; single ones before and behind them are looked at too.
TEST(CudaCheck, IndicesOfEveryWidthAreLookedAt) {
  for (const DType dtype : {DType::UInt8, DType::Int16, DType::Int32}) {
    const auto said = [&](std::int64_t from, std::int64_t at, double value, bool mayBeNegative = false) {
      std::vector<double> values(1003);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(i % 100);
      if (at >= 0) values[std::size_t(at)] = value;
      const Tensor all = asTensor(dtype, values);
      const Tensor seen = all.viewAs({1003 - from}, {1}, from);
      const auto given = testing_support::DeviceOnHost::get().check(seen, {"gather", "n", 100, 1, mayBeNegative});
      return given ? std::string() : given.error().message;
    };
    const std::string tooLarge = "gather: index 100 is out of bounds for dimension 1 with size 100";
    for (const std::int64_t from : {0, 1}) {  // of a place for packs, and of one where none may lie
      EXPECT_EQ(said(from, -1, 0), "");
      for (const std::int64_t at : {1, 17, 511, 991, 992, 1002}) EXPECT_EQ(said(from, at, 100), tooLarge) << at;
    }
    EXPECT_EQ(said(1, 0, 100), "") << "what lies before the view is none of its indices";
    if (dtype == DType::UInt8) continue;
    EXPECT_EQ(said(0, 5, -1), "gather: index -1 is out of bounds for dimension 1 with size 100");
    EXPECT_EQ(said(0, 5, -100, true), "");
    EXPECT_EQ(said(0, 5, -101, true), "gather: index -101 is out of bounds for dimension 1 with size 100");
  }
}

}  // namespace
}  // namespace kerf
