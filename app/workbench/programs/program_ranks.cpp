#include "app/workbench/programs/program_ranks.h"

#include <nlohmann/json.hpp>

#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using RanksJson = nlohmann::json;

std::string keyOfRanks(std::int64_t first) { return fmt::format("ranks of c{}", first); }

}  // namespace

Result<void> keepRanks(Workbench& bench, const std::vector<std::int64_t>& captures) {
  KERF_TRY(auto* store, bench.store());
  return store->putVerdict(keyOfRanks(captures.front()), RanksJson(captures).dump());
}

Result<std::vector<std::int64_t>> ranksOfProgram(Workbench& bench, std::int64_t capture) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto text, store->verdict(keyOfRanks(capture)));
  std::vector<std::int64_t> captures;
  if (!text) return captures;
  const auto json = readJson<RanksJson>(*text);
  if (!json.is_array()) return captures;
  for (const RanksJson& id : json)
    if (id.is_number_integer()) captures.push_back(id.get<std::int64_t>());
  if (captures.size() != json.size() || captures.size() < 2 || captures.front() != capture) captures.clear();
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
