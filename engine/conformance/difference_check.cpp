#include "engine/conformance/difference_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/conformance/saved_results.h"
#include "engine/conformance/step_recorder.h"

namespace kerf::inline conformance {
namespace {

using Outcome = DifferenceCheck::Outcome;

constexpr std::array stepSizes{1e-3, 1e-4, 1e-5, 1e-6};
/// Differences of two neighbouring steps agree this well where a function is smooth.
constexpr double smoothness = 1e-5;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) total += a[i] * b[i];
  return total;
}

double absoluteDot(const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) total += std::abs(a[i] * b[i]);
  return total;
}

bool allFinite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

/// A number beside those of the step sizes; the smallest error is what counts.
struct Slopes {
  std::vector<double> values;
  double scale = 0;

  double error(double value) const {
    double best = std::numeric_limits<double>::infinity();
    for (const double slope : values)
      if (const double error = std::abs(value - slope) / scale; error < best) best = error;
    return best;
  }
  bool smooth() const {
    for (std::size_t i = 1; i < values.size(); ++i)
      if (std::abs(values[i] - values[i - 1]) <= smoothness * scale) return true;
    return false;
  }
};

/// The call at one point, recorded.
class PointCheck {
 public:
  PointCheck(const DifferencePoint& point, std::mt19937& random)
      : m_point(point), m_random(random), m_recorder(referenceOps()) {}

  /// Forward, and back from random cotangents.
  Result<void> record() {
    BoundArguments args = m_point.arguments();
    for (const DifferenceLeaf leaf : m_point.leaves()) {
      const Tensor handle = m_recorder.leaf(m_point.tensorOf(leaf));
      m_handles.push_back(handle.traced);
      args = replacedTensor(std::move(args), leaf, handle);
    }
    KERF_TRY(m_results, m_point.run(args, m_recorder));
    for (std::size_t k = 0; k < m_results.size(); ++k) m_flows.push_back(!isSavedResult(*args.op, k));
    TracedTensors cotangents;
    for (const Tensor& result : numberTensors(m_results, m_flows)) {
      const Tensor cotangent = randomLike(result, m_random);
      const auto numbers = numbersOf(cotangent);
      m_weights.insert(m_weights.end(), numbers.begin(), numbers.end());
      cotangents.emplace(result.traced, cotangent);
    }
    KERF_TRY(m_gradients, m_recorder.pullBack(cotangents));
    return {};
  }

  const StepRecorder& recorder() const { return m_recorder; }
  bool finite() const { return allFinite(resultNumbers(m_results)); }
  bool hasResults() const { return !numberTensors(m_results, m_flows).empty(); }
  bool hasElements() const { return !m_weights.empty(); }

  /// By one argument along a random direction. None: not smooth here.
  Result<std::optional<DifferenceCheck>> compare(std::size_t at, bool constant) {
    const DifferenceLeaf leaf = m_point.leaves()[at];
    const Tensor direction = m_point.direction(leaf, m_random);
    KERF_TRY(const Slopes slopes, slopesAlong(leaf, direction));
    DifferenceCheck check{constant ? Outcome::Constant : Outcome::Agrees};
    const auto gradient = m_gradients.find(m_handles[at]);
    const double back = gradient == m_gradients.end() ? 0 : dot(numbersOf(gradient->second), numbersOf(direction));
    check.gradientError = slopes.error(back);
    const bool hasForward = m_point.arguments().op->jvp != noDerivativeTangent;
    TracedTensors leaves;
    if (hasForward) leaves.emplace(m_handles[at], direction);
    const auto tangents = m_recorder.pushForward(leaves);
    const double forward = tangents && hasForward ? dot(m_weights, tangentNumbers(*tangents)) : back;
    check.jvpError = slopes.error(forward);
    check.dualError = std::abs(forward - back) / slopes.scale;
    if (check.gradientError <= differenceTolerance && check.jvpError <= differenceTolerance && tangents) return check;
    if (!slopes.smooth()) return std::optional<DifferenceCheck>();
    check.outcome = Outcome::Differs;
    check.text = fmt::format("argument '{}': differences {:.9g}, gradient {:.9g}, jvp {}",
                             m_point.arguments().op->schema.arguments[leaf.argument].name, slopes.values[2], back,
                             tangents ? fmt::format("{:.9g}", forward) : tangents.error().message);
    return check;
  }

