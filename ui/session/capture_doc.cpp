#include "ui/session/capture_doc.h"

#include <algorithm>
#include <array>
#include <map>

#include <QJsonDocument>

namespace kerf::ui::inline session {
namespace {

constexpr std::int64_t mostRecordBytes = 8 << 20;

QString text(const std::string& value) { return QString::fromStdString(value); }

QStringList names(const std::vector<std::string>& values) {
  QStringList list;
  for (const auto& value : values) list << text(value);
  return list;
}

std::vector<int> indices(const std::vector<std::size_t>& values) { return {values.begin(), values.end()}; }

GraphEntry graphEntry(const CapturedGraph& graph) {
  const auto& origin = graph.origin;
  GraphEntry entry{text(graph.name),           -1,          -1,         text(origin.stage), text(origin.compileId),
                   text(origin.file.string()), origin.rank, origin.line};
  if (graph.pending) return entry;
  entry.inputs = int(graph.inputs.size());
  entry.nodes = int(graph.module.graph.size());
  return entry;
}

RecordEntry recordEntry(const CaptureRecord& record) {
  const auto& origin = record.origin;
  return {text(record.kind), text(record.name), text(origin.compileId), text(origin.file.string()),
          origin.rank,       origin.line,       record.payload.length,  record.graph};
}

QString statusName(CompileEntry::Status status) {
  static const std::array<const char*, 5> names{"ok", "failed", "empty", "cache hit", "incomplete"};
  return names.at(std::size_t(status));
}

/// Seconds of the whole compilation as the metrics name them, -1 if they do not.
double secondsOf(const CompileEntry& entry) {
  for (const char* name : {"entire_frame_compile_time_s", "duration_us"})
    for (const auto& [metric, value] : entry.metrics)
      if (metric == name && value >= 0) return QString(name).endsWith("_us") ? value / 1e6 : value;
  return -1;
}

CompileEntryDoc compileDoc(const CompileEntry& entry) {
  CompileEntryDoc doc{text(entry.id),
                      text(entry.frame),
                      statusName(entry.status),
                      text(entry.failure),
                      entry.rank,
                      secondsOf(entry),
                      indices(entry.graphs),
                      indices(entry.records),
                      {}};
  for (const auto& [name, value] : entry.metrics) doc.metrics.emplace_back(text(name), value);
  return doc;
}

QString laneTitle(int rank, std::int64_t thread) {
  return (rank >= 0 ? QString("rank %1 · ").arg(rank) : QString()) + QString("thread %1").arg(thread);
}

std::shared_ptr<const TimelineDoc> timelineDoc(const std::vector<TimelineEvent>& events) {
  if (events.empty()) return nullptr;
  std::map<std::pair<int, std::int64_t>, int> depths;
  for (const auto& event : events) {
    auto& rows = depths[{event.rank, event.thread}];
    rows = std::max(rows, event.depth + 1);
  }
  auto doc = std::make_shared<TimelineDoc>();
  std::map<std::pair<int, std::int64_t>, int> first;
  int row = 0;
  for (const auto& [lane, rows] : depths) {
    doc->lanes.push_back({laneTitle(lane.first, lane.second), row, rows});
    first[lane] = row;
    row += rows;
  }
  for (const auto& event : events) {
    doc->spans.push_back({text(event.name), text(event.category), text(event.compileId), event.beginUs,
                          event.durationUs, first[{event.rank, event.thread}] + event.depth});
    doc->length = std::max<qint64>(doc->length, event.beginUs + event.durationUs);
  }
  std::stable_sort(doc->spans.begin(), doc->spans.end(),
                   [](const TimelineSpan& one, const TimelineSpan& other) { return one.begin < other.begin; });
  return doc;
}

void fillDetails(CaptureDoc& doc, const CaptureDetails& details) {
  for (const auto& record : details.records) doc.records.push_back(recordEntry(record));
  for (const auto& compile : details.compiles) doc.compiles.push_back(compileDoc(compile));
  for (const auto& group : details.fusionGroups)
    doc.fusion.push_back({text(group.kernel), text(group.origin.compileId), names(group.buffers),
                          names(group.postGradNodes), names(group.preGradNodes)});
  doc.timeline = timelineDoc(details.timeline);
}

QString readable(const CaptureRecord& record, const QString& payload) {
  const auto indented = [](const QByteArray& json) {
    const auto document = QJsonDocument::fromJson(json);
    return document.isNull() ? QString::fromUtf8(json) : QString::fromUtf8(document.toJson());
  };
  if (payload.isEmpty()) return indented(QByteArray::fromStdString(record.metadata));
  return record.form == CaptureRecord::Form::Json ? indented(payload.toUtf8()) : payload;
}

}  // namespace

CaptureDocPtr buildCaptureDoc(int id, const QString& path, const Capture& capture) {
  auto doc = std::make_shared<CaptureDoc>();
  doc->id = id;
  doc->path = path;
  doc->kind = text(capture.kind);
  doc->torchVersion = text(capture.torchVersion);
  doc->notes = names(capture.notes);
  for (const auto& graph : capture.graphs) doc->graphs.push_back(graphEntry(graph));
  if (capture.details) fillDetails(*doc, *capture.details);
  return doc;
}

RecordDocPtr readRecord(int id, const Capture& capture, int index) {
  auto doc = std::make_shared<RecordDoc>();
  doc->capture = id;
  doc->index = index;
  if (!capture.details || index < 0 || index >= int(capture.details->records.size())) return doc;
  const auto& record = capture.details->records[std::size_t(index)];
  doc->title = text(record.name.empty() ? record.kind : record.name);
  doc->detail = text(record.origin.file.filename().string()) + QString(":%1").arg(record.origin.line) +
                (record.origin.compileId.empty() ? QString() : "  ·  " + text(record.origin.compileId)) +
                (record.name.empty() || record.name == record.kind ? QString() : "  ·  " + text(record.kind));
  const auto payload = record.text(mostRecordBytes);
  doc->text = payload ? readable(record, text(*payload)) : text(payload.error().text());
  return doc;
}

}  // namespace kerf::ui::inline session
