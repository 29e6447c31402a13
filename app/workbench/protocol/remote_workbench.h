// RemoteWorkbench: the requests of a Workbench, answered by a worker process. Whatever a file or a graph does there,
// this process goes on.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "app/workbench/protocol/requests.h"
#include "engine/support/result.h"

namespace kerf::workbench {

class WorkerProcess;

/// One request at a time: a second thread waits. The worker is started by the first request, and again by the next one
/// when it died; captures are opened again as requests name them.
class RemoteWorkbench {
 public:
  /// `program` is a kerf; `store` a file of the store, or empty for the user's own.
  RemoteWorkbench(std::filesystem::path program, std::string store);
  ~RemoteWorkbench();
  RemoteWorkbench(const RemoteWorkbench&) = delete;
  RemoteWorkbench& operator=(const RemoteWorkbench&) = delete;

  /// The worker's answer. RuntimeFailed naming the signal when the worker died; Cancelled when the job was stopped: by
  /// the request itself, or, where that is ignored, by ending the worker.
  template <class Request>
  Result<typename Request::Answer> perform(const Request& request, const Job& job = {});

  /// Ends the worker now, from any thread; a request under way is Cancelled. The next request starts another one.
  void abandon();
  /// For good, from any thread, and without waiting: the worker hears that nobody listens any more and ends by itself;
  /// one that does not is killed by who asked it, or when this goes. Requests under way and later ones are Cancelled.
  void hangUp();
  /// Ends an idle worker; the next request starts another one. False when it is not idle.
  bool rest();
  /// Whether a worker is running.
  bool alive() const;

 private:
  Result<std::string> ask(std::string_view name, const std::string& body, const Job& job);
  Result<Result<std::string>> converse(const Job& job);
  Error dismiss(std::string_view name, const Error& why);
  Result<void> wake();
  void reach(WorkerProcess* worker);
  void release();

  std::filesystem::path m_program;
  std::string m_store;
  std::mutex m_asking;
  std::unique_ptr<WorkerProcess> m_worker;
  mutable std::mutex m_ending;  ///< guards m_reachable: no process is signalled once it may have been waited for
  WorkerProcess* m_reachable = nullptr;
  std::atomic<bool> m_abandoned = false, m_hungUp = false;
};

}  // namespace kerf::workbench
