// Rounded quotients, remainders and shifts in generated loops, beside the interpreter, which PyTorch's calls have been
// recorded for.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::expectLikeInterpreter;
using testing_support::parsed;

Tensor tensorFrom(DType dtype, const std::vector<double>& values) {
  Tensor wide = Tensor::zeros(DType::Float64, {std::int64_t(values.size())}).value();
  std::ranges::copy(values, wide.data<double>());
  return wide.to(dtype).value();
}

/// Runs the call compiled and interpreted; how many of the compiled steps are no generated kernels.
std::size_t expectSame(const std::string& call, const std::string& types, const ValueList& inputs) {
  const std::string text = "def forward(self, " + types + "):\n    a = torch.ops.aten." + call + "\n    return (a,)\n";
  SCOPED_TRACE(text);
  const GraphModule module = parsed(text.c_str());
  const auto graph = compileFx(module);
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return 0;
  expectLikeInterpreter(module, **graph, inputs);
  const auto kernels = (*graph)->kernels();
  return std::size_t(std::ranges::count_if(kernels, [](const KernelInfo& kernel) { return kernel.kind != "fused"; }));
}

const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// Every one of these over every other.
struct Grid {
  Tensor x, y;
  std::string types;
};
Grid gridOf(DType dtype, const char* name, const std::vector<double>& numbers) {
  std::vector<double> left, right;
  for (const double a : numbers)
    for (const double b : numbers) left.push_back(a), right.push_back(b);
  const std::string shape = std::string(name) + "[" + std::to_string(left.size()) + "]";
  return {tensorFrom(dtype, left), tensorFrom(dtype, right), "x: \"" + shape + "\", y: \"" + shape + "\""};
}

TEST(GeneratedDivision, OfFloatsByTensors) {
  const std::vector<double> numbers{0,    -0.0, 1,    -1,   2,     3,        -3,        0.1, 7.5, -7.5,
                                    1e10, 1e-3, 0.25, -0.7, 12345, infinity, -infinity, nan, 5,   6};
  const std::pair<DType, const char*> types[] = {{DType::Float32, "f32"}, {DType::Float64, "f64"}};
  for (const auto& [dtype, name] : types) {
    const Grid g = gridOf(dtype, name, numbers);
    for (const char* call :
         {"floor_divide.default(x, y)", "div.Tensor_mode(x, y, rounding_mode = 'floor')",
          "div.Tensor_mode(x, y, rounding_mode = 'trunc')", "div.Tensor_mode(x, y, rounding_mode = None)"})
      EXPECT_EQ(expectSame(call, g.types, {Value(g.x), Value(g.y)}), 0u) << name;
  }
}

TEST(GeneratedDivision, OfSixteenBits) {
  for (const auto& [dtype, name] : {std::pair{DType::BFloat16, "bf16"}, {DType::Float16, "f16"}}) {
    const Grid half = gridOf(dtype, name, {1, 2, 3, -3, 0.1, 7.5, -7.5, 100, 0, -0.0, infinity, nan});
    for (const char* call :
         {"floor_divide.default(x, y)", "div.Tensor_mode(x, y, rounding_mode = 'floor')",
          "div.Tensor_mode(x, y, rounding_mode = 'trunc')", "div.Tensor_mode(x, 1.002, rounding_mode = 'trunc')",
          "div.Tensor_mode(x, 1.002, rounding_mode = 'floor')", "floor_divide.Scalar(x, 1.002)"})
      EXPECT_EQ(expectSame(call, half.types, {Value(half.x), Value(half.y)}), 0u) << call;
  }
}

/// 3 / 1.002 is 2.994: as bfloat16s both the divisor and the quotient would be rounded up, and 3 the result.
TEST(GeneratedDivision, RoundsNeitherOneDivisorNorItsQuotients) {
  for (const char* call : {"div.Tensor_mode(x, 1.002, rounding_mode = 'trunc')",
                           "div.Tensor_mode(x, 1.002, rounding_mode = 'floor')", "floor_divide.Scalar(x, 1.002)"}) {
    const std::string text =
        std::string("def forward(self, x: \"bf16[1]\"):\n    a = torch.ops.aten.") + call + "\n    return (a,)\n";
    const GraphModule module = parsed(text.c_str());
    const ValueList inputs{Value(tensorFrom(DType::BFloat16, {3}))};
    const auto interpreted = Interpreter(module, referenceOps()).run(inputs);
    ASSERT_TRUE(interpreted) << interpreted.error().text();
    EXPECT_EQ(testing_support::partsOf(*interpreted)[0].tensor().itemAsDouble(0), 2) << call;
  }
}

