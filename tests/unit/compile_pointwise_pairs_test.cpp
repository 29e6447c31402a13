// Every two functions of one value in one kernel: LLVM makes one call of some pairs (sincosf of sin and cos), which
// must be there.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "engine/pipeline/compile_fx.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

/// Functional ops that one tensor is enough for.
std::vector<std::string> unaryOps() {
  std::vector<std::string> names;
  for (const OpInfo& op : allOps()) {
    const auto& arguments = op.schema.arguments;
    const bool unary = op.lowering.pointwise && arguments.size() > 0 && arguments[0].type == "Tensor" &&
                       arguments[0].alias.empty() && op.schema.name.starts_with("aten::") &&
                       std::ranges::all_of(arguments.begin() + 1, arguments.end(),
                                           [](const auto& a) { return a.defaultValue && a.alias.empty(); });
    if (unary) names.push_back(op.schema.qualifiedName());
  }
  return names;
}

/// Whether the op takes this dtype and says what comes out.
bool takes(const std::string& op, DType dtype) {
  const auto tensor = Tensor::zeros(dtype, {2});
  return tensor && referenceOps().call("torch.ops." + op, {Value(*tensor)}, {}).has_value();
}

double toleranceOf(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 1e-10;
    case DType::Float32:
      return 2e-5;
    case DType::Float16:
      return 4e-3;
    default:
      return 3e-2;
  }
}

/// Each pair has an input of its own size, and so a kernel of its own.
struct Pairs {
  GraphFixture fixture;
  std::vector<std::pair<std::string, std::string>> names;

  explicit Pairs(DType dtype, int stride) {
    std::vector<std::string> ops = unaryOps();
    std::erase_if(ops, [&](const std::string& op) { return !takes(op, dtype); });
    std::vector<NodeId> inputs;
    for (std::size_t a = 0; a < ops.size(); ++a)
      for (std::size_t b = a + 1; b < ops.size(); b += std::size_t(stride)) names.emplace_back(ops[a], ops[b]);
    for (std::size_t p = 0; p < names.size(); ++p)
      inputs.push_back(fixture.input(fmt::format("x{}", p), dtype, {std::int64_t(p) + 3}));
    ArgumentList outputs;
    for (std::size_t p = 0; p < names.size(); ++p)
      for (const std::string& op : {names[p].first, names[p].second})
        outputs.emplace_back(fixture.call(op, {inputs[p]}));
    fixture.module.graph.output(Argument::tuple(std::move(outputs)));
    const auto shapes = propagateShapes(fixture.module);
    EXPECT_TRUE(shapes) << shapes.error().text();
  }
};

void expectPairsRun(DType dtype, int stride) {
  const Pairs pairs(dtype, stride);
  ASSERT_GT(pairs.names.size(), 60u);
  CompileOptions options;
  options.keepArtifacts = false;
  const auto graph = compileFx(pairs.fixture.module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto reference = pairs.fixture.interpret();
  ASSERT_TRUE(reference) << reference.error().text();
  const auto result = (*graph)->run(pairs.fixture.inputs);
  ASSERT_TRUE(result) << result.error().text();
  for (std::size_t i = 0; i < result->list().size(); ++i) {
    const auto& [first, second] = pairs.names[i / 2];
    expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), toleranceOf(dtype),
                fmt::format("{} of {} and {}", i % 2 ? second : first, first, second));
  }
}

/// 1 with KERF_ALL_PAIRS set: a minute for each type.
int stride() { return std::getenv("KERF_ALL_PAIRS") ? 1 : 9; }

TEST(PointwisePairs, OfFloat32) { expectPairsRun(DType::Float32, stride()); }
TEST(PointwisePairs, OfFloat64) { expectPairsRun(DType::Float64, 3 * stride()); }
TEST(PointwisePairs, OfFloat16) { expectPairsRun(DType::Float16, 3 * stride()); }
TEST(PointwisePairs, OfBFloat16) { expectPairsRun(DType::BFloat16, 3 * stride()); }

/// Where every pair meets.
TEST(PointwisePairs, AllFunctionsOfOneValueAreOneKernel) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) {
    GraphFixture f;
    const NodeId x = f.input("x", dtype, {67});
    ArgumentList outputs;
    for (const std::string& op : unaryOps())
      if (takes(op, dtype)) outputs.emplace_back(f.call(op, {x}));
    ASSERT_GT(outputs.size(), 40u);
    f.module.graph.output(Argument::tuple(std::move(outputs)));
    ASSERT_TRUE(propagateShapes(f.module));
    const auto graph = compileFx(f.module, {});
    ASSERT_TRUE(graph) << graph.error().text();
    const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
    ASSERT_TRUE(result) << result.error().text();
    for (std::size_t i = 0; i < result->list().size(); ++i)
      expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), toleranceOf(dtype),
                  fmt::format("output {}", i));
  }
}

TEST(PointwisePairs, SineAndCosineAreOneKernel) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) {
    GraphFixture f;
    const NodeId x = f.input("x", dtype, {37});
    f.output({f.call("aten.sin.default", {x}), f.call("aten.cos.default", {x})});
    const auto graph = compileFx(f.module, {});
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_EQ((*graph)->kernels().size(), 1u);
    const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
    ASSERT_TRUE(result) << result.error().text();
    for (const std::size_t i : {0, 1})
      expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), toleranceOf(dtype), "sin and cos");
  }
}

/// Element `i` of the graph's only output, by the interpreter and by the compiled graph.
std::pair<double, double> bothEngines(const std::string& call, const Tensor& x, std::int64_t i) {
  const std::string dtype(dtypeInfo(x.dtype()).shortCode);
  const auto module = testing_support::parsed(
      fmt::format("\nclass GraphModule(torch.nn.Module):\n    def forward(self, x: \"{0}[{1}]\"):\n"
                  "        out: \"{0}[{1}]\" = torch.ops.aten.{2}\n        return (out,)\n",
                  dtype, x.numel(), call)
          .c_str());
  const auto graph = compileFx(module, {});
  EXPECT_TRUE(graph) << graph.error().text();
  const auto reference = Interpreter(module, referenceOps()).run({Value(x)}), result = (*graph)->run({Value(x)});
  EXPECT_TRUE(reference && result);
  return {testing_support::partsOf(*reference)[0].tensor().itemAsDouble(i),
          testing_support::partsOf(*result)[0].tensor().itemAsDouble(i)};
}

TEST(CornerValues, PowersAndSignsAreTheSameInBothEngines) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Tensor corners = *Tensor::zeros(DType::Float64, {5});
  std::ranges::copy(std::array{-inf, -0.0, 0.0, inf, std::nan("")}, corners.data<double>());
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16})
    for (const auto* call : {"pow.Tensor_Scalar(x, 0.5)", "pow.Tensor_Scalar(x, -0.5)", "sign.default(x)"})
      for (std::int64_t i = 0; i < corners.numel(); ++i) {
        const auto [reference, compiled] = bothEngines(call, *corners.to(dtype), i);
        SCOPED_TRACE(fmt::format("{} of {} in {}", call, corners.itemAsDouble(i), dtypeInfo(dtype).torchName));
        EXPECT_EQ(std::isnan(reference), std::isnan(compiled)) << reference << " and " << compiled;
        if (std::isnan(reference)) continue;
        EXPECT_EQ(reference, compiled);
        EXPECT_EQ(std::signbit(reference), std::signbit(compiled));
      }
}

}  // namespace
}  // namespace kerf
