// Every recorded graph: the compiled result against the recording, the interpreter, and in other dtypes.
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/accuracy/same.h"
#include "engine/capture/common/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/dtype_module.h"
#include "engine/tensor/safetensors.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

struct Golden {
  std::string model, graph;
  friend void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.model << "/" << golden.graph; }
};

std::vector<Golden> goldenGraphs() {
  std::vector<Golden> all;
  for (const char* model :
       {"attention", "bert_mini", "convbn", "convnext_mini", "dlrm", "gpt2_mini", "mlp", "timm_test_efficientnet"})
    for (const char* graph : {"infer_forward", "train_forward", "train_backward"}) all.push_back({model, graph});
  return all;
}

double maxError(const Tensor& reference, const Tensor& result) {
  double difference = 0;
  for (std::int64_t i = 0; i < reference.numel(); ++i) {
    const double a = reference.itemAsDouble(i), b = result.itemAsDouble(i);
    if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
    difference = std::max(difference, std::isnan(a - b) ? 1e30 : std::abs(a - b));
  }
  return difference;
}

double largest(const Tensor& tensor) {
  double most = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    if (std::isfinite(tensor.itemAsDouble(i))) most = std::max(most, std::abs(tensor.itemAsDouble(i)));
  return most;
}

class GoldenGraphs : public ::testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    const auto folder = recordingsFolder() / "golden" / GetParam().model;
    const auto recording = folder / (GetParam().graph + "_io.safetensors");
    if (!std::filesystem::exists(recording)) GTEST_SKIP() << testing::leftOut(recording);
    auto capture = importCapture(folder / "repro" / (GetParam().graph + ".py"));
    ASSERT_TRUE(capture) << capture.error().text();
    m_graph = std::move(capture->graphs.at(0));
    auto inputs = m_graph.loadInputs(true, nullptr);
    ASSERT_TRUE(inputs) << inputs.error().text();
    m_inputs = *inputs;
    auto annotated = m_graph.annotateShapes();
    ASSERT_TRUE(annotated) << annotated.error().text();
    auto expected = readSafetensors(recording);
    ASSERT_TRUE(expected) << expected.error().text();
    m_expected = std::move(*expected);
  }

  /// Values that are 0 but for rounding agree with no other program: the recording's own error is the measure there.
  double recordedNoise(std::size_t i) const {
    const Tensor* own = m_expected.find("out" + std::to_string(i));
    const Tensor* wide = m_expected.find("out64_" + std::to_string(i));
    return own && wide ? 8 * maxError(*own, *wide) : 0;
  }

  void expectRecorded(const Value& result, const std::string& prefix, double tolerance) {
    ASSERT_TRUE(result.isList());
    for (std::size_t i = 0; i < result.list().size(); ++i) {
      const Tensor* recorded = m_expected.find(prefix + std::to_string(i));
      if (!recorded) continue;
      ASSERT_TRUE(result.list()[i].isTensor()) << i;
      ASSERT_EQ(recorded->sizes(), result.list()[i].tensor().sizes()) << i;
      const double error = maxError(*recorded, result.list()[i].tensor());
      const double noise = recordedNoise(i) * (prefix == "out" ? 1 : 0x1p-29);
      EXPECT_TRUE(error <= noise || error <= tolerance * largest(*recorded))
          << prefix << i << ": error " << error << ", noise " << noise << ", largest " << largest(*recorded);
    }
  }

  void expectSameInDtype(DType dtype) {
    auto cast = castGraph(m_graph.module, m_inputs, dtype);
    ASSERT_TRUE(cast) << cast.error().text();
    Interpreter interpreter(cast->module, referenceOps());
    auto reference = interpreter.run(cast->inputs);
    auto compiled = compileFx(cast->module);
    ASSERT_EQ(reference.has_value(), compiled.has_value())
        << (compiled ? reference.error().text() : compiled.error().text());
    if (!reference) GTEST_SKIP() << "the interpreter refuses: " << reference.error().text();
    auto result = (*compiled)->run(cast->inputs);
    ASSERT_TRUE(result) << result.error().text();
    SameOptions options;
    options.tolerance = dtype == DType::Float64 ? 1e-10 : 2e-2;
    options.equalNan = true;
    const SameReport report = same(*reference, *result, Value(), options);
    for (const auto& verdict : report.outputs) EXPECT_TRUE(verdict.same) << verdict.name << ": " << verdict.reason;
  }

  CapturedGraph m_graph;
  ValueList m_inputs;
  SafetensorsFile m_expected;
};

