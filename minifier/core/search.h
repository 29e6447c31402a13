// Search: applies reductions until none makes the candidate smaller and still failing in the same way.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>

#include "minifier/core/minify.h"
#include "minifier/core/query_runner.h"
#include "minifier/core/reduction.h"
#include "minifier/core/safe_building.h"
#include "minifier/core/search_estimator.h"
#include "minifier/core/slip_log.h"
#include "minifier/core/test_sequence.h"
#include "minifier/core/unit_weights.h"
#include "minifier/core/verdict_cache.h"

namespace kerf::inline minifier::inline core {

/// Everything that one minification needs besides its start graph and its reductions. Not owned.
struct SearchContext {
  Oracle& oracle;
  VerdictCache& cache;
  const MinifyOptions& options;
  const MinifyObserver& observer;
  std::stop_token stop;
  QueryRunner* runner = nullptr;  ///< null: threads of its own
};

/// The search takes verdicts in its own order, so that its result does not depend on who finishes first, nor on how
/// many tests run at once, unless they take seconds: then a smaller graph that is known to fail is not kept waiting.
/// Workers that the test under way leaves idle run speculative tests: those that come after it, for either verdict, the
/// likeliest first. What the verdicts make pointless is stopped.
class Search {
 public:
  Search(Candidate start, const SearchContext& context);
  ~Search();
  /// Every reduction in turn, to the fixpoint: until a whole round but the first, which leaves proofs to the others,
  /// accepts nothing. Then no edit of any of them makes the candidate smaller and leaves it failing, which is what
  /// 1-minimal means here.
  Result<MinifyResult> run(std::span<const Reduction> reductions);

 private:
  struct Proposal {
    std::shared_ptr<const Candidate> candidate;
    CandidateSize size;
    std::string key;
    std::optional<Verdict> verdict;  ///< known before it was tested
  };
  /// A state of the search, now or in a future in which the verdicts on the way there are as supposed.
  struct SpeculativeState {
    std::unique_ptr<TestSequence> tests;
    CandidateSize best;  ///< then
    bool isProposed = false;
    std::optional<Proposal> proposal;           ///< none: nothing to test, as good as passing
    std::unique_ptr<SpeculativeState> next[2];  ///< after a pass, after a failure; null: not looked at yet
  };

  /// A candidate whose calls are searched through, all of them on the values of one run.
  struct SetBase {
    SetBase(const Candidate& of, const std::stop_token& stop)
        : candidate(of),
          values(candidate, stop),
          builder(candidate, values),
          shorterPaths(candidate.module.graph, builder.units()),
          weights(std::make_shared<const SetWeights>(weightsOf(candidate.module, builder.units()))) {}

    Candidate candidate;
    RecordedValues values;
    SubsetBuilder builder;
    ShorterPaths shorterPaths;
    std::shared_ptr<const SetWeights> weights;
  };
  /// Windows of neighbouring calls of the start graph, tested while its own verdict is awaited (search_windows.cpp).
  struct StartWindows;

  Result<void> judgeStart();
  Result<void> estimateRate(const Proposal& start, Verdict& verdict);
  Result<void> rounds(std::span<const Reduction> reductions);
  Result<bool> round(std::span<const Reduction> reductions, int number);
  Result<bool> searchSets(bool isFirst);
  std::unique_ptr<TestSequence> firstSubsetTests(SetBase& base);
  std::unique_ptr<TestSequence> subsetTests(SetBase& base, std::vector<UnitSet> guesses, SetSearch::Proof proof);
  /// Tests until the sequence is over. Whether anything was accepted; `tests` is then where it ended.
  Result<bool> runTests(std::unique_ptr<TestSequence>& tests);
  /// Where an answer takes long and a smaller graph ahead of it is known to fail, `now` becomes the state behind it.
  Result<bool> decide(std::unique_ptr<SpeculativeState>& now, std::string& reduction);
  void announce(const SpeculativeState& now, std::string& reduction) const;
  /// None only for a state with tests, where m_speculationHit leads to a smaller graph that is known to fail.
  Result<std::optional<Verdict>> verdictOf(SpeculativeState& now, const Proposal& proposal);
  void freeAWorker();
  Result<std::optional<Verdict>> wait(SpeculativeState& now, const Proposal& proposal);

