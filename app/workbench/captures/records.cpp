#include "app/workbench/captures/records.h"

#include <nlohmann/json.hpp>

#include "app/workbench/captures/capture_index.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/store_id.h"
#include "engine/capture/common/recorded_fusion.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

Result<std::optional<RecordSource>> storedRecord(Workbench& bench, const std::string& text, const StoreId& id,
                                                 const Job& job) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto row, store->record(id.number, id.record));
  KERF_TRY(auto source, openStoredFiles(bench, id.number, job));
  const auto index = std::size_t(id.record) - 1;
  const auto* details = source->capture.details.get();
  const bool there = details != nullptr && index < details->records.size() &&
                     details->records[index].kind == row.kind && details->records[index].origin.line == row.source.line;
  if (!there) return fail(ErrorCode::NotFound, "{} is not in the capture's files any more; import them again", text);
  return RecordSource{std::move(source), index};
}

Result<RecordSource> recordAt(Workbench& bench, const RecordRequest& request, const Job& job) {
  if (request.index < 0) {
    KERF_TRY(auto found, resolveRecord(bench, request.text, job));
    if (found) return std::move(*found);
    return fail(ErrorCode::NotFound, Hint{Advice::ListRecords}, "{} is not a record", request.text);
  }
  KERF_TRY(auto source, openCapture(bench, request.text, job));
  const auto* details = source->capture.details.get();
  if (details == nullptr || std::size_t(request.index) >= details->records.size())
    return fail(ErrorCode::NotFound, "{} has no record of number {}", request.text, request.index + 1);
  return RecordSource{std::move(source), std::size_t(request.index)};
}

std::string indented(const std::string& text) {
  const auto json = readJson<nlohmann::ordered_json>(text);
  return json.is_discarded() ? text : json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// The groups of the part to which the graph belongs; of its whole compilation where it belongs to none.
std::vector<RecordedFusionGroup> groupsOfGraph(const Capture& capture, std::size_t graph) {
  auto part = compiledPartOf(capture, graph);
  if (part) return std::move(part->groups);
  return recordedFusionGroups(capture, &capture.graphs[graph].origin);
}

}  // namespace

Result<std::optional<RecordSource>> resolveRecord(Workbench& bench, const std::string& text, const Job& job) {
  const auto id = parseStoreId(text);
  if (id && id->record != 0) return storedRecord(bench, text, *id, job);
  const auto [path, name] = splitAtHash(text);
  if (id || name.empty()) return std::nullopt;
  KERF_TRY(auto source, openCapture(bench, path, job));
  for (const auto& graph : source->capture.graphs)
    if (graph.name == name) return std::nullopt;
  const auto index = findRecord(source->capture, name);
  if (!index) return std::nullopt;
  const CaptureRecord& record = source->capture.details->records[*index];
  if (record.graph >= 0 && record.name == name) return std::nullopt;  // by its number it is the text
  return RecordSource{std::move(source), *index};
}

Result<RecordDoc> perform(Workbench& bench, const RecordRequest& request, const Job& job) {
  KERF_TRY(const auto source, recordAt(bench, request, job));
  const auto& record = source.record();
  RecordDoc doc{recordEntry(*source.capture, source.index), record.metadata, {}};
  KERF_TRY(doc.text, record.text(request.mostBytes));
  if (request.form == RecordRequest::Form::Raw) return doc;
  if (doc.text.empty())
    doc.text = indented(record.metadata);
  else if (record.form == CaptureRecord::Form::Json)
    doc.text = indented(doc.text);
  return doc;
}

Result<std::vector<FusionRow>> perform(Workbench& bench, const FusionRequest& request, const Job& job) {
  std::vector<FusionRow> rows;
  const auto add = [&](const std::vector<RecordedFusionGroup>& groups) {
    for (const auto& group : groups) rows.push_back(fusionRow(group));
  };
  KERF_TRY(const auto place, bench.perform(LocateRequest{request.text}, job));
  if (place == LocateRequest::Place::Graph) {
    KERF_TRY(const auto source, resolveGraph(bench, {request.text}, job));
    if (source.capture.details) add(groupsOfGraph(source.capture, source.index));
    return rows;
  }
  KERF_TRY(const auto source, openCapture(bench, request.text, job));
  add(recordedFusionGroups(source->capture));
  return rows;
}

}  // namespace kerf::workbench
