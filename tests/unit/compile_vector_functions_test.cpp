// Elementary functions in vectorised loops: within 4 units in the last place of the true value, and at zeros,
// infinities, NaN and subnormals what the C library gives.
#include <bit>
#include <cmath>

#include <gmock/gmock.h>

#include "engine/codegen_llvm/vector_functions.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/thread_pool.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;

struct UnaryFunction {
  const char* op;
  long double (*exact)(long double);
};
const UnaryFunction unaryFunctions[] = {
    {"exp", std::exp},     {"exp2", std::exp2},   {"expm1", std::expm1}, {"log", std::log},     {"log2", std::log2},
    {"log10", std::log10}, {"log1p", std::log1p}, {"sin", std::sin},     {"cos", std::cos},     {"tan", std::tan},
    {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},   {"sinh", std::sinh},   {"cosh", std::cosh},
    {"tanh", std::tanh},   {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh}, {"erf", std::erf},
    {"erfc", std::erfc}};

struct BinaryFunction {
  const char* op;
  long double (*exact)(long double, long double);
};
const BinaryFunction binaryFunctions[] = {
    {"pow.Tensor_Tensor", std::pow}, {"atan2.default", std::atan2}, {"hypot.default", std::hypot}};

/// Both signs of every magnitude, thinned out, and the values at which functions turn.
template <class T>
std::vector<T> samples() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{T(0),
                        T(1),
                        T(0.5),
                        T(2),
                        Limits::min(),
                        Limits::denorm_min(),
                        Limits::max(),
                        Limits::infinity(),
                        T(0.1),
                        T(88.7),
                        T(709.7),
                        Limits::epsilon(),
                        T(1) - Limits::epsilon(),
                        T(3.14159265358979),
                        T(1e6),
                        T(104),
                        T(746),
                        Limits::quiet_NaN()};
  for (double exponent = -40; exponent < 40; exponent += 0.037) values.push_back(T(std::exp2(exponent)));
  for (double x = 0; x < 30; x += 0.0137) values.push_back(T(x));
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  values.push_back(T(0.25));  // a number of elements that leaves some over
  return values;
}

template <class T>
Tensor tensorOf(DType dtype, const std::vector<T>& values) {
  Tensor tensor = *Tensor::zeros(dtype, {std::int64_t(values.size())});
  std::ranges::copy(values, tensor.data<T>());
  return tensor;
}

/// Between `value` and the true one, in units of the last place of the latter as T has it.
template <class T>
double distance(T value, long double exact) {
  const T nearest = T(exact);
  if (std::isnan(nearest) || std::isnan(value)) return std::isnan(nearest) == std::isnan(value) ? 0 : INFINITY;
  if (std::isinf(nearest) || std::isinf(value)) {
    if (nearest == value) return 0;
    const T largest = std::numeric_limits<T>::max();  // just below the overflow either is near
    return std::abs(nearest) >= largest && std::abs(value) >= largest && (nearest > 0) == (value > 0) ? 1 : INFINITY;
  }
  const T unit = std::max(std::nextafter(std::abs(nearest), std::numeric_limits<T>::infinity()) - std::abs(nearest),
                          std::numeric_limits<T>::denorm_min());
  return double(std::abs((long double)(value)-exact) / (long double)(unit));
}

template <class T, class Exact>
void expectNear(const Tensor& result, std::size_t count, const Exact& exact, const std::string& what) {
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double units = distance(result.data<T>()[i], exact(i));
    if (units > worst) worst = units, at = i;
  }
  EXPECT_LE(worst, 4) << what << " element " << at << ": " << result.data<T>()[at] << ", exactly " << double(exact(at));
  ::testing::Test::RecordProperty(what, fmt::format("{:.2f}", worst));
}

std::string opName(const UnaryFunction& function) {
  const std::string name = function.op;
  return fmt::format("aten.{}.default", name);
}

