// Search: the delta loop with its cache, its batches and its accept rule.
#include "minifier/core/search.h"

#include <algorithm>
#include <cmath>

#include "engine/support/log.h"
#include "minifier/core/verdict_cache.h"

namespace kerf::inline minifier::inline core {

Search::Search(Candidate start, const SearchContext& context)
    : m_context(context), m_identity(context.oracle.identity()) {
  m_result.candidate = std::move(start);
  m_start = m_best = measure(m_result.candidate);
}

Result<MinifyResult> Search::run(std::span<const Reduction> reductions, const Reduction& minimality) {
  const Result<void> done = reduce(reductions, minimality);
  m_result.time = Clock::now() - m_began;
  if (!done && done.error().code != ErrorCode::Cancelled) return std::unexpected(done.error());
  m_result.cancelled = !done;
  return std::move(m_result);
}

Result<void> Search::reduce(std::span<const Reduction> reductions, const Reduction& minimality) {
  KERF_CHECK(judgeStart());
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Reduction& reduction : reductions) {
      KERF_TRY(const bool helped, exhaust(reduction));
      smaller = smaller || helped;
    }
    if (smaller) continue;
    KERF_TRY(smaller, exhaust(minimality));
  }
  m_result.oneMinimal = true;
  return {};
}

Result<void> Search::judgeStart() {
  KERF_CHECK(checkStop());
  std::vector<Proposal> batch(1);
  batch[0].candidate = m_result.candidate;
  batch[0].size = m_start;
  batch[0].key = verdictKey(m_hasher.hash(m_result.candidate), m_identity, m_context.options.flakeVotes);
  KERF_CHECK(ask(batch));
  const Verdict& verdict = *batch[0].verdict;
  if (verdict.kind == VerdictKind::Passes) {
    return fail(ErrorCode::BadUsage, "the start graph does not fail, so there is nothing to minify{}{}",
                verdict.detail.empty() ? "" : ": ", verdict.detail);
  }
  if (verdict.kind == VerdictKind::CannotTest)
    return fail(ErrorCode::BadUsage, "the start graph cannot be tested: {}", verdict.detail);
  const auto& only = m_context.options.onlyFingerprint;
  if (only && *only != verdict.fingerprint)
    return fail(ErrorCode::BadUsage, "the start graph fails with '{}', not with '{}'", verdict.fingerprint, *only);
  m_result.fingerprint = verdict.fingerprint;
  return report("start", batch[0], true);
}

Result<bool> Search::exhaust(const Reduction& reduction) {
  ResumePoint resume;
  bool smaller = false;
  for (;;) {
    KERF_TRY(const std::optional<ResumePoint> accepted, firstAccepted(reduction, resume));
    if (!accepted) return smaller;
    smaller = true;
    resume = *accepted;
  }
}

Result<std::optional<ResumePoint>> Search::firstAccepted(const Reduction& reduction, ResumePoint resume) {
  RecordedValues values(m_result.candidate, m_context.stop);
  const ReductionInput input{m_result.candidate, values};  // edits refer to it until they are built
  const std::vector<Edit> edits = reduction.edits(input, resume);
  const auto width = std::size_t(std::clamp(m_context.options.parallelQueries, 1, 64));
  std::vector<Proposal> batch;
  for (std::size_t i = 0; i < edits.size() || !batch.empty(); ++i) {
    KERF_CHECK(checkStop());
    std::optional<Proposal> proposal = i < edits.size() ? propose(edits[i]) : std::nullopt;
    if (proposal) batch.push_back(std::move(*proposal));
    if (batch.empty() || (batch.size() < width && i < edits.size())) continue;
    KERF_TRY(const std::optional<std::size_t> winner, judge(reduction, batch));
    if (winner) {
      const ResumePoint at = batch[*winner].at;
      KERF_CHECK(accept(reduction, batch[*winner]));
      return at;
    }
    batch.clear();
  }
  return std::nullopt;
}

