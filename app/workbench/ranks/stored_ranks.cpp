#include "app/workbench/ranks/stored_ranks.h"

#include "app/workbench/captures/store_id.h"
#include "app/workbench/protocol/rank_files.h"
#include "app/workbench/protocol/rank_runs.h"

namespace kerf::workbench {

std::string RanksPlace::named(std::string text) const {
  const std::string root = keeps ? keeps->root.string() : std::string();
  const std::string id = splitRanksAddress(name).first;
  for (std::size_t at = root.empty() ? std::string::npos : text.find(root); at != std::string::npos;
       at = text.find(root, at + id.size()))
    text.replace(at, root.size(), id);
  return text;
}

Error RanksPlace::named(Error error) const {
  error.message = named(std::move(error.message));
  error.file = named(std::move(error.file));
  return error;
}

Result<RanksPlace> ranksPlace(Workbench& bench, const std::string& address, const Job& job) {
  RanksPlace place{address, address, nullptr};
  const auto [capture, graph] = splitRanksAddress(address);
  const auto id = parseStoreId(capture);
  std::error_code ignored;
  if (!id || !id->isWholeCapture() || std::filesystem::exists(capture, ignored)) return place;
  KERF_TRY(CaptureSourcePtr source, openCapture(bench, capture, job));
  if (source->root.empty() || !namesRanks(source->root.string())) return place;
  place.text = graph.empty() ? source->root.string() : fmt::format("{}#{}", source->root.string(), graph);
  place.keeps = std::move(source);
  return place;
}

Result<HasRanks> perform(Workbench& bench, const HasRanksRequest& request, const Job& job) {
  KERF_TRY(const RanksPlace place, ranksPlace(bench, request.address, job));
  return HasRanks{namesRanks(place.text)};
}

}  // namespace kerf::workbench