template <class T>
void expectFunctionsAreNear(DType dtype) {
  const std::vector<T> x = samples<T>();
  std::vector<T> y(x.rbegin(), x.rend());
  std::ranges::rotate(y, y.begin() + std::ptrdiff_t(y.size() / 3));
  GraphFixture f;
  const NodeId a = f.input("x", tensorOf(dtype, x)), b = f.input("y", tensorOf(dtype, y));
  ArgumentList outputs;
  for (const UnaryFunction& function : unaryFunctions) outputs.emplace_back(f.call(opName(function), {a}));
  for (const BinaryFunction& function : binaryFunctions)
    outputs.emplace_back(f.call(fmt::format("aten.{}", function.op), {a, b}));
  f.module.graph.output(Argument::tuple(std::move(outputs)));
  ASSERT_TRUE(propagateShapes(f.module));
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(f.inputs);
  ASSERT_TRUE(result) << result.error().text();
  std::size_t output = 0;
  for (const UnaryFunction& function : unaryFunctions)
    expectNear<T>(
        result->list()[output++].tensor(), x.size(), [&](std::size_t i) { return function.exact((long double)(x[i])); },
        function.op);
  for (const BinaryFunction& function : binaryFunctions)
    expectNear<T>(
        result->list()[output++].tensor(), x.size(),
        [&](std::size_t i) { return function.exact((long double)(x[i]), (long double)(y[i])); }, function.op);
}

TEST(VectorFunctions, OfFloat32AreWithinFourUnits) { expectFunctionsAreNear<float>(DType::Float32); }
TEST(VectorFunctions, OfFloat64AreWithinFourUnits) { expectFunctionsAreNear<double>(DType::Float64); }

TEST(VectorFunctions, ZerosKeepTheirSign) {
  GraphFixture f;
  const NodeId x = f.input("x", tensorOf<float>(DType::Float32, std::vector<float>(37, -0.0f)));
  ArgumentList outputs;
  const std::vector<std::string> odd{"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "expm1"};
  for (const std::string& name : odd) outputs.emplace_back(f.call(fmt::format("aten.{}.default", name), {x}));
  f.module.graph.output(Argument::tuple(std::move(outputs)));
  ASSERT_TRUE(propagateShapes(f.module));
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(f.inputs);
  ASSERT_TRUE(result) << result.error().text();
  for (std::size_t o = 0; o < odd.size(); ++o)
    for (const std::int64_t i : {0, 36})
      EXPECT_TRUE(std::signbit(result->list()[o].tensor().data<float>()[i])) << odd[o] << " " << i;
}

TEST(VectorFunctions, LoopsCallThem) {
  if (vectorForm("tanf") == nullptr) GTEST_SKIP() << "this machine has no vector functions (libmvec of glibc 2.35)";
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {1000});
  f.output({f.call("aten.mul.Tensor", {f.call("aten.tan.default", {x}), f.call("aten.sin.default", {x})})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const std::string_view code = (*graph)->kernels().at(0).text("llvm");
  EXPECT_THAT(std::string(code), ::testing::ContainsRegex("call <[0-9]+ x float> @_ZGV.N[0-9]+v_tanf"));
  EXPECT_THAT(std::string(code), ::testing::ContainsRegex("call <[0-9]+ x float> @_ZGV.N[0-9]+v_sinf"));
}

// A value that a kernel computes twice, for a reduction and for what is compared with it, has the same bits both times.
TEST(VectorFunctions, AnExtremumIsOneOfTheElements) {
  for (const DType dtype : {DType::Float32, DType::Float64})
    for (const char* op : {"aten.tanh.default", "aten.sin.default", "aten.expm1.default", "aten.atan.default"})
      for (const Sizes& sizes : {Sizes{31, 511}, Sizes{3, 9001}, Sizes{5, 37}})
        for (const std::int64_t dim : {0, 1}) {
          GraphFixture f;
          const NodeId x = f.input("x", dtype, sizes), y = f.call(op, {x});
          const Argument dims = Argument::list({Argument(dim)});
          const NodeId extremum = f.call("aten.amax.default", {y, dims, true});
          const NodeId equal = f.call("aten.eq.Tensor", {y, extremum});
          f.output({f.call("aten.sum.dim_IntList", {equal, dims})});
          const auto graph = compileFx(f.module, {});
          ASSERT_TRUE(graph) << graph.error().text();
          const auto outs = (*graph)->run(f.inputs);
          ASSERT_TRUE(outs);
          const Tensor counts = outs->isTensor() ? outs->tensor() : outs->list()[0].tensor();
          for (std::int64_t i = 0; i < counts.numel(); ++i)
            ASSERT_GE(counts.itemAsInt(i), 1) << op << " along " << dim << ", line " << i;
        }
}

TEST(VectorFunctions, BitsDoNotDependOnThreads) {
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 3, 5, 7}) {
    setThreadCount(threads);
    GraphFixture f;
    f.output({f.call("aten.sin.default", {f.input("x", DType::Float32, {300011})})});
    const auto graph = compileFx(f.module, {});
    ASSERT_TRUE(graph) << graph.error().text();
    const auto outs = (*graph)->run(f.inputs);
    ASSERT_TRUE(outs);
    const Tensor out = outs->isTensor() ? outs->tensor() : outs->list()[0].tensor();
    const float* const data = out.data<float>();
    results.emplace_back(data, data + 300011);
  }
  setThreadCount(2);
  for (const std::vector<float>& other : results) EXPECT_EQ(other, results.front());
}