TEST_P(GoldenGraphs, CompiledEqualsTheRecording) {
  auto compiled = compileFx(m_graph.module);
  ASSERT_TRUE(compiled) << compiled.error().text();
  for (int round = 0; round < 2; ++round) {
    auto result = (*compiled)->run(m_inputs);
    ASSERT_TRUE(result) << result.error().text();
    expectRecorded(*result, "out", 1e-5);
  }
}

TEST_P(GoldenGraphs, CompiledEqualsTheInterpreterWithItsStrides) {
  auto compiled = compileFx(m_graph.module);
  ASSERT_TRUE(compiled) << compiled.error().text();
  auto result = (*compiled)->run(m_inputs);
  ASSERT_TRUE(result) << result.error().text();
  auto reference = Interpreter(m_graph.module, referenceOps()).run(m_inputs);
  ASSERT_TRUE(reference) << reference.error().text();
  ASSERT_EQ(reference->list().size(), result->list().size());
  for (std::size_t i = 0; i < result->list().size(); ++i) {
    ASSERT_EQ(reference->list()[i].isTensor(), result->list()[i].isTensor()) << i;
    if (!result->list()[i].isTensor()) continue;
    const Tensor &a = reference->list()[i].tensor(), &b = result->list()[i].tensor();
    EXPECT_EQ(a.dtype(), b.dtype()) << i;
    EXPECT_EQ(a.sizes(), b.sizes()) << i;
    EXPECT_LE(maxError(a, b), std::max(1e-5 * std::max(largest(a), 1e-3), largest(a) < 1e-6 ? recordedNoise(i) : 0))
        << i;
    for (std::int64_t d = 0; d < a.dim(); ++d)
      EXPECT_TRUE(a.size(d) == 1 || a.stride(d) == b.stride(d)) << "output " << i << " dimension " << d;
  }
}

TEST_P(GoldenGraphs, UnfusedEqualsTheRecording) {
  CompileOptions options;
  options.fuse = false;
  options.optimizationLevel = 0;
  auto compiled = compileFx(m_graph.module, options);
  ASSERT_TRUE(compiled) << compiled.error().text();
  auto result = (*compiled)->run(m_inputs);
  ASSERT_TRUE(result) << result.error().text();
  expectRecorded(*result, "out", 1e-5);
}

TEST_P(GoldenGraphs, Float64EqualsTheRecording) {
  auto cast = castGraph(m_graph.module, m_inputs, DType::Float64);
  ASSERT_TRUE(cast) << cast.error().text();
  auto compiled = compileFx(cast->module);
  ASSERT_TRUE(compiled) << compiled.error().text();
  auto result = (*compiled)->run(cast->inputs);
  ASSERT_TRUE(result) << result.error().text();
  expectRecorded(*result, "out64_", 1e-12);
}

TEST_P(GoldenGraphs, BFloat16EqualsTheInterpreter) { expectSameInDtype(DType::BFloat16); }
TEST_P(GoldenGraphs, Float16EqualsTheInterpreter) { expectSameInDtype(DType::Float16); }

INSTANTIATE_TEST_SUITE_P(Corpus, GoldenGraphs, ::testing::ValuesIn(goldenGraphs()),
                         [](const auto& info) { return info.param.model + "_" + info.param.graph; });

}  // namespace
}  // namespace kerf
