#include "engine/align/cancellation.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/align/value_gap.h"

namespace kerf::inline align {

namespace {

/// From so much cancellation on, beyond that of random signs, rounding is told by it.
constexpr double leastCancellation = 8;
/// Differences of sums vary: so many times their expected size is still rounding.
constexpr double spread = 3;

/// The values that a step sums, as far as sums of magnitudes tell: their magnitudes, their number, and how many of them
/// make one result.
struct Summed {
  double magnitudes = 0, values = 0, terms = 1;
};

double magnitudeOf(const StepValue& value) {
  return value.l1 && std::isfinite(*value.l1) && value.shaped ? *value.l1 : -1;
}

std::optional<Summed> summedElements(const RunStep& step, const StepValue& result, bool averages) {
  if (step.inputs.empty()) return std::nullopt;
  const StepValue& taken = step.inputs.front();
  const double count = double(taken.elements()), results = double(result.elements());
  if (magnitudeOf(taken) < 0 || results < 1 || count < results) return std::nullopt;
  return Summed{magnitudeOf(taken) * (averages ? results / count : 1.0), count, count / results};
}

/// Operands of an addition, each of the result's size.
std::optional<Summed> addedOperands(const RunStep& step, const StepValue& result) {
  Summed summed{.values = double(result.elements())};
  int operands = 0;
  for (const StepValue& taken : step.inputs) {
    if (magnitudeOf(taken) < 0 || taken.elements() != result.elements()) return std::nullopt;
    summed.magnitudes += magnitudeOf(taken);
    ++operands;
  }
  return operands == 2 ? std::optional(summed) : std::nullopt;
}

/// Two matrices, or batches of them; of three operands the first is added, and left out. The products' magnitudes are
/// those of matrices whose rows and columns are alike.
std::optional<Summed> summedProducts(const RunStep& step, const StepValue& result) {
  std::vector<const StepValue*> matrices;
  for (const StepValue& taken : step.inputs)
    if (taken.shape.size() >= 2 && magnitudeOf(taken) >= 0) matrices.push_back(&taken);
  if (matrices.size() < 2 || result.shape.size() < 2) return std::nullopt;
  const StepValue &a = *matrices[matrices.size() - 2], &b = *matrices.back();
  const double terms = double(a.shape.back());
  const double batches = result.shape.size() > 2 ? double(result.shape.front()) : 1.0;
  if (terms < 1 || batches < 1 || double(b.shape[b.shape.size() - 2]) != terms) return std::nullopt;
  return Summed{magnitudeOf(a) * magnitudeOf(b) / (terms * batches), double(result.elements()) * terms, terms};
}

std::optional<Summed> summedBy(const RunStep& step, const StepValue& result) {
  const std::string_view op = shortOpName(step.op);
  if (op == "native_layer_norm" && step.outputs.size() > 1 && &result == &step.outputs[1])
    return summedElements(step, result, true);  // the means of the rows
  if (op == "sum" || op == "mean") return summedElements(step, result, op == "mean");
  if (op == "add" || op == "sub") return addedOperands(step, result);
  if (op == "mm" || op == "bmm" || op == "addmm" || op == "baddbmm") return summedProducts(step, result);
  return std::nullopt;
}

}  // namespace

RoundingNoise roundingNoise(const RunStep& step, const StepValue& result) {
  const double own = magnitudeOf(result);
  if (step.kernel || own <= 0) return {};
  const auto summed = summedBy(step, result);
  if (!summed || summed->magnitudes <= 0) return {};
  if (summed->magnitudes < leastCancellation * std::sqrt(summed->terms) * own) return {};
  // Values that are summed to themselves are off as their own sum is.
  const double results = summed->terms > 1 ? double(result.elements()) : 1.0;
  return {roundingOf(result.dtype) * summed->magnitudes, spread * std::sqrt(results) * summed->magnitudes};
}

NoiseTable noiseTable(const std::vector<RunStep>& steps) {
  NoiseTable table;
  for (const RunStep& step : steps)
    for (const StepValue& result : step.outputs)
      if (const RoundingNoise noise = roundingNoise(step, result); noise.own > 0) table.emplace(&result, noise);
  return table;
}

}  // namespace kerf::inline align
