// Search: applies reductions until none makes the candidate smaller and still failing in the same way.
#pragma once

#include <optional>
#include <span>

#include "minifier/core/candidate.h"
#include "minifier/core/detours.h"
#include "minifier/core/minify.h"
#include "minifier/core/query_batch.h"
#include "minifier/core/reduction.h"
#include "minifier/core/set_search.h"
#include "minifier/core/subset_builder.h"

namespace kerf::inline minifier::inline core {

/// Everything that one minification needs besides its start graph and its reductions. Not owned.
struct SearchContext {
  Oracle& oracle;
  VerdictCache& cache;
  const MinifyOptions& options;
  const MinifyObserver& observer;
  std::stop_token stop;
};

class Search {
 public:
  Search(Candidate start, const SearchContext& context);
  /// Every reduction in turn, again and again until a whole round but the first, which leaves proofs to the others,
  /// accepts nothing: then no edit of any of them makes the candidate smaller and leaves it failing, which is what
  /// 1-minimal means here.
  Result<MinifyResult> run(std::span<const Reduction> reductions);

 private:
  using Clock = std::chrono::steady_clock;
  struct Proposal {
    Candidate candidate;
    CandidateSize size;
    ResumePoint at;
    std::string key;
    std::optional<Verdict> verdict;
    std::string_view step;  ///< of a search over sets
  };

  Result<void> judgeStart();
  Result<void> reduce(std::span<const Reduction> reductions);
  /// Whether anything was accepted.
  Result<bool> exhaust(const Reduction& reduction, bool isSettled);
  /// Goes through the edits until one is accepted; says where.
  Result<std::optional<ResumePoint>> firstAccepted(const Reduction& reduction, ResumePoint resume, bool isSettled);
  Result<bool> searchSets(bool isFirst);
  Result<bool> takeDetour(SetSearch& search, const Detours& detours, SubsetBuilder& builder);
  Result<void> askAhead(SetSearch& search, SubsetBuilder& builder);
  std::optional<Proposal> propose(const std::function<std::optional<Candidate>()>& build);
  Result<std::optional<std::size_t>> judge(const std::string& reduction, std::vector<Proposal>& batch);
  Result<void> ask(std::vector<Proposal>& batch);
  Result<void> accept(const std::string& reduction, Proposal& proposal);
  Result<void> report(const std::string& reduction, const Proposal& proposal, bool accepted);
  bool isWanted(const Verdict& verdict) const;
  static bool holds(const std::vector<Proposal>& batch, const std::string& key);
  std::size_t width() const;  ///< of a batch
  double secondsLeft() const;
  Result<void> checkStop() const;

  SearchContext m_context;
  MinifyResult m_result;
  CandidateSize m_start;
  CandidateSize m_best;
  CandidateHasher m_hasher;
  std::string m_identity;
  Clock::time_point m_began = Clock::now();
  int m_testsAtLastAccept = 0;
  std::size_t m_searchedUnits = 0;  ///< that the last search over sets left
};

}  // namespace kerf::inline minifier::inline core