/// Calls in the text of a kernel of one value at a time, without that of the vector function itself.
int singleCalls(const GraphFixture& f, const std::string& scalar) {
  const auto graph = compileFx(f.module, {});
  EXPECT_TRUE(graph);
  if (!graph) return 0;
  int calls = 0;
  for (const KernelInfo& kernel : (*graph)->kernels()) {
    const std::string code(kernel.text("llvm")), call = fmt::format("@kerf_{}(", scalar);
    for (auto at = code.find(call); at != std::string::npos; at = code.find(call, at + 1)) ++calls;
    EXPECT_THAT(code, ::testing::ContainsRegex("call .*<[0-9]+ x (float|double)> @_ZGV[a-zA-Z0-9]+_sin"))
        << "no vectors";
  }
  return calls;
}

// A loop takes as many elements at once as its widest type has in a register: fewer than a function of a narrow one
// takes.
TEST(VectorFunctions, LoopsOfOtherWidthsCallThem) {
  if (vectorForm("sinf") == nullptr) GTEST_SKIP() << "this machine has no vector functions (libmvec of glibc 2.35)";
  GraphFixture wide;  // 1024 elements leave none over, but for the loop that LLVM keeps for those
  const NodeId x = wide.input("x", DType::Float32, {1024}), d = wide.input("d", DType::Float64, {1024});
  const NodeId sine = wide.call("aten.sin.default", {x});
  wide.output({wide.call("aten.add.Tensor", {sine, wide.call("aten.sin.default", {d})})});
  EXPECT_LE(singleCalls(wide, "sinf"), 1);
  EXPECT_LE(singleCalls(wide, "sin"), 1);
  GraphFixture sum;
  const NodeId terms = sum.call("aten.sin.default", {sum.input("x", DType::Float32, {64, 1024})});
  sum.output({sum.call("aten.sum.dim_IntList", {terms, Argument::list({Argument(1)})})});
  EXPECT_LE(singleCalls(sum, "sinf"), 1);
  GraphFixture narrow;
  const NodeId half = narrow.call("aten.sin.default", {narrow.input("x", DType::BFloat16, {1024})});
  narrow.output({half});
  EXPECT_LE(singleCalls(narrow, "sinf"), 1);
}

/// Of each kind of loop on its own: of as many floats as a register holds, beside elements twice as wide, and with some
/// left over.
TEST(VectorFunctions, LoopsOfAllWidthsHaveTheSameBits) {
  std::vector<Tensor> results;
  std::optional<Tensor> values;
  for (const int kind : {0, 1, 2}) {
    GraphFixture f;
    if (!values) values = testing_support::randomTensor(DType::Float32, {64 * 1024}, f.random);
    const std::int64_t size = kind == 2 ? 64 * 1024 - 3 : 64 * 1024;
    const NodeId x = f.input("x", Tensor(values->storage(), DType::Float32, {size}, {1}, 0));
    const NodeId sine = f.call("aten.sin.default", {x});
    if (kind == 1)
      f.output({f.call("prims.convert_element_type.default", {sine, Argument(DType::Float64)})});
    else
      f.output({sine});
    const auto graph = compileFx(f.module, {});
    ASSERT_TRUE(graph) << graph.error().text();
    const auto outs = (*graph)->run(f.inputs);
    ASSERT_TRUE(outs);
    results.push_back(outs->isList() ? outs->list()[0].tensor() : outs->tensor());
  }
  for (std::int64_t i = 0; i < 64 * 1024 - 3; ++i) {
    ASSERT_EQ(results[0].itemAsDouble(i), results[1].itemAsDouble(i)) << i;
    ASSERT_EQ(results[0].itemAsDouble(i), results[2].itemAsDouble(i)) << i;
  }
}

