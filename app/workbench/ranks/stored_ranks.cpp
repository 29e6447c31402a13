#include "app/workbench/ranks/stored_ranks.h"

#include <optional>

#include "app/workbench/captures/store_id.h"
#include "app/workbench/programs/program_ranks.h"
#include "app/workbench/protocol/rank_files.h"
#include "app/workbench/protocol/rank_runs.h"
#include "engine/process/temporary_folder.h"

namespace kerf::workbench {

std::string RanksPlace::named(std::string text) const {
  const std::string folder = root.string();
  const std::string id = splitRanksAddress(name).first;
  for (std::size_t at = folder.empty() ? std::string::npos : text.find(folder); at != std::string::npos;
       at = text.find(folder, at + id.size()))
    text.replace(at, folder.size(), id);
  return text;
}

Error RanksPlace::named(Error error) const {
  error.message = named(std::move(error.message));
  error.file = named(std::move(error.file));
  return error;
}

namespace {

/// The capture that an address names as a whole, with or without a graph.
std::optional<StoreId> captureOf(const std::string& address) {
  const std::string capture = splitRanksAddress(address).first;
  const auto id = parseStoreId(capture);
  std::error_code ignored;
  return id && id->isWholeCapture() && !std::filesystem::exists(capture, ignored) ? id : std::nullopt;
}

}  // namespace

Result<RanksPlace> ranksPlace(Workbench& bench, const std::string& address, const Job& job) {
  RanksPlace place{address, address};
  const auto id = captureOf(address);
  if (!id) return place;
  const auto [capture, graph] = splitRanksAddress(address);
  KERF_TRY(const auto captures, ranksOfProgram(bench, id->number));
  if (!captures.empty()) {
    KERF_TRY(TemporaryFolder folder, TemporaryFolder::create());
    KERF_CHECK(writeRankGraphs(bench, captures, graph, folder.path(), job));
    place.root = folder.path();
    place.text = place.root.string();
    place.keeps = std::make_shared<TemporaryFolder>(std::move(folder));
    return place;
  }
  KERF_TRY(const CaptureSourcePtr source, openCapture(bench, capture, job));
  if (source->root.empty() || !namesRanks(source->root.string())) return place;
  place.root = source->root;
  place.text = graph.empty() ? place.root.string() : fmt::format("{}#{}", place.root.string(), graph);
  place.keeps = source;
  return place;
}

Result<HasRanks> perform(Workbench& bench, const HasRanksRequest& request, const Job& job) {
  if (const auto id = captureOf(request.address)) {
    KERF_TRY(const auto captures, ranksOfProgram(bench, id->number));
    if (!captures.empty()) return HasRanks{true};
  }
  KERF_TRY(const RanksPlace place, ranksPlace(bench, request.address, job));
  return HasRanks{namesRanks(place.text)};
}

}  // namespace kerf::workbench
