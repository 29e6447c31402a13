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

std::string verdictKey(const Hash128& candidate, const std::string& oracleIdentity, int votes) {
  return fmt::format("{}:{}:{}", candidate.hex(), hashText(oracleIdentity).hex(), votes);
}

}  // namespace kerf::inline minifier::inline core