TEST(VectorFunctions, WidthsHaveTheSameBits) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {64, 1024}), d = f.input("d", DType::Float64, {64, 1024});
  const NodeId sine = f.call("aten.sin.default", {x});
  const NodeId wide =
      f.call("aten.sin.default", {f.call("prims.convert_element_type.default", {d, Argument(DType::Float32)})});
  const NodeId pow = f.call("aten.pow.Tensor_Tensor", {f.call("aten.abs.default", {x}), x});
  f.output(
      {sine, f.call("aten.add.Tensor", {sine, Argument(0.0)}), f.call("aten.add.Tensor", {wide, d}), wide, pow,
       f.call("aten.add.Tensor", {f.call("prims.convert_element_type.default", {pow, Argument(DType::Float64)}), d})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto outs = (*graph)->run(f.inputs);
  ASSERT_TRUE(outs);
  const auto at = [&](std::size_t o, std::int64_t i) { return outs->list()[o].tensor().itemAsDouble(i); };
  for (std::int64_t i = 0; i < 64 * 1024; ++i) {
    ASSERT_EQ(at(0, i), at(1, i)) << i;
    ASSERT_EQ(at(2, i), at(3, i) + f.inputs[1].tensor().itemAsDouble(i)) << i;
    ASSERT_EQ(at(5, i), at(4, i) + f.inputs[1].tensor().itemAsDouble(i)) << i;
  }
}

// Arithmetic in place of a function: on floats of all magnitudes, thinned out.
TEST(VectorFunctions, WrittenOutOnesKeepTheirBounds) {
  struct Bound {
    UnaryFunction function;
    double units;
  };
  const Bound bounds[] = {{{"exp", std::exp}, 1.1}, {{"erf", std::erf}, 1.2}, {{"tanh", std::tanh}, 2.5}};
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 20011) values.push_back(std::bit_cast<float>(bits));
  for (std::uint32_t bits = 0x3a000000u; bits < 0x42000000u; bits += 911) values.push_back(-std::bit_cast<float>(bits));
  for (const Bound& bound : bounds) {
    GraphFixture f;
    f.output({f.call(opName(bound.function), {f.input("x", tensorOf(DType::Float32, values))})});
    const auto graph = compileFx(f.module, {});
    ASSERT_TRUE(graph) << graph.error().text();
    if (graph.value()->kernels().at(0).text("llvm").find("llvm.fma") == std::string::npos) GTEST_SKIP();
    const auto outs = (*graph)->run(f.inputs);
    ASSERT_TRUE(outs);
    const Tensor out = outs->isTensor() ? outs->tensor() : outs->list()[0].tensor();
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      worst = std::max(worst, distance(out.data<float>()[i], bound.function.exact((long double)(values[i]))));
    EXPECT_LE(worst, bound.units) << bound.function.op;
    EXPECT_GT(worst, 0.4) << bound.function.op;
  }
}

TEST(VectorFunctions, SomeAreWrittenOut) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {1000});
  const NodeId product = f.call("aten.mul.Tensor", {f.call("aten.exp.default", {x}), f.call("aten.erf.default", {x})});
  f.output({f.call("aten.mul.Tensor", {product, f.call("aten.tanh.default", {x})})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const std::string code((*graph)->kernels().at(0).text("llvm"));
  if (code.find("llvm.fma") == std::string::npos) GTEST_SKIP() << "this processor has no fused products";
  EXPECT_EQ(code.find("expf"), std::string::npos);
  EXPECT_EQ(code.find("erff"), std::string::npos);
  EXPECT_EQ(code.find("tanhf"), std::string::npos);
}

}  // namespace
}  // namespace kerf
