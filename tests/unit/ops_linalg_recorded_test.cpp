// Linear algebra and FFT against recorded calls: shapes, dtypes and strides exactly, values within rounding.
#include <cmath>
#include <complex>
#include <map>

#include "recorded_json.h"

namespace kerf {
namespace {

using namespace testing;

/// Eigenvectors and singular vectors are known up to a phase, so their absolute values are compared.
bool vectorsUpToPhase(const std::string& op, std::size_t output) {
  if (op == "aten._linalg_svd.default") return output != 1;
  return (op == "aten._linalg_eigh.default" || op == "aten.linalg_eig.default") && output == 1;
}

std::vector<std::complex<double>> valuesOf(const Tensor& tensor) {
  Tensor wide = *Tensor::zeros(DType::Complex128, tensor.sizes());
  EXPECT_TRUE(copyElements(tensor, wide));
  return {wide.data<std::complex<double>>(), wide.data<std::complex<double>>() + wide.numel()};
}

bool isDouble(DType dtype) { return dtype == DType::Float64 || dtype == DType::Complex128; }

/// Empty when they agree.
std::string difference(const Tensor& got, const Tensor& want, bool phaseFree) {
  if (got.dtype() != want.dtype()) return fmt::format("dtype {}", dtypeInfo(got.dtype()).torchName);
  if (got.sizes() != want.sizes()) return fmt::format("sizes [{}]", fmt::join(got.sizes(), ", "));
  if (got.numel() > 0 && got.strides() != want.strides())
    return fmt::format("strides [{}] instead of [{}]", fmt::join(got.strides(), ", "), fmt::join(want.strides(), ", "));
  const auto a = valuesOf(got), b = valuesOf(want);
  double scale = 1;
  for (const auto& z : b) scale = std::max(scale, std::isfinite(std::abs(z)) ? std::abs(z) : 0);
  const double tolerance = scale * (isDouble(want.dtype()) ? 1e-9 : 2e-3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = phaseFree ? std::abs(std::abs(a[i]) - std::abs(b[i])) : std::abs(a[i] - b[i]);
    if (!(error <= tolerance) && !(std::isnan(std::abs(a[i])) && std::isnan(std::abs(b[i]))) && a[i] != b[i])
      return fmt::format("element {}: {}{:+}j instead of {}{:+}j", i, a[i].real(), a[i].imag(), b[i].real(),
                         b[i].imag());
  }
  return {};
}

TEST(LinalgRecorded, EveryCallAgrees) {
  const Json recording = readRecording("linalg");
  ASSERT_TRUE(recording.is_object());
  std::map<std::string, std::string> failures;
  int checked = 0;
  for (const Json& json : recording.at("cases")) {
    const RecordedStep step = stepFrom(json);
    const auto result = referenceOps().call(step.op, step.args, step.kwargs);
    ++checked;
    if (json.contains("error")) {
      if (result) failures[step.op] = "should fail: " + json.at("error").get<std::string>();
      continue;
    }
    if (!result) {
      failures[step.op] = result.error().text();
      continue;
    }
    const auto results = resultsOf(*result);
    const Json& wanted = json.at("out");
    ASSERT_EQ(results.size(), wanted.size()) << step.op;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string text =
          difference(results[i].tensor(), tensorFrom(wanted[i].at("tensor")), vectorsUpToPhase(step.op, i));
      if (!text.empty()) failures[step.op] = fmt::format("output {}: {} {}", i, text, json.at("kwargs").dump());
    }
  }
  EXPECT_GT(checked, 350);
  for (const auto& [op, text] : failures) ADD_FAILURE() << op << ": " << text;
}

}  // namespace
}  // namespace kerf
