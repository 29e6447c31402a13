#include "app/workbench/minify/minify_events.h"

#include <algorithm>

#include "app/workbench/minify/reduction_log.h"

namespace kerf::workbench {

MinifyWorkEvent workEvent(const MinifyActivity& activity) {
  constexpr std::string_view verdicts[] = {"passes", "fails", "fails_differently", "cannot_test"};
  const bool isVerdict = activity.kind == MinifyActivity::Kind::Answered;
  return {MinifyWorkEvent::Kind(activity.kind),
          activity.reduction,
          activity.query,
          activity.worker,
          std::int64_t(activity.nodes),
          std::string(isVerdict ? verdicts[std::size_t(activity.verdict)] : ""),
          activity.fingerprint,
          activity.time,
          activity.cached,
          activity.accepted};
}

MinifyEvent minifyEvent(const MinifyProgress& progress, const ReductionLog& log) {
  const auto& step = progress.step;
  return {log.idText(),
          step.reduction,
          step.fingerprint,
          step.accepted,
          std::int64_t(step.size.nodes),
          step.size.inputBytes,
          std::int64_t(step.size.outputs),
          std::max(log.startNodes(), 0),
          std::int64_t(progress.best.nodes),
          step.test + log.testsBefore(),
          step.elapsed,
          progress.secondsLeft,
          progress.slips,
          progress.slip != nullptr ? log.slipText(*progress.slip) : std::string(),
          step.index};
}

}  // namespace kerf::workbench
