#include "engine/process/in_child.h"

namespace kerf::inline process {

Error errorOfEnd(const IsolatedOutcome& outcome, std::string_view doing, ErrorCode code) {
  if (outcome.exit == IsolatedExit::Cancelled) return {ErrorCode::Cancelled, fmt::format("stopped while {}", doing)};
  if (outcome.exit == IsolatedExit::TimedOut) {
    const auto seconds = std::chrono::duration<double>(outcome.time).count();
    return {code, fmt::format("{} did not come to an end within {:.0f} s", doing, seconds)};
  }
  return {code, fmt::format("{} crashed ({})", doing, outcome.signalName())};
}

IsolationLimits patientLimits(std::chrono::milliseconds timeout) {
  IsolationLimits limits;
  limits.timeout = timeout.count() > 0 ? timeout : noTimeLimit;
  limits.limitResources = false;
  limits.threads = 0;
  return limits;
}

}  // namespace kerf::inline process