/// PyTorch's vectors give NaN where the quotient is beyond float32: the same kernel does it on both sides.
TEST(GeneratedDivision, LeavesRestsOfFloat32ToTheOp) {
  const Tensor x = tensorFrom(DType::Float32, std::vector<double>(40, 3e38));
  const Tensor wide = tensorFrom(DType::Float64, {7.5, -7.5, 1e300, 0, -0.0, infinity, nan, 3});
  for (const char* call : {"remainder.Scalar(x, 0.75)", "fmod.Scalar(x, 0.75)"}) {
    EXPECT_EQ(expectSame(call, "x: \"f32[40]\"", {Value(x)}), 1u) << call;
    EXPECT_EQ(expectSame(call, "x: \"f64[8]\"", {Value(wide)}), 0u) << call;
  }
}

TEST(GeneratedDivision, OfWholeNumbersByANumber) {
  struct Case {
    DType dtype;
    const char* name;
    std::vector<double> numbers;
  };
  const Case cases[] = {{DType::Int8, "i8", {0, 1, -1, 7, -7, 127, -128, 50}},
                        {DType::UInt8, "u8", {0, 1, 7, 127, 128, 255, 200, 13}},
                        {DType::Int16, "i16", {0, 1, -1, 32767, -32768, 1000, -999, 6}},
                        {DType::Int32, "i32", {0, 1, -1, 2147483647, -2147483648.0, 123456789, -7, 14}}};
  for (const Case& c : cases) {
    const Tensor x = tensorFrom(c.dtype, c.numbers);
    const std::string types = std::string("x: \"") + c.name + "[8]\"";
    for (const std::string call :
         {"remainder.Scalar(x, 7)", "fmod.Scalar(x, 7)", "floor_divide.Scalar(x, 3)",
          "div.Scalar_mode(x, 5, rounding_mode = 'floor')", "div.Scalar_mode(x, 5, rounding_mode = 'trunc')",
          "__rshift__.Scalar(x, 4)", "__rshift__.Scalar(x, 0)", "__rshift__.Scalar(x, 40)", "__lshift__.Scalar(x, 3)",
          "__lshift__.Scalar(x, 40)"})
      EXPECT_EQ(expectSame(call, types, {Value(x)}), 0u) << c.name;
    if (c.dtype == DType::UInt8) continue;
    for (const std::string call : {"remainder.Scalar(x, -7)", "fmod.Scalar(x, -7)", "floor_divide.Scalar(x, -3)",
                                   "div.Scalar_mode(x, -5, rounding_mode = 'trunc')"})
      EXPECT_EQ(expectSame(call, types, {Value(x)}), 0u) << c.name;
  }
}

/// What loops have no exact form for is the op's own kernel.
TEST(GeneratedDivision, IsNotDoneWhereItWouldNotBeExact) {
  const Tensor wide = tensorFrom(DType::Int64, {9007199254740993.0, -7, 6, 0});
  const Tensor small = tensorFrom(DType::Int32, {-2147483648.0, -7, 6, 0});
  for (const char* call : {"remainder.Scalar(x, 7)", "floor_divide.Scalar(x, 2)", "__rshift__.Scalar(x, 1)"})
    EXPECT_EQ(expectSame(call, "x: \"i64[4]\"", {Value(wide)}), 1u) << call;
  EXPECT_EQ(expectSame("__lshift__.Scalar(x, 5)", "x: \"i64[4]\"", {Value(wide)}), 0u);
  EXPECT_EQ(expectSame("div.Scalar_mode(x, -1, rounding_mode = 'floor')", "x: \"i32[4]\"", {Value(small)}), 1u);
  const Tensor divisors = tensorFrom(DType::Int32, {3, -1, 2, 5});
  EXPECT_EQ(expectSame("remainder.Tensor(x, y)", "x: \"i32[4]\", y: \"i32[4]\"", {Value(small), Value(divisors)}), 1u);
}

}  // namespace
}  // namespace kerf