  // search_windows.cpp
  void speculateOnWindows();
  void speculateInFound();
  Result<void> takeWindows();
  std::vector<bool> pathToKnownFailure(const SpeculativeState& now) const;
  bool isOverdue(std::chrono::nanoseconds since) const;

  // search_speculation.cpp
  void propose(SpeculativeState& state) const;
  std::optional<Proposal> proposalOf(std::optional<Candidate> built, const CandidateSize& best) const;
  SpeculativeState& follow(SpeculativeState& state, bool fails) const;
  void speculate(SpeculativeState& now);
  void start(const Proposal& proposal);
  void stop(const std::string& key);
  void take(QueryAnswer answer);
  void stopPointless(const SpeculativeState& now);
  std::optional<bool> known(const SpeculativeState& state) const;
  double failureProbabilityOf(const TestSequence& tests) const;
  bool keepsPins(const Candidate& candidate) const;
  std::string keyOf(const Candidate& candidate) const { return m_verdictKeys.of(candidate); }

  // search_report.cpp
  Result<void> accept(const std::string& reduction, const Proposal& proposal, const Verdict& verdict);
  double secondsLeft();
  Result<void> report(const std::string& reduction, const Proposal& proposal, const Verdict& verdict, bool accepted);
  void tell(MinifyActivity activity) const;
  void tellReduction(MinifyActivity::Kind kind, const std::string& reduction, bool accepted) const;
  Result<void> checkStop();
  Result<void> checkBudget();
  Result<void> obeyPause();
  bool isWanted(const Verdict& verdict) const;
  /// The failure of `candidate` is what is wanted of smaller ones.
  void want(const std::string& fingerprint, const Candidate& candidate);
  /// The finding that a failure of another kind is new to, or smaller for; null where it is neither.
  const Slip* noteSlip(const Proposal& proposal, const Verdict& verdict);
  Result<void> goBackTo(int step);
  void finish();

  SearchContext m_context;
  MinifyResult m_result;
  CandidateSize m_start;
  CandidateSize m_best;
  mutable VerdictKeys m_verdictKeys;
  SlipLog m_slips;
  std::unique_ptr<QueryRunner> m_ownRunner;
  QueryRunner& m_runner;
  VoteRule m_rule;
  std::map<std::string, std::size_t> m_running;  ///< queries by key
  std::map<std::size_t, std::string> m_keys;     ///< and back
  std::map<std::string, QueryAnswer> m_answers;  ///< that came and were not needed yet
  std::size_t m_lastQuery = 0;
  std::vector<bool> m_speculationHit;  ///< verdicts that lead to a graph that is known to fail
  std::shared_ptr<StartWindows>
      m_startWindows;          ///< where the start graph's verdict takes long; shared: incomplete here
  bool m_windowsDone = false;  ///< their verdicts are taken, or there was no time for any
  struct Since {
    std::chrono::nanoseconds time{};
    int tests = 0;
  };
  Since m_since;        ///< from when on what is seen tells how long the rest takes
  int m_sideTests = 0;  ///< of surveys since then: many at once, which tell nothing of how many are to come
  mutable std::mutex m_wantedMutex;
  WantedFailure m_wanted;  ///< supposed until the start graph's is known; workers ask for it, too
  std::chrono::nanoseconds m_startTestedAt{};
  SearchEstimator m_estimator;
  SafeBuilding m_safe;
  std::size_t m_searchedUnits = 0;  ///< that the last search over sets left
  struct Pin {
    std::string name, target;
  };
  std::vector<Pin> m_pins;
  std::vector<Candidate> m_history;   ///< accepted ones, the start first; kept where somebody may undo
  std::set<std::string> m_forbidden;  ///< keys of what was undone
  std::optional<int> m_undo;
  std::chrono::nanoseconds m_paused{};  ///< no work was done for so long
};

}  // namespace kerf::inline minifier::inline core
