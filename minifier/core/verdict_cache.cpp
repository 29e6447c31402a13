// MemoryVerdictCache: a map under a lock.
#include "minifier/core/verdict_cache.h"

namespace kerf::inline minifier::inline core {

std::optional<Verdict> MemoryVerdictCache::find(const std::string& key) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_verdicts.find(key);
  return found == m_verdicts.end() ? std::nullopt : std::optional(found->second);
}

void MemoryVerdictCache::put(const std::string& key, const Verdict& verdict) {
  const std::lock_guard lock(m_mutex);
  m_verdicts.insert_or_assign(key, verdict);
}

std::size_t MemoryVerdictCache::size() const {
  const std::lock_guard lock(m_mutex);
  return m_verdicts.size();
}

/// Negative for flaky rules, so that no number of votes is meant.
VerdictKeys::VerdictKeys(const std::string& judge, const JudgingRule& rule)
    : m_judge(fmt::format("{}:{}", hashText(judge).hex(), rule.flakyStarts > 0 ? -rule.flakyStarts : rule.votes)) {}

std::string VerdictKeys::of(const Candidate& candidate) {
  return fmt::format("{}:{}", m_hasher.hash(candidate).hex(), m_judge);
}

}  // namespace kerf::inline minifier::inline core
