// What the store holds, as rows.
#include <algorithm>

#include "app/workbench/captures/capture_index.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

namespace {

/// "c3/g1" of a graph's row.
Result<std::string> graphName(Store& store, std::int64_t rowId) {
  KERF_TRY(const auto row, store.graphById(rowId));
  return fmt::format("c{}/g{}", row.captureId, row.ordinal);
}

Result<void> listCaptures(Store& store, StoreListing& listing) {
  KERF_TRY(const auto rows, store.captures());
  for (const auto& row : rows) {
    listing.captures.push_back({fmt::format("c{}", row.id), row.kind, row.path, row.torchVersion, row.importedAt,
                                row.graphCount, row.compileCount, row.recordCount});
  }
  return {};
}

Result<void> listGraphs(Store& store, StoreListing& listing) {
  KERF_TRY(const auto rows, store.graphs());
  for (const auto& row : rows) listing.graphs.push_back(entryOf(row));
  return {};
}

Result<void> listRuns(Store& store, StoreListing& listing) {
  KERF_TRY(const auto rows, store.runs());
  for (const auto& row : rows) {
    KERF_TRY(auto graph, graphName(store, row.graphId));
    listing.runs.push_back({fmt::format("r{}", row.id), std::move(graph), row.kind, row.backend, row.status,
                            row.startedAt, row.options, double(row.nanoseconds) / 1e6});
  }
  return {};
}

Result<void> listReductions(Store& store, StoreListing& listing) {
  KERF_TRY(const auto rows, store.reductions());
  for (const auto& row : rows) {
    KERF_TRY(auto graph, graphName(store, row.graphId));
    KERF_TRY(const auto steps, store.steps(row.id));
    listing.reductions.push_back({fmt::format("m{}", row.id), std::move(graph), row.status, row.startedAt,
                                  row.fingerprint, row.oracle, row.startNodes, row.bestNodes, int(steps.size()),
                                  row.tests});
  }
  return {};
}

Result<void> listRepros(Store& store, StoreListing& listing) {
  KERF_TRY(const auto rows, store.repros());
  for (const auto& row : rows) {
    KERF_TRY(auto graph, graphName(store, row.graphId));
    const auto reduction = row.reductionId ? fmt::format("m{}", *row.reductionId) : std::string();
    listing.repros.push_back(
        {fmt::format("p{}", row.id), std::move(graph), reduction, row.createdAt, row.path, row.nodes});
  }
  return {};
}

struct ListedKind {
  std::string_view name;
  Result<void> (*list)(Store&, StoreListing&);
};
constexpr ListedKind listedKinds[] = {{"captures", listCaptures},
                                      {"graphs", listGraphs},
                                      {"runs", listRuns},
                                      {"reductions", listReductions},
                                      {"repros", listRepros}};

}  // namespace

Result<StoreListing> perform(Workbench& bench, const StoreRequest& request, const Job&) {
  KERF_TRY(auto* store, bench.store());
  StoreListing listing;
  listing.store = store->path().string();
  bool known = request.kind.empty() || request.kind == "store";
  for (const auto& kind : listedKinds) {
    if (!request.kind.empty() && request.kind != kind.name) continue;
    KERF_CHECK(kind.list(*store, listing));
    known = true;
  }
  if (known) return listing;
  return fail(ErrorCode::BadUsage, "the store has no {}", request.kind);
}

}  // namespace kerf::workbench
