#include "app/workbench/captures/capture_index.h"

#include <cmath>

#include "app/workbench/captures/capture_rows.h"
#include "storage/stores/store.h"

namespace kerf::workbench {

namespace {

std::vector<int> indices(const std::vector<std::size_t>& values) { return {values.begin(), values.end()}; }

std::string graphId(const CaptureSource& source, std::size_t index) {
  if (source.captureId) return fmt::format("c{}/g{}", *source.captureId, index + 1);
  return fmt::format("{}#{}", source.text, source.capture.graphs[index].name);
}

GraphEntry graphEntry(const CaptureSource& source, std::size_t index) {
  const auto& graph = source.capture.graphs[index];
  const auto& origin = graph.origin;
  GraphEntry entry{graph.name,           -1,          -1,          origin.stage,           origin.compileId,
                   origin.file.string(), origin.rank, origin.line, graphId(source, index), {}};
  if (graph.pending) return entry;
  entry.inputs = int(graph.inputs.size());
  entry.nodes = int(graph.module.graph.size());
  entry.hash = graph.contentHash().hex();
  return entry;
}

CompileEntryDoc compileEntry(const CompileEntry& entry) {
  return {entry.id,
          entry.frame,
          std::string(compileStatusName(entry.status)),
          entry.failure,
          entry.rank,
          secondsOf(entry),
          indices(entry.graphs),
          indices(entry.records),
          entry.metrics};
}

RecordEntry recordEntryOf(const RecordRow& row, const std::string& capture) {
  return {row.kind,
          row.name,
          row.source.compileId,
          row.source.file,
          row.source.rank,
          row.source.line,
          row.bytes,
          row.graph.value_or(0) - 1,
          fmt::format("{}/r{}", capture, row.ordinal),
          row.form};
}

/// Places of the entries that belong to a compile id.
template <class Entry>
std::vector<int> placesOf(const CompileRow& compile, const std::vector<Entry>& entries) {
  std::vector<int> places;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].compileId == compile.id && entries[i].rank == compile.rank) places.push_back(int(i));
  return places;
}

CompileEntryDoc compileEntryOf(const CompileRow& row, const CaptureIndex& index) {
  const double seconds = std::isnan(row.milliseconds) ? -1 : row.milliseconds / 1000;
  return {row.id,
          row.frame,
          row.status,
          row.failure,
          row.rank,
          seconds,
          placesOf(row, index.graphs),
          placesOf(row, index.records),
          {}};
}

}  // namespace

GraphEntry entryOf(const GraphRow& row) {
  return {row.name,
          -1,
          row.nodes,
          row.source.stage,
          row.source.compileId,
          row.source.file,
          row.source.rank,
          row.source.line,
          fmt::format("c{}/g{}", row.captureId, row.ordinal),
          row.hash};
}

RecordEntry recordEntry(const CaptureSource& source, std::size_t index) {
  const auto& record = source.capture.details->records[index];
  const auto& origin = record.origin;
  return {record.kind,
          record.name,
          origin.compileId,
          origin.file.string(),
          origin.rank,
          origin.line,
          record.payload.length,
          record.graph,
          fmt::format("{}{}{}", source.text, source.captureId ? "/r" : "#r", index + 1),
          std::string(formName(record.form))};
}

FusionRow fusionRow(const RecordedFusionGroup& group) {
  return {group.kernel,       group.origin.compileId, group.buffers,     group.postGradNodes, group.preGradNodes,
          group.origin.stage, group.origin.rank,      group.origin.line, group.loads,         group.stores};
}

CaptureIndex indexOf(const CaptureSource& source) {
  const auto& capture = source.capture;
  CaptureIndex index;
  index.name = source.text;
  index.path = capture.path.string();
  index.kind = capture.kind;
  index.torchVersion = capture.torchVersion;
  index.notes = capture.notes;
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) index.graphs.push_back(graphEntry(source, i));
  if (!capture.details) return index;
  const auto& details = *capture.details;
  for (std::size_t i = 0; i < details.records.size(); ++i) index.records.push_back(recordEntry(source, i));
  for (const auto& compile : details.compiles) index.compiles.push_back(compileEntry(compile));
  index.timeline = timelineDoc(details.timeline);
  return index;
}

Result<CaptureIndex> indexOfStored(Store& store, std::int64_t captureId) {
  KERF_TRY(const auto row, store.capture(captureId));
  KERF_TRY(const auto graphs, store.graphs(captureId));
  KERF_TRY(const auto records, store.records(captureId));
  KERF_TRY(const auto compiles, store.compiles(captureId));
  CaptureIndex index;
  index.name = fmt::format("c{}", captureId);
  index.path = row.path;
  index.kind = row.kind;
  index.torchVersion = row.torchVersion;
  for (const auto& graph : graphs) index.graphs.push_back(entryOf(graph));
  for (const auto& record : records) index.records.push_back(recordEntryOf(record, index.name));
  for (const auto& compile : compiles) index.compiles.push_back(compileEntryOf(compile, index));
  return index;
}

}  // namespace kerf::workbench
