// StoreVerdicts: the verdict cache that lasts, so that a second run does not ask again what is known.
#pragma once

#include <mutex>
#include <unordered_map>

#include "minifier/core/minify.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

/// Thread-safe over one store. A verdict that cannot be written is only kept in memory: the search does not depend on
/// it.
class StoreVerdicts : public VerdictCache {
 public:
  /// `fresh`: what earlier runs found is not looked at, and replaced.
  StoreVerdicts(Store& store, std::mutex& storeMutex, bool fresh = false)
      : m_store(store), m_mutex(storeMutex), m_fresh(fresh) {}
  std::optional<Verdict> find(const std::string& key) override;
  void put(const std::string& key, const Verdict& verdict) override;

 private:
  Store& m_store;
  std::mutex& m_mutex;
  bool m_fresh = false;
  std::unordered_map<std::string, Verdict> m_known;
};

}  // namespace kerf::workbench
