// MemoryVerdictCache: verdicts of this process only; the store has one that lasts.
#pragma once

#include <mutex>
#include <unordered_map>

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

/// Key of a verdict: the candidate, who judged it, and how often.
std::string verdictKey(const Hash128& candidate, const std::string& oracleIdentity, int votes);

}  // namespace kerf::inline minifier::inline core
