// Search: what it tells, what ends it, and what a person does to it.
#include <algorithm>
#include <thread>

#include "engine/support/log.h"
#include "minifier/core/minify_control.h"
#include "minifier/core/search.h"

namespace kerf::inline minifier::inline core {

Result<void> Search::accept(const std::string& reduction, const Proposal& proposal, const Verdict& verdict) {
  m_result.candidate = *proposal.candidate;
  m_best = proposal.size;
  m_result.fingerprint = verdict.fingerprint;
  want(verdict.fingerprint, m_result.candidate);
  return report(reduction, proposal, verdict, true);
}

Result<void> Search::report(const std::string& reduction, const Proposal& proposal, const Verdict& verdict,
                            bool accepted) {
  MinifyProgress progress;
  progress.step = {.index = int(m_result.steps.size()),
                   .test = m_result.tests,
                   .reduction = reduction,
                   .size = proposal.size,
                   .accepted = accepted,
                   .elapsed = m_runner.now(),
                   .fingerprint = verdict.fingerprint};
  progress.start = m_start;
  progress.best = m_best;
  if (m_result.tests > 0) progress.secondsLeft = secondsLeft();
  logAt(LogCategory::Minify, accepted ? LogLevel::Info : LogLevel::Debug, "{} to {} nodes: {}{}", reduction,
        proposal.size.nodes, accepted ? "accepted" : "refused", verdict.cached ? " (known verdict)" : "");
  if (!accepted) progress.slip = noteSlip(proposal, verdict);
  progress.slips = m_slips.tests();
  if (accepted) m_result.steps.push_back(progress.step);
  if (accepted && m_context.options.control) m_history.push_back(m_result.candidate);
  if (!m_context.observer) return {};
  return m_context.observer(progress, accepted ? &m_result.candidate : nullptr);
}

/// From what was seen since the pieces of the graph were judged: how much smaller it gets by them nobody knows.
/// Surveyed calls are asked about as many at once as there are workers. Negative: unknown.
double Search::secondsLeft() {
  if (m_startWindows && !m_windowsDone) return -1;
  const std::chrono::duration<double> elapsed = m_runner.now() - m_paused - m_since.time;
  const int surveys = m_sideTests / int(m_runner.width());
  const int tests = m_result.tests - m_since.tests - m_sideTests + surveys;
  return m_estimator.secondsLeft(
      {.seconds = elapsed.count(), .tests = std::max(1, tests), .calls = m_best.calls, .workers = m_runner.width()});
}

void Search::tell(MinifyActivity activity) const {
  if (m_context.options.activity) m_context.options.activity(activity);
}

void Search::tellReduction(MinifyActivity::Kind kind, const std::string& reduction, bool accepted) const {
  tell({.kind = kind, .reduction = reduction, .nodes = m_best.nodes, .accepted = accepted});
}

/// Before the start graph's failure is known, or supposed, nothing is wanted.
bool Search::isWanted(const Verdict& verdict) const {
  const std::lock_guard lock(m_wantedMutex);
  return verdict.kind == VerdictKind::Fails && !m_wanted.fingerprint.empty() &&
         m_context.options.match.accepts(verdict.fingerprint, verdict.detail, m_wanted);
}

void Search::want(const std::string& fingerprint, const Candidate& candidate) {
  const std::string& first = m_result.steps.empty() ? fingerprint : m_result.steps.front().fingerprint;
  const auto start = AccuracyIdentity::parse(first);
  WantedFailure wanted = wantedIn(candidate.module, fingerprint, start ? start->decade : std::nullopt);
  const std::lock_guard lock(m_wantedMutex);
  m_wanted = std::move(wanted);
}

const Slip* Search::noteSlip(const Proposal& proposal, const Verdict& verdict) {
  const bool isSlip = verdict.kind == VerdictKind::Fails && !m_result.fingerprint.empty() && !isWanted(verdict);
  return isSlip ? m_slips.note(proposal.key, verdict, *proposal.candidate, proposal.size) : nullptr;
}

/// Also obeys what a person asked for: a pause is waited out here, and going back ends the round.
Result<void> Search::checkStop() {
  if (m_context.stop.stop_requested()) return fail(ErrorCode::Cancelled, "the search was stopped");
  if (m_context.options.control == nullptr) return {};
  KERF_CHECK(obeyPause());
  const auto step = m_context.options.control->takeUndo();
  if (!step || *step < 0 || std::size_t(*step) + 1 >= m_history.size()) return {};
  m_undo = *step;
  return fail(ErrorCode::Cancelled, "the search goes back to step {}", *step);
}

Result<void> Search::obeyPause() {
  const auto since = m_runner.now();
  while (m_context.options.control->isPaused()) {
    if (m_context.stop.stop_requested()) return fail(ErrorCode::Cancelled, "the search was stopped");
    if (auto answer = m_runner.next(std::chrono::milliseconds(20))) take(std::move(*answer));
  }
  m_paused += m_runner.now() - since;
  return {};
}

/// The start graph's verdict is not in it: without one nothing is known to fail.
Result<void> Search::checkBudget() {
  if (m_result.fingerprint.empty()) return {};
  const MinifyOptions& options = m_context.options;
  if (options.maxTests > 0 && m_result.tests >= options.maxTests) m_result.ending = MinifyEnding::MaxTests;
  if (options.maxTime.count() > 0 && m_runner.now() >= options.maxTime) m_result.ending = MinifyEnding::MaxTime;
  if (m_result.ending == MinifyEnding::Finished) return {};
  return fail(ErrorCode::Cancelled, "the search has used what it was given");
}

/// The step that led away from there is not taken again.
Result<void> Search::goBackTo(int step) {
  const auto kept = std::size_t(step);
  m_forbidden.insert(keyOf(m_history[kept + 1]));
  m_history.resize(kept + 1);
  m_result.steps.resize(kept + 1);
  m_result.candidate = m_history.back();
  m_best = measure(m_result.candidate);
  m_searchedUnits = 0;
  m_result.fingerprint = m_result.steps.back().fingerprint;
  want(m_result.fingerprint, m_result.candidate);
  if (!m_context.options.wentBack) return {};
  MinifyStep back = m_result.steps.back();
  back.test = m_result.tests;
  back.elapsed = m_runner.now();
  return m_context.options.wentBack(back, m_result.candidate);
}

/// A verdict of a speculative test in vain is worth keeping all the same.
void Search::finish() {
  for (const auto& [key, id] : m_running) m_runner.stop(id);
  while (auto answer = m_runner.next({})) take(std::move(*answer));
  m_running.clear();
  for (auto& [key, answer] : m_answers) {
    if (!answer.verdict) continue;
    m_context.cache.put(key, *answer.verdict);
    ++m_result.unusedTests;
  }
  m_answers.clear();
  m_result.slipTests = m_slips.tests();
  m_result.slips = m_slips.findings();
}

}  // namespace kerf::inline minifier::inline core
