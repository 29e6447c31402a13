#include "app/workbench/align/step_rerun.h"

#include <algorithm>
#include <cmath>

#include "engine/accuracy/fp64_run.h"
#include "engine/accuracy/own_attributes.h"
#include "engine/accuracy/run_inputs.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

constexpr std::chrono::seconds mostRerunTime{60};
/// How much more than in a rerun rounding may make: another order of sums, another library's functions.
constexpr double otherImplementation = 8;

using Numbers = std::vector<double>;

/// What one side recorded, and what its step gives in its own dtypes and in float64.
struct RerunSide {
  Numbers recorded, own, wide;
};

Result<Numbers> numbersOf(const Value& value) {
  const Value* one = &value;
  if (value.isList() && value.list().size() == 1) one = &value.list().front();
  if (!one->isTensor()) return fail(ErrorCode::RuntimeFailed, "the step gives no tensor");
  KERF_TRY(const Tensor wide, inFloat64(one->tensor()));
  if (wide.dtype() != DType::Float64) return fail(ErrorCode::RuntimeFailed, "the step gives no floats");
  KERF_TRY(const Tensor flat, wide.clone());
  const double* data = flat.data<double>();
  return Numbers(data, data + flat.numel());
}

Result<RerunSide> rerun(const StepGraph& step, const Tensor& recorded) {
  const ResultNames names(step.module);
  KERF_TRY(const GraphModule own, withOwnAttributes(step.module, names.attributes));
  const RandomScope random;
  RerunSide side;
  KERF_TRY(const ValueList given, inputsForRun(step.inputs, names));
  Interpreter interpreter(own, referenceOps());
  KERF_TRY(const Value value, interpreter.run(given));
  KERF_TRY(side.own, numbersOf(value));
  KERF_TRY(auto wide, Float64Run::start(own, referenceOps(), step.inputs, names, {}, {}));
  KERF_TRY(const RunResults results, wide.finish());
  KERF_TRY(side.wide, numbersOf(results.outputs));
  KERF_TRY(side.recorded, numbersOf(Value(recorded)));
  if (side.own.size() != side.recorded.size() || side.wide.size() != side.recorded.size())
    return fail(ErrorCode::RuntimeFailed, "the step gives another shape");
  return side;
}

/// Root of the sum of squares of what `at` gives for each place.
template <class At>
double rootOfSquares(std::size_t count, const At& at) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += at(i) * at(i);
  return std::sqrt(sum);
}

double apart(const Numbers& a, const Numbers& b) {
  return rootOfSquares(a.size(), [&](std::size_t i) { return a[i] - b[i]; });
}

/// How far the recorded results are apart beyond the reruns: both numbers relative to the first result.
struct RerunFigures {
  bool known = false;
  double own = 0, allowed = 0;

  KERF_FIELDS(known, own, allowed)
};

RerunFigures figuresOf(const RerunSide& a, const RerunSide& b, double rounding) {
  if (a.recorded.size() != b.recorded.size()) return {};
  const std::size_t count = a.recorded.size();
  const auto size = [&](const RerunSide& side) { return rootOfSquares(count, [&](auto i) { return side.wide[i]; }); };
  const double scale = std::max(size(a), size(b));
  const double own =
      rootOfSquares(count, [&](std::size_t i) { return (b.recorded[i] - a.recorded[i]) - (b.wide[i] - a.wide[i]); });
  const double rounded = otherImplementation * std::max(apart(a.own, a.wide), apart(b.own, b.wide));
  const double allowed = std::max(rounding * scale, rounded);
  const double nearest = std::min(apart(a.recorded, a.wide), apart(b.recorded, b.wide));
  if (!(scale > 0) || !std::isfinite(own) || !std::isfinite(allowed) || !(nearest <= allowed)) return {};
  return {true, own / scale, allowed / scale};
}

}  // namespace

std::optional<RerunGap> StepReruns::gapOf(const StepPair& steps) {
  const std::size_t place = steps.b.back();
  const auto known = m_known.find(place);
  return known != m_known.end() ? known->second : m_known.emplace(place, run(steps)).first->second;
}

std::optional<RerunGap> StepReruns::run(const StepPair& steps) {
  AlignedPair pair{.steps = steps};
  const auto results = m_steps.results(pair);
  if (!results) return std::nullopt;
  const auto a = m_steps.graphOf(pair), b = m_steps.graphOfB(pair);
  if (!a || !b) return std::nullopt;
  if (m_runs == mostReruns) {
    ++m_left;
    return std::nullopt;
  }
  if (!m_job.progress("running steps again", 0.6)) return std::nullopt;
  ++m_runs;
  const double rounding = elementRoundingOf(dtypeInfo(results->first.dtype()).shortCode);
  const std::function body = [&]() -> Result<RerunFigures> {
    KERF_TRY(const RerunSide mine, rerun(*a, results->first));
    KERF_TRY(const RerunSide theirs, rerun(*b, results->second));
    return figuresOf(mine, theirs, rounding);
  };
  const auto figures =
      inChild(body, patientLimits(mostRerunTime), m_job.stop, "running a step again", ErrorCode::RuntimeFailed);
  if (!figures || !figures->known) return std::nullopt;
  return RerunGap{figures->own, figures->allowed};
}

}  // namespace kerf::workbench
