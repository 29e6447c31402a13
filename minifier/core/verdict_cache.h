// MemoryVerdictCache: verdicts of this process only; the store has one that lasts. VerdictKeys: what verdicts are found
// by in both.
#pragma once

#include <mutex>
#include <unordered_map>

#include "minifier/core/candidate.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

class MemoryVerdictCache : public VerdictCache {
 public:
  std::optional<Verdict> find(const std::string& key) override;
  void put(const std::string& key, const Verdict& verdict) override;
  std::size_t size() const;

 private:
  mutable std::mutex m_mutex;
  std::unordered_map<std::string, Verdict> m_verdicts;
};

/// By what rule single queries become a verdict: under another one it means something else.
struct JudgingRule {
  int votes = 1;        ///< the majority of so many
  int flakyStarts = 0;  ///< above 0 instead: MinifyOptions::flakyStarts
};

/// Keys of verdicts: the candidate, who judged it, and by which rule. One thread at a time.
class VerdictKeys {
 public:
  VerdictKeys(const Oracle& oracle, const JudgingRule& rule)
      : VerdictKeys(oracle.identity() + oracle.circumstances(), rule) {}
  /// `judge` is what an oracle had for identity() and circumstances().
  VerdictKeys(const std::string& judge, const JudgingRule& rule);
  std::string of(const Candidate& candidate);

 private:
  std::string m_judge;
  CandidateHasher m_hasher;
};

}  // namespace kerf::inline minifier::inline core
