// Candidates as text and bytes for the torch worker.
#include "minifier/oracle/torch_oracle.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "engine/capture/repro/export_text.h"
#include "engine/capture/repro/writer.h"
#include "minifier/oracle/exported_candidate.h"
#include "minifier/oracle/judging_environment.h"

namespace kerf::inline minifier::inline oracle {

namespace {

std::vector<NamedBytes> bytesOf(const CapturedGraph& graph) {
  std::vector<NamedBytes> bytes;
  for (const StorageRef& storage : graph.storages)
    if (!storage.hash.empty() && storage.data) bytes.push_back({storage.hash, storage.data});
  return bytes;
}

/// Of what runs many trials, the limit of one is that of a query.
constexpr int mostTrials = 200;

std::string queryText(std::string_view operation, const TorchOracleOptions& options,
                      const std::vector<NamedBytes>& bytes) {
  nlohmann::json hashes = nlohmann::json::array();
  for (const NamedBytes& one : bytes) hashes.push_back(one.hash);
  const double seconds = std::chrono::duration<double>(options.timeout).count();
  return nlohmann::json{{"op", operation},
                        {"backend", options.backend},
                        {"check", options.check},
                        {"storages", std::move(hashes)},
                        {"timeout", operation == "judge" ? seconds : seconds * mostTrials},
                        {"timeout_each", seconds}}
      .dump();
}

}  // namespace

bool needsGpu(const Capture& capture, std::size_t graphIndex) {
  const std::string text = reproText(capture, graphIndex);
  constexpr std::string_view marks[] = {"device(type='cuda'", "'cuda:", "'cuda'", "\"cuda:", "\"cuda\""};
  return std::ranges::any_of(marks, [&](std::string_view mark) { return text.contains(mark); });
}

TorchOracle::TorchOracle(TorchOracleOptions options, Capture like, std::size_t graphIndex,
                         std::shared_ptr<TorchWorker> worker)
    : m_options(std::move(options)), m_like(std::move(like)), m_graphIndex(graphIndex), m_worker(std::move(worker)) {}

Result<std::unique_ptr<TorchOracle>> TorchOracle::start(TorchOracleOptions options, Capture like,
                                                        std::size_t graphIndex, const std::stop_token& stop) {
  options.worker.onGpu = needsGpu(like, graphIndex);
  KERF_TRY(auto worker, TorchWorker::start(options.worker, stop));
  return with(std::move(worker), std::move(options), std::move(like), graphIndex);
}

std::unique_ptr<TorchOracle> TorchOracle::with(std::shared_ptr<TorchWorker> worker, TorchOracleOptions options,
                                               Capture like, std::size_t graphIndex) {
  options.worker.note = options.worker.warming = nullptr;  // of a start
  return std::unique_ptr<TorchOracle>(
      new TorchOracle(std::move(options), std::move(like), graphIndex, std::move(worker)));
}

Result<std::string> TorchOracle::ask(std::string_view operation, const Candidate& candidate, const Capture& like,
                                     const std::stop_token& stop) {
  KERF_TRY(const Capture capture, exportedCandidate(candidate, like, m_graphIndex));
  KERF_TRY(const std::string source, exportText(capture, 0, {}));
  const std::vector<NamedBytes> bytes = bytesOf(capture.graphs[0]);
  return m_worker->ask(queryText(operation, m_options, bytes), source, bytes, stop);
}

Result<TorchAnswer> TorchOracle::answer(const Candidate& candidate, const Capture& like, const std::stop_token& stop) {
  KERF_TRY(const std::string line, ask("judge", candidate, like, stop));
  return parseTorchAnswer(line);
}

Result<Verdict> TorchOracle::judge(const Candidate& candidate, std::stop_token stop) {
  const auto found = answer(candidate, m_like, stop);
  if (found) return verdictOf(*found);
  const Error& error = found.error();
  const bool isAbout = error.code == ErrorCode::BadInput || error.code == ErrorCode::ShapeMismatch;
  if (!isAbout) return std::unexpected(error);
  return Verdict{.kind = VerdictKind::CannotTest, .detail = error.text()};
}

std::string TorchOracle::identity() const {
  return fmt::format("torch {} {} backend={} check={} limit={}ms", torchVersion(), m_options.worker.python.string(),
                     m_options.backend.empty() ? "auto" : m_options.backend, m_options.check,
                     m_options.timeout.count());
}

std::string TorchOracle::circumstances() const {
  return fmt::format(" [environment={} launcher={}]", environmentIdentity(), launcherIdentity(m_like, m_graphIndex));
}

}  // namespace kerf::inline minifier::inline oracle
