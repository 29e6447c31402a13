// Search: the delta loop with its cache, its batches and its accept rule.
#include "minifier/core/search.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/support/log.h"
#include "engine/symbolic/shape_env.h"
#include "minifier/core/suspects.h"
#include "minifier/core/verdict_cache.h"

namespace kerf::inline minifier::inline core {

namespace {

/// What goes wrong in an edit loses that edit and not the search.
std::optional<Candidate> builtSafely(const std::function<std::optional<Candidate>()>& build) {
  try {
    return build();
  } catch (const SymbolicFailure& failure) {
    logAt(LogCategory::Minify, LogLevel::Debug, "an edit could not be built: a size that only running tells");
  } catch (const std::exception& exception) {
    logAt(LogCategory::Minify, LogLevel::Warning, "an edit could not be built: {}", exception.what());
  }
  return std::nullopt;
}

}  // namespace

Search::Search(Candidate start, const SearchContext& context)
    : m_context(context), m_identity(context.oracle.identity()) {
  m_result.candidate = std::move(start);
  m_start = m_best = measure(m_result.candidate);
}

Result<MinifyResult> Search::run(std::span<const Reduction> reductions) {
  const Result<void> done = reduce(reductions);
  m_result.time = Clock::now() - m_began;
  if (!done && done.error().code != ErrorCode::Cancelled) return std::unexpected(done.error());
  m_result.cancelled = !done;
  return std::move(m_result);
}

Result<void> Search::reduce(std::span<const Reduction> reductions) {
  KERF_CHECK(judgeStart());
  bool smaller = true;
  for (int round = 0; smaller || round < 2; ++round) {
    smaller = false;
    for (const Reduction& reduction : reductions) {
      if (reduction.isShortcut && round > 0) continue;
      KERF_TRY(const bool helped, reduction.edits ? exhaust(reduction, round > 0) : searchSets(round == 0));
      smaller = smaller || helped;
    }
  }
  m_result.oneMinimal = true;
  for (const Reduction& reduction : reductions)
    if (!reduction.isShortcut) m_result.editSet.push_back(reduction.name);
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

Result<bool> Search::exhaust(const Reduction& reduction, bool isSettled) {
  ResumePoint resume;
  bool smaller = false;
  for (;;) {
    KERF_TRY(const std::optional<ResumePoint> accepted, firstAccepted(reduction, resume, isSettled));
    if (!accepted) return smaller;
    smaller = true;
    isSettled = false;
    resume = *accepted;
  }
}

Result<std::optional<ResumePoint>> Search::firstAccepted(const Reduction& reduction, ResumePoint resume,
                                                         bool isSettled) {
  const ReductionInput input{m_result.candidate, m_context.stop, isSettled};  // edits refer to it until they are built
  const std::vector<Edit> edits = reduction.edits(input, resume);
  std::vector<Proposal> batch;
  for (std::size_t i = 0; i < edits.size() || !batch.empty(); ++i) {
    KERF_CHECK(checkStop());
    std::optional<Proposal> proposal;
    if (i < edits.size()) proposal = propose(edits[i].build);
    if (proposal && !holds(batch, proposal->key)) {
      proposal->at = edits[i].at;
      batch.push_back(std::move(*proposal));
    }
    if (batch.empty() || (batch.size() < width() && i < edits.size())) continue;
    KERF_TRY(const std::optional<std::size_t> winner, judge(reduction.name, batch));
    if (winner) {
      const ResumePoint at = batch[*winner].at;
      KERF_CHECK(accept(reduction.name, batch[*winner]));
      return at;
    }
    batch.clear();
  }
  return std::nullopt;
}

/// Sets of the present candidate's calls, all of them on the values of one run. The first search leaves the proof to
/// the second: what is simplified in between would have to be proven again.
Result<bool> Search::searchSets(bool isFirst) {
  const Candidate base = m_result.candidate;
  RecordedValues values(base, m_context.stop);
  SubsetBuilder builder(base, values);
  std::vector<UnitSet> guesses;
  if (auto set = isFirst ? suspects(base.module.graph, builder.units()) : std::nullopt) guesses.push_back(*set);
  const bool hasGrown = builder.units().size() > m_searchedUnits;  // a nested graph was written out
  const auto proof = isFirst ? SetSearch::Proof::Later : hasGrown ? SetSearch::Proof::Last : SetSearch::Proof::Only;
  SetSearch search(builder.allUnits(), std::move(guesses), proof);
  const Detours detours(base.module.graph, builder.units());
  for (bool shorter = true; shorter;) {
    while (search.next()) KERF_CHECK(askAhead(search, builder));
    KERF_TRY(shorter, takeDetour(search, detours, builder));
  }
  m_searchedUnits = search.current().size();
  return m_searchedUnits < builder.units().size();
}

/// Where calls are needed because one leads to another, a shorter way between them may do.
Result<bool> Search::takeDetour(SetSearch& search, const Detours& detours, SubsetBuilder& builder) {
  const std::vector<UnitSet> sets = detours.around(search.current());
  std::vector<Proposal> batch;
  std::vector<std::size_t> asked;  // the set of each proposal
  for (std::size_t i = 0; i < sets.size(); ++i) {
    KERF_CHECK(checkStop());
    auto proposal = propose([&] { return builder.build(sets[i]); });
    if (proposal && !holds(batch, proposal->key)) {
      batch.push_back(std::move(*proposal));
      asked.push_back(i);
    }
    if (batch.empty() || (batch.size() < width() && i + 1 < sets.size())) continue;
    KERF_TRY(const auto winner, judge("shorter_way", batch));
    if (winner) {
      search = SetSearch(sets[asked[*winner]], {}, SetSearch::Proof::Later);
      KERF_CHECK(accept("shorter_way", batch[*winner]));
      return true;
    }
    batch.clear();
    asked.clear();
  }
  return false;
}

/// Asks what the search would ask if all but the last of these passed.
Result<void> Search::askAhead(SetSearch& search, SubsetBuilder& builder) {
  std::vector<Proposal> batch;
  std::vector<std::size_t> questions;  // that the search puts before the one of each proposal
  std::size_t asked = 0;
  SetSearch ahead = search;
  for (auto set = ahead.next(); set && batch.size() < width(); set = ahead.next(), ++asked) {
    KERF_CHECK(checkStop());
    auto proposal = propose([&] { return builder.build(*set); });
    if (proposal && !holds(batch, proposal->key)) {
      proposal->step = ahead.step();
      batch.push_back(std::move(*proposal));
      questions.push_back(asked);
    }
    ahead.tell(false);
  }
  KERF_TRY(const auto winner, judge({}, batch));
  for (std::size_t i = 0; i < (winner ? questions[*winner] : asked); ++i) search.tell(false);
  if (!winner) return {};
  search.tell(true);
  return accept(std::string(batch[*winner].step), batch[*winner]);
}

/// Builds an edit and drops it unless it is smaller, known to be wrong, or broken. A known verdict costs no place in a
/// batch, but one that is wanted must be judged in its turn.
std::optional<Search::Proposal> Search::propose(const std::function<std::optional<Candidate>()>& build) {
  std::optional<Candidate> built = builtSafely(build);
  if (!built) return std::nullopt;
  Proposal proposal{.candidate = std::move(*built)};
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

Result<std::optional<std::size_t>> Search::judge(const std::string& reduction, std::vector<Proposal>& batch) {
  KERF_CHECK(ask(batch));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!batch[i].verdict) continue;
    if (isWanted(*batch[i].verdict)) return i;
    KERF_CHECK(report(batch[i].step.empty() ? reduction : std::string(batch[i].step), batch[i], false));
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
  KERF_TRY(auto verdicts,
           judgeBatch(m_context.oracle, candidates, std::bind_front(&Search::isWanted, this), options, m_context.stop));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!verdicts[i]) continue;
    ++m_result.tests;
    asked[i]->verdict = std::move(verdicts[i]);
    m_context.cache.put(asked[i]->key, *asked[i]->verdict);
  }
  return {};
}

