// WarmTorch: PyTorch that stays warm from one request to the next, for those who ask about many captures.
#pragma once

#include <memory>

#include "minifier/oracle/torch_worker.h"

namespace kerf::inline minifier::inline oracle {

/// Keeps one worker. It is as good as a new one where the program, the environment, the limits and the sight of a GPU
/// are the same and it takes as many queries at once. One thread at a time.
class WarmTorch {
 public:
  /// Errors: TorchWorker::start's.
  Result<std::shared_ptr<TorchWorker>> worker(const TorchWorkerOptions& options, const std::stop_token& stop);
  int starts() const { return m_starts; }
  /// Where workers keep their tools (TorchWorkerOptions::tools); empty at first.
  const std::filesystem::path& tools() const { return m_tools; }
  void keepToolsIn(std::filesystem::path folder) { m_tools = std::move(folder); }

 private:
  bool serves(const TorchWorkerOptions& options) const;

  std::shared_ptr<TorchWorker> m_worker;
  TorchWorkerOptions m_options;
  std::string m_environment;
  std::filesystem::path m_tools;
  int m_starts = 0;
};

}  // namespace kerf::inline minifier::inline oracle