/// Builds the edit and drops it unless it is smaller, known to be wrong, or broken. A known verdict costs no place in a
/// batch, but one that is wanted must be judged in its turn.
std::optional<Search::Proposal> Search::propose(const Edit& edit) {
  std::optional<Candidate> built = edit.build();
  if (!built) return std::nullopt;
  Proposal proposal{.candidate = std::move(*built), .at = edit.at};
  proposal.size = measure(proposal.candidate);
  if (!(proposal.size < m_best) || !proposal.candidate.module.graph.lint()) return std::nullopt;
  if (proposal.size.outputs == 0 && !writesMemory(proposal.candidate.module)) return std::nullopt;
  proposal.key = verdictKey(m_hasher.hash(proposal.candidate), m_identity, m_context.options.flakeVotes);
  proposal.verdict = m_context.cache.find(proposal.key);
  if (proposal.verdict) {
    proposal.verdict->cached = true;
    ++m_result.cacheHits;
    if (!isWanted(*proposal.verdict)) return std::nullopt;
  }
  return proposal;
}

Result<std::optional<std::size_t>> Search::judge(const Reduction& reduction, std::vector<Proposal>& batch) {
  KERF_CHECK(ask(batch));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!batch[i].verdict) continue;
    if (isWanted(*batch[i].verdict)) return i;
    KERF_CHECK(report(reduction.name, batch[i], false));
  }
  return std::nullopt;
}

/// Asks for the verdicts that are not known yet, up to the first known failure.
Result<void> Search::ask(std::vector<Proposal>& batch) {
  std::vector<const Candidate*> candidates;
  std::vector<Proposal*> asked;
  for (Proposal& proposal : batch) {
    if (proposal.verdict) break;
    proposal.verdict = m_context.cache.find(proposal.key);
    if (proposal.verdict) {
      proposal.verdict->cached = true;
      ++m_result.cacheHits;
      if (isWanted(*proposal.verdict)) break;
      continue;
    }
    candidates.push_back(&proposal.candidate);
    asked.push_back(&proposal);
  }
  if (candidates.empty()) return {};
  const QueryOptions options{m_context.options.flakeVotes, m_context.options.candidateTimeout};
  const IsWanted wanted = [&](const Verdict& verdict) { return isWanted(verdict); };
  KERF_TRY(auto verdicts, judgeBatch(m_context.oracle, candidates, wanted, options, m_context.stop));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!verdicts[i]) continue;
    ++m_result.tests;
    asked[i]->verdict = std::move(verdicts[i]);
    m_context.cache.put(asked[i]->key, *asked[i]->verdict);
  }
  return {};
}

Result<void> Search::accept(const Reduction& reduction, Proposal& proposal) {
  m_result.candidate = std::move(proposal.candidate);
  m_best = proposal.size;
  m_testsAtLastAccept = m_result.tests;
  return report(reduction.name, proposal, true);
}

Result<void> Search::report(const std::string& reduction, const Proposal& proposal, bool accepted) {
  MinifyProgress progress;
  progress.step = {.index = int(m_result.steps.size()),
                   .test = m_result.tests,
                   .reduction = reduction,
                   .size = proposal.size,
                   .accepted = accepted,
                   .elapsed = Clock::now() - m_began,
                   .fingerprint = proposal.verdict ? proposal.verdict->fingerprint : std::string()};
  progress.start = m_start;
  progress.best = m_best;
  progress.secondsLeft = secondsLeft();
  logAt(LogCategory::Minify, accepted ? LogLevel::Info : LogLevel::Debug, "{} to {} nodes: {}{}", reduction,
        proposal.size.nodes, accepted ? "accepted" : "refused",
        proposal.verdict && proposal.verdict->cached ? " (known verdict)" : "");
  if (accepted) m_result.steps.push_back(progress.step);
  if (!m_context.observer) return {};
  return m_context.observer(progress, accepted ? &m_result.candidate : nullptr);
}

/// Before the start graph's failure is known, nothing is wanted.
bool Search::isWanted(const Verdict& verdict) const {
  return verdict.kind == VerdictKind::Fails && !m_result.fingerprint.empty() &&
         verdict.fingerprint == m_result.fingerprint;
}

/// While things go well, a few queries per halving; a round without luck tries about three edits per node.
double Search::secondsLeft() const {
  if (m_result.tests == 0) return -1;
  const std::chrono::duration<double> elapsed = Clock::now() - m_began;
  const double since = m_result.tests - m_testsAtLastAccept;
  const auto nodes = double(m_best.nodes);
  const double lucky = 4 * std::log2(nodes);
  const double queries = std::max(0.0, (since < lucky ? lucky : 3 * nodes) - since);
  return elapsed.count() / m_result.tests * queries;
}

Result<void> Search::checkStop() const {
  if (m_context.stop.stop_requested()) return fail(ErrorCode::Cancelled, "the search was stopped");
  return {};
}

}  // namespace kerf::inline minifier::inline core