Result<void> Search::accept(const std::string& reduction, Proposal& proposal) {
  m_result.candidate = std::move(proposal.candidate);
  m_best = proposal.size;
  m_testsAtLastAccept = m_result.tests;
  return report(reduction, proposal, true);
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

/// Whether a batch has a candidate already: what is asked twice must not count twice.
bool Search::holds(const std::vector<Proposal>& batch, const std::string& key) {
  return std::ranges::find(batch, key, &Proposal::key) != batch.end();
}

std::size_t Search::width() const { return std::size_t(std::clamp(m_context.options.parallelQueries, 1, 64)); }

/// Before the start graph's failure is known, nothing is wanted.
bool Search::isWanted(const Verdict& verdict) const {
  return verdict.kind == VerdictKind::Fails && !m_result.fingerprint.empty() &&
         verdict.fingerprint == m_result.fingerprint;
}

/// While things go well, a few queries per halving; a round without luck tries about three edits per node.
double Search::secondsLeft() const {
  if (m_result.tests == 0) return -1;
  const std::chrono::duration<double> elapsed = Clock::now() - m_began;
  const double since = m_result.tests - m_testsAtLastAccept, nodes = double(m_best.nodes);
  const double lucky = 4 * std::log2(nodes);
  const double queries = std::max(0.0, (since < lucky ? lucky : 3 * nodes) - since);
  return elapsed.count() / m_result.tests * queries;
}

Result<void> Search::checkStop() const {
  return m_context.stop.stop_requested() ? fail(ErrorCode::Cancelled, "the search was stopped") : Result<void>();
}

}  // namespace kerf::inline minifier::inline core
