// Search: the rounds of reductions, and one test after the other.
#include "minifier/core/search.h"

#include <algorithm>
#include <functional>

#include "minifier/core/minify_control.h"
#include "minifier/core/suspects.h"
#include "minifier/core/threaded_queries.h"

namespace kerf::inline minifier::inline core {

namespace {

std::unique_ptr<QueryRunner> ownRunner(const SearchContext& context, IsWanted wanted) {
  if (context.runner != nullptr) return nullptr;
  const auto width = std::size_t(std::clamp(context.options.parallelQueries, 1, 64));
  return std::make_unique<ThreadedQueries>(context.oracle, width, std::move(wanted), context.options.candidateTimeout);
}

}  // namespace

Search::Search(Candidate start, const SearchContext& context)
    : m_context(context),
      m_verdictKeys(context.oracle, {context.options.flakeVotes, context.options.flakyStarts}),
      m_ownRunner(ownRunner(context, std::bind_front(&Search::isWanted, this))),
      m_runner(m_ownRunner ? *m_ownRunner : *context.runner),
      m_rule{context.options.flakeVotes, 0},
      m_safe(context.stop) {
  m_result.candidate = std::move(start);
  m_start = m_best = measure(m_result.candidate);
}

Search::~Search() = default;

Result<MinifyResult> Search::run(std::span<const Reduction> reductions) {
  const Result<void> done = rounds(reductions);
  finish();
  m_result.lostEdits = m_safe.losses();
  m_result.time = m_runner.now();
  const bool isStopped = !done && done.error().code == ErrorCode::Cancelled;
  if (!done && !isStopped) return std::unexpected(done.error());
  if (isStopped && m_result.ending == MinifyEnding::Finished) m_result.ending = MinifyEnding::Cancelled;
  m_result.cancelled = m_result.ending == MinifyEnding::Cancelled;
  return std::move(m_result);
}

Result<void> Search::judgeStart() {
  KERF_CHECK(checkStop());
  const Graph& graph = m_result.candidate.module.graph;
  for (const std::string& name : m_context.options.pinned) {
    const auto found = std::ranges::find(graph.order(), name, [&](NodeId id) { return graph.node(id).name(); });
    if (found == graph.order().end()) return fail(ErrorCode::BadUsage, "there is no node {} to pin", name);
    m_pins.push_back({name, graph.node(*found).target()});
  }
  SpeculativeState start;
  start.isProposed = true;
  start.proposal =
      Proposal{std::make_shared<const Candidate>(m_result.candidate), m_start, keyOf(m_result.candidate), {}};
  m_startTestedAt = m_runner.now();
  KERF_TRY(const auto found, verdictOf(start, *start.proposal));
  Verdict verdict = *found;
  if (m_context.options.flakyStarts > 0) KERF_CHECK(estimateRate(*start.proposal, verdict));
  if (verdict.kind == VerdictKind::Passes) {
    return fail(ErrorCode::BadUsage, "the start graph does not fail, so there is nothing to minify{}{}",
                verdict.detail.empty() ? "" : ": ", verdict.detail);
  }
  if (verdict.kind == VerdictKind::CannotTest)
    return fail(ErrorCode::BadUsage, "the start graph cannot be tested: {}", verdict.detail);
  const auto& only = m_context.options.onlyFingerprint;
  if (only && *only != verdict.fingerprint)
    return fail(ErrorCode::BadUsage, "the start graph fails with '{}', not with '{}'", verdict.fingerprint, *only);
  if (!m_context.options.match.acceptsAsStart(verdict.fingerprint, verdict.detail))
    return fail(ErrorCode::BadUsage, "the start graph fails with '{}' ({}), in which the pattern finds nothing",
                verdict.fingerprint, verdict.detail);
  m_result.fingerprint = verdict.fingerprint;
  want(verdict.fingerprint, m_result.candidate);
  return report("start", *start.proposal, verdict, true);
}

/// Asks about the start graph again and again. The failure met first, or the one asked for, is the one that counts.
Result<void> Search::estimateRate(const Proposal& start, Verdict& verdict) {
  const auto counts = [&](const Verdict& one) {
    return one.kind == VerdictKind::Fails &&
           one.fingerprint == m_context.options.onlyFingerprint.value_or(one.fingerprint) &&
           m_context.options.match.acceptsAsStart(one.fingerprint, one.detail);
  };
  const int queries = m_context.options.flakyStarts;
  std::optional<Verdict> failure;
  int failures = 0;
  SpeculativeState state;
  std::vector<Proposal> copies(std::size_t(queries), start);  // keys of their own, so that a second run knows the rate
  for (int i = 1; i < queries; ++i) {
    copies[std::size_t(i)].key += fmt::format("#{}", i);
    if (!m_context.cache.find(copies[std::size_t(i)].key)) this->start(copies[std::size_t(i)]);
  }
  for (const Proposal& copy : copies) {
    KERF_TRY(const auto one, verdictOf(state, copy));
    if (!failure && counts(*one)) failure = one;
    failures += failure && one->kind == failure->kind &&
                        m_context.options.match.accepts(one->fingerprint, one->detail, failure->fingerprint)
                    ? 1
                    : 0;
  }
  if (failure) verdict = *failure;
  m_result.failureRate = double(failures) / queries;
  m_rule.passes = m_result.passesAsked = passesNeeded(assumedRate(failures, queries));
  return {};
}

Result<void> Search::rounds(std::span<const Reduction> reductions) {
  KERF_CHECK(judgeStart());
  KERF_CHECK(takeWindows());
  for (const Candidate& refused : m_context.options.refused) m_forbidden.insert(keyOf(refused));
  bool smaller = true;
  int lossesBefore = 0;
  for (int number = 0; smaller || number < 2; ++number) {
    m_estimator.beginRound(number);
    lossesBefore = m_safe.losses();
    const Result<bool> helped = round(reductions, number);
    if (m_undo) {
      KERF_CHECK(goBackTo(*std::exchange(m_undo, std::nullopt)));
      number = 0;  // the next is a later round: what was quick to find is found
      smaller = true;
      continue;
    }
    if (!helped) return std::unexpected(helped.error());
    smaller = *helped;
  }
  m_result.oneMinimal = m_safe.losses() == lossesBefore;  // what could not be built was not asked about
  for (const Reduction& reduction : reductions)
    if (!reduction.isShortcut) m_result.editSet.push_back(reduction.name);
  return {};
}

Result<bool> Search::round(std::span<const Reduction> reductions, int number) {
  std::vector<Reduction> chosen;
  std::ranges::copy_if(reductions, std::back_inserter(chosen),
                       [&](const Reduction& reduction) { return number == 0 || !reduction.isShortcut; });
  bool smaller = false;
  for (auto at = chosen.begin(); at != chosen.end();) {
    bool helped = false;
    if (!at->edits) {
      KERF_TRY(helped, searchSets(number == 0));
      ++at;
    } else {
      const auto end = std::find_if(at, chosen.end(), [](const Reduction& reduction) { return !reduction.edits; });
      std::unique_ptr<TestSequence> edits = std::make_unique<EditTests>(
          std::span<const Reduction>(at, end), std::make_shared<const Candidate>(m_result.candidate), number > 0,
          m_safe, m_context.stop);
      KERF_TRY(helped, runTests(edits));
      at = end;
    }
    smaller = smaller || helped;
  }
  return smaller;
}

/// Sets of the present candidate's calls, all of them on the values of one run. The first search leaves the proof to
/// the second: what is simplified in between would have to be proven again.
Result<bool> Search::searchSets(bool isFirst) {
  SetBase base(m_result.candidate, m_context.stop);
  const std::size_t units = base.builder.units().size();
  const bool hasGrown = units > m_searchedUnits;  // a nested graph was written out
  std::unique_ptr<TestSequence> tests = isFirst    ? firstSubsetTests(base)
                                        : hasGrown ? subsetTests(base, {}, SetSearch::Proof::Last)
                                                   : subsetTests(base, {}, SetSearch::Proof::Only);
  KERF_CHECK(runTests(tests));
  m_searchedUnits = static_cast<const SubsetTests&>(*tests).current().size();
  return m_searchedUnits < units;
}

std::unique_ptr<TestSequence> Search::firstSubsetTests(SetBase& base) {
  std::vector<UnitSet> guesses;
  if (auto set = suspects(base.candidate.module.graph, base.builder.units())) guesses.push_back(std::move(*set));
  return subsetTests(base, std::move(guesses), SetSearch::Proof::Later);
}

std::unique_ptr<TestSequence> Search::subsetTests(SetBase& base, std::vector<UnitSet> guesses, SetSearch::Proof proof) {
  constexpr std::size_t fewestParallelTests = 6;
  const bool surveys = m_startWindows && m_runner.width() >= fewestParallelTests;
  return std::make_unique<SubsetTests>(
      SetSearch(base.builder.allUnits(), std::move(guesses), proof, surveys ? m_runner.width() : 0, base.weights),
      SubsetTests::Base{base.builder, base.shorterPaths, m_safe});
}

Result<bool> Search::runTests(std::unique_ptr<TestSequence>& tests) {
  auto now = std::make_unique<SpeculativeState>();
  now->tests = std::move(tests);
  now->best = m_best;
  bool smaller = false;
  std::string reduction;
  while (!now->tests->isOver()) {
    KERF_TRY(const bool fails, decide(now, reduction));
    smaller = smaller || (fails && !now->tests->isSurvey());
    follow(*now, fails);
    now = std::move(now->next[fails ? 1 : 0]);
    if (m_runner.width() > 1) stopPointless(*now);
  }
  if (!reduction.empty()) tellReduction(MinifyActivity::Kind::ReductionEnds, reduction, smaller);
  tests = std::move(now->tests);
  return smaller;
}

/// Runs the next test of the state; true: it fails as wanted, and is the best now.
Result<bool> Search::decide(std::unique_ptr<SpeculativeState>& now, std::string& reduction) {
  KERF_CHECK(checkStop());
  announce(*now, reduction);
  propose(*now);
  if (!now->proposal) return false;
  KERF_TRY(auto verdict, verdictOf(*now, *now->proposal));
  if (!verdict) {
    for (const bool side : std::exchange(m_speculationHit, {}))
      now = std::unique_ptr<SpeculativeState>(std::move(now->next[side ? 1 : 0]));
    announce(*now, reduction);
    KERF_TRY(verdict, verdictOf(*now, *now->proposal));
  }
  const bool fails = isWanted(*verdict);
  if (now->tests->isSurvey()) ++m_sideTests;
  m_estimator.learn(now->tests->category(), fails);
  m_estimator.observe(reduction, now->tests->sweep());
  if (fails && !now->tests->isSurvey())
    KERF_CHECK(accept(reduction, *now->proposal, *verdict));
  else if (!verdict->cached)
    KERF_CHECK(report(reduction, *now->proposal, *verdict, false));
  else
    noteSlip(*now->proposal, *verdict);
  return fails;
}

void Search::announce(const SpeculativeState& now, std::string& reduction) const {
  const std::string step = now.tests->step();
  if (step == reduction) return;
  if (!reduction.empty()) tellReduction(MinifyActivity::Kind::ReductionEnds, reduction, false);
  tellReduction(MinifyActivity::Kind::ReductionBegins, step, false);
  reduction = step;
}

/// A verdict of a speculative test counts as a test now. What the cache knows is none.
Result<std::optional<Verdict>> Search::verdictOf(SpeculativeState& now, const Proposal& proposal) {
  if (!m_answers.contains(proposal.key)) {
    if (auto cached = proposal.verdict ? proposal.verdict : m_context.cache.find(proposal.key)) {
      cached->cached = true;
      ++m_result.cacheHits;
      tell({.kind = MinifyActivity::Kind::Answered,
            .nodes = proposal.size.nodes,
            .verdict = cached->kind,
            .fingerprint = cached->fingerprint,
            .cached = true});
      return cached;
    }
  }
  KERF_CHECK(checkBudget());  // a speculative test is a test like any other
  KERF_TRY(const auto verdict, wait(now, proposal));
  if (!verdict) return verdict;
  ++m_result.tests;
  m_context.cache.put(proposal.key, *verdict);
  return verdict;
}

/// What is waited for goes before speculative tests, which may take long: the one started last has got least far.
void Search::freeAWorker() {
  if (m_running.size() < m_runner.width()) return;
  const auto last = std::ranges::max_element(m_running, {}, [](const auto& running) { return running.second; });
  stop(std::string(last->first));
}

Result<std::optional<Verdict>> Search::wait(SpeculativeState& now, const Proposal& proposal) {
  const auto since = m_runner.now();
  constexpr std::chrono::milliseconds slice{20};  // in which a wish to stop is noticed
  while (!m_answers.contains(proposal.key)) {
    KERF_CHECK(checkStop());
    KERF_CHECK(checkBudget());
    if (!m_running.contains(proposal.key)) {
      freeAWorker();
      start(proposal);
    }
    speculate(now);
    if (m_answers.contains(proposal.key)) break;
    if (now.tests && isOverdue(since)) {
      m_speculationHit = pathToKnownFailure(now);
      if (!m_speculationHit.empty()) return std::optional<Verdict>();
    }
    if (auto answer = m_runner.next(slice)) take(std::move(*answer));
  }
  const auto found = m_answers.find(proposal.key);
  Result<Verdict> verdict = std::move(found->second.verdict);
  m_answers.erase(found);
  if (!verdict) return std::unexpected(verdict.error());
  return std::optional(std::move(*verdict));
}

}  // namespace kerf::inline minifier::inline core
