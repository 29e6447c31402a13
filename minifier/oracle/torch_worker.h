// TorchWorker: the user's Python with torch imported and warm, which answers queries over a socket until it is gone.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "engine/process/containment.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/embedded_file.h"
#include "engine/tensor/storage.h"

namespace kerf::inline minifier::inline oracle {

struct TorchWorkerOptions {
  std::filesystem::path python;                   ///< a program, not a name
  std::vector<std::string> pythonArguments = {};  ///< in front of those that it gets: "-X", "dev"
  int jobs = 1;                                   ///< queries at the same time
  bool onGpu = false;                             ///< else no GPU is seen
  CandidateLimits limits;                         ///< of all of them together
  /// Where what every job on the CPU would compile anew (precompiled headers, libraries to try instructions with; 130 MB
  /// a PyTorch) stays for the next. Empty: nowhere.
  std::filesystem::path tools;
  /// Imported after torch: modules, which are looked for in these folders too, and libraries of ops ("libmine.so").
  std::vector<std::string> imports = {}, importFolders = {};
  /// Hear now and then how long importing has taken, and what came of it. May be null.
  std::function<void(const std::string& text)> warming, note;
};

/// Bytes that a query needs, under the name that its text has for them. They travel once per worker.
struct NamedBytes {
  std::string hash;  ///< SHA-1, 40 hexadecimal digits
  StoragePtr bytes;
};

/// One process, contained as every candidate is: what it forks, compiles and leaves behind ends with this object. One
/// that dies is started again, some times.
class TorchWorker {
 public:
  /// Returns when torch is imported. Environment when the program cannot import torch, with its last words; Cancelled.
  static Result<std::shared_ptr<TorchWorker>> start(TorchWorkerOptions options, const std::stop_token& stop);
  ~TorchWorker();
  TorchWorker(const TorchWorker&) = delete;
  TorchWorker& operator=(const TorchWorker&) = delete;

  /// The answer's JSON. `query` is a JSON object without "source_bytes" and "sent". Cancelled when `stop` is requested,
  /// which ends what the worker does about it; RuntimeFailed when the worker ends again and again. A query over which
  /// two workers ended is untestable. Thread-safe.
  Result<std::string> ask(const std::string& query, const std::string& source, std::span<const NamedBytes> bytes,
                          const std::stop_token& stop);
  const std::string& torchVersion() const { return m_torch; }
  /// How often it was started again.
  int restarts() const { return m_restarts; }

 private:
  explicit TorchWorker(TorchWorkerOptions options) : m_options(std::move(options)) {}
  struct Life;
  Result<std::shared_ptr<Life>> begin(const std::stop_token& stop);
  Result<std::shared_ptr<Life>> living(const std::shared_ptr<Life>& dead, const std::stop_token& stop);
  Result<void> greet(Life& life, const std::stop_token& stop);

  TorchWorkerOptions m_options;
  std::string m_torch;
  std::mutex m_mutex;  ///< of m_life
  std::shared_ptr<Life> m_life;
  int m_restarts = 0;
};

/// resources/torch_worker.py and the modules that it imports.
std::span<const EmbeddedFile> torchWorkerFiles();

}  // namespace kerf::inline minifier::inline oracle
