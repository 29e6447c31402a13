// Search: applies reductions until none makes the candidate smaller and still failing in the same way.
#pragma once

#include <optional>
#include <span>

#include "minifier/core/candidate.h"
#include "minifier/core/minify.h"
#include "minifier/core/query_batch.h"
#include "minifier/core/reduction.h"

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
  /// The delta loop: every reduction in turn, again and again until a whole round accepts nothing; then checks that no
  /// edit of `minimality` is accepted either.
  Result<MinifyResult> run(std::span<const Reduction> reductions, const Reduction& minimality);

 private:
  using Clock = std::chrono::steady_clock;
  struct Proposal {
    Candidate candidate;
    CandidateSize size;
    ResumePoint at;
    std::string key;
    std::optional<Verdict> verdict;
  };

  Result<void> judgeStart();
  Result<void> reduce(std::span<const Reduction> reductions, const Reduction& minimality);
  /// Whether anything was accepted.
  Result<bool> exhaust(const Reduction& reduction);
  /// Goes through the edits until one is accepted; says where.
  Result<std::optional<ResumePoint>> firstAccepted(const Reduction& reduction, ResumePoint resume);
  std::optional<Proposal> propose(const Edit& edit);
  Result<std::optional<std::size_t>> judge(const Reduction& reduction, std::vector<Proposal>& batch);
  Result<void> ask(std::vector<Proposal>& batch);
  Result<void> accept(const Reduction& reduction, Proposal& proposal);
  Result<void> report(const std::string& reduction, const Proposal& proposal, bool accepted);
  bool isWanted(const Verdict& verdict) const;
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
};

}  // namespace kerf::inline minifier::inline core