 private:
  std::vector<double> resultNumbers(const ValueList& results) const {
    return numbersOf(numberTensors(results, m_flows));
  }

  std::vector<double> tangentNumbers(const TracedTensors& tangents) const {
    std::vector<double> numbers;
    for (const Tensor& result : numberTensors(m_results, m_flows)) {
      const auto found = tangents.find(result.traced);
      const std::size_t count = std::size_t(result.numel()) * (isComplex(result.dtype()) ? 2 : 1);
      const auto own = found == tangents.end() ? std::vector<double>(count) : numbersOf(found->second);
      numbers.insert(numbers.end(), own.begin(), own.end());
    }
    return numbers;
  }

  Result<std::vector<double>> at(DifferenceLeaf leaf, const Tensor& direction, double step) {
    const Tensor moved = movedAlong(m_point.tensorOf(leaf), direction, step);
    KERF_TRY(const ValueList results, m_point.run(m_point.with(leaf, moved), referenceOps()));
    return resultNumbers(results);
  }

  Result<Slopes> slopesAlong(DifferenceLeaf leaf, const Tensor& direction) {
    Slopes slopes;
    for (const double step : stepSizes) {
      KERF_TRY(std::vector<double> differences, at(leaf, direction, step));
      KERF_TRY(const std::vector<double> below, at(leaf, direction, -step));
      for (std::size_t i = 0; i < std::min(differences.size(), below.size()); ++i)
        differences[i] = (differences[i] - below[i]) / (2 * step);
      slopes.values.push_back(dot(m_weights, differences));
      const double scale = absoluteDot(m_weights, differences);
      if (std::isfinite(scale)) slopes.scale = std::max(slopes.scale, scale);
    }
    slopes.scale = std::max(slopes.scale, 1e-6);
    return slopes;
  }

  const DifferencePoint& m_point;
  std::mt19937& m_random;
  StepRecorder m_recorder;
  std::vector<int> m_handles;
  ValueList m_results;
  std::vector<bool> m_flows;
  std::vector<double> m_weights;
  TracedTensors m_gradients;
};

DifferenceCheck skipped(std::string text) { return {Outcome::Skipped, std::move(text)}; }

void keepWorse(DifferenceCheck& total, const DifferenceCheck& next) {
  total.gradientError = std::max(total.gradientError, next.gradientError);
  total.jvpError = std::max(total.jvpError, next.jvpError);
  total.dualError = std::max(total.dualError, next.dualError);
  if (next.outcome != Outcome::Differs || total.outcome == Outcome::Differs) return;
  total.outcome = next.outcome;
  total.text = next.text;
}

/// None: this is no point to look at it.
std::optional<DifferenceCheck> checkPoint(const DifferencePoint& point, std::mt19937& random, std::string& reason) {
  PointCheck check(point, random);
  if (const auto recorded = check.record(); !recorded) {
    if (!check.recorder().hasSteps() && check.recorder().missing().empty()) {
      reason = recorded.error().message;
      return {};
    }
    if (recorded.error().code == ErrorCode::UnsupportedOp && point.field() == NumberField::Complex)
      return skipped("complex: " + recorded.error().message);
    return DifferenceCheck{Outcome::Differs, recorded.error().message};
  }
  if (!check.recorder().missing().empty()) return DifferenceCheck{Outcome::Missing, check.recorder().missing()};
  if (!check.hasResults()) return skipped("no floating-point result");
  if (!check.hasElements()) return skipped("results have no elements");
  if (!check.finite()) {
    reason = "results are not finite";
    return {};
  }
  const bool constant = !check.recorder().hasSteps();
  if (constant && isConstantByDefinition(*point.arguments().op)) return skipped("nothing flows by definition");
  DifferenceCheck total{constant ? Outcome::Constant : Outcome::Agrees};
  for (std::size_t i = 0; i < point.leaves().size(); ++i) {
    const auto leaf = check.compare(i, constant);
    if (!leaf || !*leaf) {
      reason = leaf ? "not smooth at the points that were tried" : leaf.error().message;
      return {};
    }
    keepWorse(total, **leaf);
  }
  return total;
}

