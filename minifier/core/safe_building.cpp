// SafeBuilding: guarded calls, and rehearsals in a child once something has crashed.
#include "minifier/core/safe_building.h"

#include <atomic>

#include "engine/process/crash_guard.h"
#include "engine/process/isolation.h"
#include "engine/process/wait.h"
#include "engine/support/log.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline minifier::inline core {

namespace {

/// A crash leaves memory that nobody should trust: the next one had better happen in a child.
std::atomic<bool> hasCrashed = false;

/// Of one rehearsal; the longest that an edit takes is a run of the graph in the interpreter.
constexpr std::chrono::minutes longestRehearsal{10};

}  // namespace

std::optional<Candidate> SafeBuilding::build(const std::string& what,
                                             const std::function<std::optional<Candidate>()>& build) {
  std::optional<Candidate> built;
  return endsWell(what, [&] { built = build(); }) ? std::move(built) : std::nullopt;
}

std::vector<Edit> SafeBuilding::edits(const Reduction& reduction, const ReductionInput& input, ResumePoint resume) {
  std::vector<Edit> edits;
  const bool isGood = endsWell(reduction.name, [&] { edits = reduction.edits(input, resume); });
  return isGood ? std::move(edits) : std::vector<Edit>();
}

bool SafeBuilding::endsWell(const std::string& what, const std::function<void()>& work) {
  if (hasCrashed && !endsWellElsewhere(what, work)) return false;
  try {
    const auto signal = crashOf(work);
    if (!signal) return true;
    hasCrashed = true;
    return lost(what, nameOfSignal(*signal));
  } catch (const SymbolicFailure& failure) {
    logAt(LogCategory::Minify, LogLevel::Debug, "an edit of {} could not be built: a size that only running tells",
          what);
    return false;
  } catch (const std::exception& exception) {
    return lost(what, exception.what());
  }
}

/// What it throws there, it throws here again.
bool SafeBuilding::endsWellElsewhere(const std::string& what, const std::function<void()>& work) {
  const std::function<Result<bool>(const SendEvent&)> rehearsal = [&](const SendEvent&) -> Result<bool> {
    try {
      work();
    } catch (const std::exception&) {
      return false;
    }
    return true;
  };
  const IsolationLimits limits{.timeout = longestRehearsal, .limitResources = false};
  const auto ended = callIsolated<bool>(rehearsal, limits, m_stop);
  if (!ended || ended->outcome.exit == IsolatedExit::Finished) return true;  // no process: then without a rehearsal
  if (ended->outcome.exit == IsolatedExit::Cancelled) return false;
  return lost(what, ended->outcome.exit == IsolatedExit::TimedOut ? "it hangs" : ended->outcome.signalName());
}

bool SafeBuilding::lost(const std::string& what, const std::string& why) {
  ++m_losses;
  logAt(LogCategory::Minify, LogLevel::Warning, "an edit of {} is left out, since Kerf could not build it: {}", what,
        why);
  return false;
}

}  // namespace kerf::inline minifier::inline core
