// The recorded AOT graphs, run node by node: fp32 against out*, fp64 (after the cast) against out64_*.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "engine/accuracy/same_two_models.h"
#include "engine/capture/common/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/tensor/safetensors.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

void flatten(const Value& value, ValueList& into) {
  if (!value.isList()) return into.push_back(value);
  for (const Value& item : value.list()) flatten(item, into);
}

double largest(const Tensor& tensor) {
  double result = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) result = std::max(result, std::abs(tensor.itemAsDouble(i)));
  return result;
}

double largestDifference(const Tensor& a, const Tensor& b) {
  double result = 0;
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.itemAsDouble(i), y = b.itemAsDouble(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    result = std::isfinite(x - y) ? std::max(result, std::abs(x - y)) : std::numeric_limits<double>::infinity();
  }
  return result;
}

/// Where the exact result is zero (a bias before a normalisation) the recording holds nothing but rounding noise: there
/// Kerf must be as close to the fp64 recording as PyTorch's own result is, within a factor of three.
bool asCloseToExact(const Tensor& actual, const Tensor& expected, const Tensor* exact) {
  return exact && exact->sizes() == actual.sizes() &&
         largestDifference(actual, *exact) <= 3 * largestDifference(expected, *exact);
}

void expectAnnotated(const Node& node, const Value& value) {
  const TensorMeta* meta = node.meta().value.tensor();
  if (!meta || !value.isTensor()) return;
  EXPECT_EQ(meta->concreteSizes(), value.tensor().sizes()) << node.name();
  EXPECT_EQ(meta->concreteStrides(), value.tensor().strides()) << node.name();
  EXPECT_EQ(meta->dtype, value.tensor().dtype()) << node.name();
}

/// Model and graph.
class GoldenGraphs : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void compare(const Value& result, const SafetensorsFile& io, const std::string& prefix, double tolerance) {
    ValueList outs;
    flatten(result, outs);
    double scale = 0;
    for (std::size_t i = 0; i < outs.size(); ++i)
      if (const Tensor* expected = io.find(prefix + std::to_string(i)); expected && isFloating(expected->dtype()))
        scale = std::max(scale, largest(*expected));
    int compared = 0;
    for (std::size_t i = 0; i < outs.size(); ++i) {
      const Tensor* expected = io.find(prefix + std::to_string(i));
      if (!expected) continue;
      ASSERT_TRUE(outs[i].isTensor()) << prefix << i;
      ASSERT_EQ(outs[i].tensor().sizes(), expected->sizes()) << prefix << i;
      ASSERT_EQ(outs[i].tensor().dtype(), expected->dtype()) << prefix << i;
      const double error = largestDifference(outs[i].tensor(), *expected);
      const Tensor* exact = io.find("out64_" + std::to_string(i));
      const bool wide = prefix == "out64_";
      const double floor = wide ? scale * 1e-2 : 0;  // no recording is more exact than the fp64 one
      if (error <= tolerance * std::max(largest(*expected), floor))
        ++compared;
      else
        EXPECT_TRUE(!wide && asCloseToExact(outs[i].tensor(), *expected, exact) && ++compared)
            << prefix << i << ": difference " << error << " at size " << largest(*expected);
    }
    EXPECT_GT(compared, 0);
  }
};

TEST_P(GoldenGraphs, EqualTheRecording) {
  const auto& [model, name] = GetParam();
  const auto folder = recordingsFolder() / "golden" / model;
  const auto recording = folder / (name + "_io.safetensors");
  if (!std::filesystem::exists(recording)) GTEST_SKIP() << testing::leftOut(recording);
  auto capture = importCapture(folder / "repro" / (name + ".py"));
  ASSERT_TRUE(capture) << capture.error().text();
  CapturedGraph& graph = capture->graphs.at(0);
  const auto annotated = graph.annotateShapes();
  ASSERT_TRUE(annotated) << annotated.error().text();
  const auto inputs = graph.loadInputs(true, nullptr);
  ASSERT_TRUE(inputs) << inputs.error().text();
  const auto io = readSafetensors(recording);
  ASSERT_TRUE(io) << io.error().text();

  Interpreter interpreter(graph.module, referenceOps());
  interpreter.onNode = expectAnnotated;
  const auto result = interpreter.run(*inputs);
  ASSERT_TRUE(result) << result.error().text();
  compare(*result, *io, "out", 1e-5);

  const auto wideModule = castToFp64(graph.module);
  ASSERT_TRUE(wideModule) << wideModule.error().text();
  const auto wideInputs = cloneInputs(*inputs, true);
  ASSERT_TRUE(wideInputs);
  const auto wide = Interpreter(*wideModule, referenceOps()).run(*wideInputs);
  ASSERT_TRUE(wide) << wide.error().text();
  compare(*wide, *io, "out64_", 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenGraphs,
                         ::testing::Combine(::testing::Values("mlp", "convbn", "attention", "dlrm", "bert_mini",
                                                              "convnext_mini", "gpt2_mini", "timm_test_efficientnet"),
                                            ::testing::Values("infer_forward", "train_forward", "train_backward")),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace kerf
