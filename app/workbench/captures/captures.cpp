// Opening, closing and listing captures, and saying what a text names.
#include "app/workbench/captures/aot_stage.h"
#include "app/workbench/captures/capture_index.h"
#include "app/workbench/captures/records.h"
#include "app/workbench/captures/store_id.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

namespace {

using Place = LocateRequest::Place;

/// "c3" or a path without '#': something that may hold several graphs.
bool mayBeWhole(const std::string& text) {
  if (const auto id = parseStoreId(text)) return id->isWholeCapture();
  return splitAtHash(text).second.empty();
}

/// Logs and folders are shown as a whole, and so is everything else that does not hold exactly one graph.
Result<bool> isWhole(Workbench& bench, const std::string& text, const Job& job) {
  if (!mayBeWhole(text)) return false;
  if (const auto id = parseStoreId(text)) {
    KERF_TRY(auto* store, bench.store());
    KERF_TRY(const auto row, store->capture(id->number));
    return row.graphCount != 1 || row.recordCount > 0;
  }
  KERF_TRY(const auto source, openCapture(bench, text, job));
  const auto& capture = source->capture;
  return capture.graphs.size() != 1 || (capture.details && !capture.details->records.empty());
}

/// Where a capture of the store, or that of a graph of it, was imported from; empty for anything else.
Result<std::string> originOf(Workbench& bench, const std::string& text) {
  const auto id = parseStoreId(text);
  if (!id || id->kind != 'c') return std::string();
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto row, store->capture(id->number));
  return row.path;
}

}  // namespace

Result<std::vector<CaptureIndex>> perform(Workbench& bench, const OpenRequest& request, const Job& job) {
  KERF_TRY(const auto sources, openAll(bench, request.path, job));
  std::vector<CaptureIndex> indices;
  for (const auto& source : sources) {
    CaptureIndex& index = indices.emplace_back(indexOf(*source));
    KERF_TRY(std::string origin, originOf(bench, source->text));
    if (!origin.empty()) index.path = std::move(origin);
  }
  return indices;
}

Result<Done> perform(Workbench& bench, const CloseRequest& request, const Job&) {
  bench.forget(request.capture);
  return Done();
}

Result<CaptureIndex> perform(Workbench& bench, const IndexRequest& request, const Job& job) {
  if (const auto id = parseStoreId(request.capture); id && id->isWholeCapture()) {
    KERF_TRY(auto* store, bench.store());
    return indexOfStored(*store, id->number);
  }
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  return indexOf(*source);
}

Result<Place> perform(Workbench& bench, const LocateRequest& request, const Job& job) {
  if (!splitAtStage(request.text).second.empty()) return Place::Graph;
  KERF_TRY(const auto record, resolveRecord(bench, request.text, job));
  if (record) return Place::Record;
  KERF_TRY(const bool whole, isWhole(bench, request.text, job));
  return whole ? Place::Capture : Place::Graph;
}

}  // namespace kerf::workbench
