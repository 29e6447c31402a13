#include "app/workbench/programs/program_ranks.h"

#include <map>

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using RanksJson = nlohmann::json;

/// By content, which stays when stores are merged and their numbers change.
std::string keyOfRanks(const CaptureRow& first) { return "ranks of " + first.contentHash; }

std::map<std::string, std::int64_t> capturesByContent(const std::vector<CaptureRow>& rows) {
  std::map<std::string, std::int64_t> captures;
  for (const CaptureRow& row : rows) captures.emplace(row.contentHash, row.id);
  return captures;
}

}  // namespace

Result<void> keepRanks(Workbench& bench, const std::vector<std::int64_t>& captures) {
  KERF_TRY(auto* store, bench.store());
  RanksJson hashes = RanksJson::array();
  for (const std::int64_t id : captures) {
    KERF_TRY(const CaptureRow row, store->capture(id));
    hashes.push_back(row.contentHash);
  }
  KERF_TRY(const CaptureRow first, store->capture(captures.front()));
  return store->putVerdict(keyOfRanks(first), hashes.dump());
}

Result<std::vector<std::int64_t>> ranksOfProgram(Workbench& bench, std::int64_t capture) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const CaptureRow first, store->capture(capture));
  KERF_TRY(const auto text, store->verdict(keyOfRanks(first)));
  std::vector<std::int64_t> captures;
  if (!text) return captures;
  const auto hashes = readJson<RanksJson>(*text);
  if (!hashes.is_array() || hashes.size() < 2) return captures;
  KERF_TRY(const auto rows, store->captures());
  const auto known = capturesByContent(rows);
  for (const RanksJson& hash : hashes) {
    const auto found = hash.is_string() ? known.find(hash.get<std::string>()) : known.end();
    if (found == known.end()) return std::vector<std::int64_t>();  // one was removed
    captures.push_back(found->second);
  }
  return captures;
}

Result<void> writeRankGraphs(Workbench& bench, const std::vector<std::int64_t>& captures, const std::string& graph,
                             const std::filesystem::path& folder, const Job& job) {
  KERF_TRY(auto* store, bench.store());
  for (std::size_t rank = 0; rank < captures.size(); ++rank) {
    const std::string name = fmt::format("c{}", captures[rank]);
    KERF_TRY(const CaptureSourcePtr source, openCapture(bench, name, job));
    const auto index = chooseGraph(source->capture, name, graph);
    if (!index) {
      Error error = index.error();
      if (rank > 0) error.message = fmt::format("rank {}: {}", rank, error.message);
      return fail(std::move(error));
    }
    KERF_TRY(const GraphRow row, store->graph(captures[rank], int(*index) + 1));
    KERF_TRY(const auto file, store->materialize(row.id, folder));
    std::error_code problem;
    std::filesystem::rename(file, folder / fmt::format("rank{}.py", rank), problem);
    if (problem) return fail(ErrorCode::Environment, "{}: {}", file.string(), problem.message());
  }
  return {};
}

}  // namespace kerf::workbench