const OpInfo& rowOf(const BoundArguments& call) {
  const OpInfo* row = differentiatedRow(*call.op);
  return row != nullptr ? *row : *call.op;
}

}  // namespace

DifferenceCheck checkByDifferences(const BoundArguments& call, NumberField field) {
  if (rowOf(call).gradient == noDerivative) return skipped("PyTorch has no derivative of the op");
  if (writesPlaceTwice(call)) return skipped("two values are written to one place");
  if (readsPadding(call)) return skipped("the row for padding takes no gradient");
  DifferencePoint point(rowOf(call), call, field);
  if (point.leaves().empty()) return skipped("no floating-point argument");
  std::mt19937 random(12);
  std::string reason;
  for (const PointKind kind :
       {PointKind::Nudged, PointKind::Nudged, PointKind::Inside, PointKind::Around, PointKind::Above}) {
    point.moveTo(kind, random);
    if (auto check = checkPoint(point, random, reason)) return std::move(*check);
  }
  return skipped(reason);
}

namespace {

/// Without data, by shape rules.
BoundArguments withoutData(const BoundArguments& call) {
  BoundArguments args = call;
  const auto emptied = [](const auto& self, const Value& value) -> Value {
    if (value.isTensor()) {
      const Tensor& tensor = value.tensor();
      return metaTensor(tensor.dtype(), tensor.symSizes(), tensor.symStrides(), tensor.symOffset());
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) items.push_back(self(self, item));
    return Value(std::move(items));
  };
  for (Value& value : args.values) value = emptied(emptied, value);
  return args;
}

Result<void> runBothWays(const BoundArguments& call, const OpCaller& ops) {
  const StepRecorder recorder(ops);
  BoundArguments args = call;
  args.op = &rowOf(call);
  TracedTensors tangents;
  const auto follow = [&](const auto& self, const Value& value) -> Value {
    if (value.isTensor() && (isFloating(value.tensor().dtype()) || isComplex(value.tensor().dtype()))) {
      const Tensor handle = recorder.leaf(value.tensor());
      tangents.emplace(handle.traced, value.tensor());
      return handle;
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) items.push_back(self(self, item));
    return Value(std::move(items));
  };
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (!isUndifferentiated(*args.op, i)) args.values[i] = follow(follow, args.values[i]);
  const auto result = callRow(*args.op, args, OpRunner(recorder));
  if (!result || !recorder.missing().empty()) return {};  // the other check says so
  const bool several = args.op->schema.returns.size() > 1 && result->isList();
  const ValueList results = several ? result->list() : ValueList{*result};
  std::vector<bool> flows;
  for (std::size_t k = 0; k < results.size(); ++k) flows.push_back(!isSavedResult(*args.op, k));
  TracedTensors cotangents;
  for (const Tensor& tensor : numberTensors(results, flows)) cotangents.emplace(tensor.traced, tensor);
  KERF_CHECK(recorder.pullBack(cotangents));
  if (args.op->jvp != noDerivativeTangent) KERF_CHECK(recorder.pushForward(tangents));
  return {};
}

}  // namespace

DifferenceCheck checkForms(const BoundArguments& call) {
  if (const auto run = runBothWays(call, referenceOps()); !run)
    return {Outcome::Differs, "as recorded: " + run.error().message};
  if (const auto run = runBothWays(withoutData(call), shapeOps()); !run)
    return {Outcome::Differs, "without data: " + run.error().message};
  return {Outcome::Agrees, {}};
}

}  // namespace kerf::inline conformance
