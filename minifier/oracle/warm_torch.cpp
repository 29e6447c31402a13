#include "minifier/oracle/warm_torch.h"

#include "minifier/oracle/judging_environment.h"

namespace kerf::inline minifier::inline oracle {

bool WarmTorch::serves(const TorchWorkerOptions& options) const {
  return m_worker && m_options.python == options.python && m_options.pythonArguments == options.pythonArguments &&
         m_options.jobs >= options.jobs && m_options.onGpu == options.onGpu && m_options.imports == options.imports &&
         m_options.importFolders == options.importFolders && m_options.limits == options.limits &&
         m_environment == environmentIdentity();
}

Result<std::shared_ptr<TorchWorker>> WarmTorch::worker(const TorchWorkerOptions& options, const std::stop_token& stop) {
  if (serves(options)) return m_worker;
  m_worker.reset();  // two at once would take twice the memory
  KERF_TRY(m_worker, TorchWorker::start(options, stop));
  m_options = options;
  m_options.note = m_options.warming = nullptr;
  m_environment = environmentIdentity();
  ++m_starts;
  return m_worker;
}

}  // namespace kerf::inline minifier::inline oracle
