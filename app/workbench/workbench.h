// Workbench: everything that Kerf does for its users, behind one door: requests in, typed answers and events out. The
// command line calls it directly; a worker process offers the same to others (protocol/remote_workbench.h).
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/workbench/protocol/requests.h"
#include "engine/support/result.h"

namespace kerf::inline storage::inline stores {
class Store;
}
namespace kerf::inline minifier::inline oracle {
class WarmTorch;
}

namespace kerf::workbench {

struct CaptureSource;
class KeptValues;
class Workbench;

#define KERF_DECLARE_PERFORM(Type) Result<Type::Answer> perform(Workbench& bench, const Type& request, const Job& job);
KERF_REQUESTS(KERF_DECLARE_PERFORM)
#undef KERF_DECLARE_PERFORM

struct WorkbenchOptions {
  std::string store;                                 ///< file of the store; empty: the user's own
  std::filesystem::path program = "/proc/self/exe";  ///< kerf, for checks in a fresh process
  std::size_t keptCaptures = 1;                      ///< how many opened captures stay in memory
};

/// One thread at a time. Prints nothing and ends nothing; what executes graphs runs in child processes.
class Workbench {
 public:
  explicit Workbench(WorkbenchOptions options = {});
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  template <class Request>
  Result<typename Request::Answer> perform(const Request& request, const Job& job = {}) {
    return workbench::perform(*this, request, job);
  }

  const WorkbenchOptions& options() const { return m_options; }
  /// Opens the store on first use.
  Result<Store*> store();
  /// The store for keeping results of work that can be done without: null, with a warning, when the user named no store
  /// and the default one cannot be used (a read-only home).
  Result<Store*> storeIfUsable(const Job& job);

  /// Folder beside the store where object code of kernels, and what passes measure, is kept between compilations; empty
  /// without a usable store.
  std::filesystem::path codeCache(const Job& job);

  /// Keeps a result of work that is done: `keep` writes it to the store. Where that cannot be, the work is not lost: a
  /// warning says what is not stored and unstored() says so from then on. Cancelled goes through.
  Result<void> keepResult(const Job& job, const std::function<Result<void>(Store&)>& keep);
  void noteUnstored(const Job& job, const Error& error);
  /// Whether a result could not be stored although it was to be.
  bool unstored() const { return m_unstored; }

  /// PyTorch that stays warm between requests, for those that want it.
  /// Keeps the tools of its workers in a folder beside the store, if there is a store.
  WarmTorch& warmTorch();

  /// Values of nodes that were computed lately.
  KeptValues& keptValues();

  /// Captures that were opened before, by the text that named them; null if it is not kept.
  std::shared_ptr<const CaptureSource> kept(const std::string& text) const;
  /// Keeps a capture; the one that was kept first goes when there are too many.
  void keep(const std::string& text, std::shared_ptr<const CaptureSource> source);
  void forget(const std::string& text);

 private:
  struct Kept {
    std::shared_ptr<const CaptureSource> source;
    std::uint64_t since = 0;
  };

  WorkbenchOptions m_options;
  std::unique_ptr<Store> m_store;
  std::unique_ptr<WarmTorch> m_warmTorch;
  std::unique_ptr<KeptValues> m_keptValues;
  std::map<std::string, Kept> m_kept;
  std::uint64_t m_opened = 0;
  bool m_unstored = false;
};

/// Number of the newest store schema that this Kerf writes.
int storeSchema();

}  // namespace kerf::workbench
