// Captures: opening files and folders, and what they hold beside the graphs themselves: compile ids, records, the
// timeline, recorded fusion groups.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/protocol/job.h"

namespace kerf::workbench {

/// One graph of a capture as its file lists it; the graph itself is read when somebody goes there.
struct GraphEntry {
  std::string name;
  int inputs = -1, nodes = -1;  ///< -1: not known before the graph is read
  std::string stage, compileId, file;
  int rank = -1, line = 0;  ///< rank -1: none; line 0: unknown
  std::string id, hash;     ///< "c3/g1" or "trace.log#name"; the hash is empty before the graph is read

  KERF_FIELDS(id, name, nodes, hash, compileId, rank, stage, file, line, inputs)
};

/// A record of a trace or a file of a debug folder.
struct RecordEntry {
  std::string kind, name, compileId, file;
  int rank = -1, line = 0;
  std::int64_t bytes = 0;
  int graph = -1;        ///< index of the graph that this record is
  std::string id, form;  ///< "c3/r17"; "none", "text", "json", "python"

  KERF_FIELDS(id, kind, name, compileId, rank, file, line, form, bytes, graph)
};

/// One compile id with what PyTorch said of it.
struct CompileEntryDoc {
  std::string id, frame;
  std::string status, failure;  ///< status: "ok", "failed", "empty", "cache hit", "incomplete", "restarted"
  int rank = -1;
  double seconds = -1;               ///< of the whole compilation; -1: not recorded
  std::vector<int> graphs, records;  ///< indices in the capture's lists
  std::vector<std::pair<std::string, double>> metrics;

  KERF_FIELDS(id, rank, status, failure, frame, seconds, records, graphs, metrics)
};

/// One bar of the timeline, in microseconds from the start of the capture.
struct TimelineSpan {
  std::string name, category, compileId;
  std::int64_t begin = 0, duration = 0;
  int row = 0;  ///< from the top, over all lanes

  KERF_FIELDS(name, category, compileId, begin, duration, row)
};
struct TimelineLane {
  std::string title;
  int firstRow = 0, rows = 0;

  KERF_FIELDS(title, firstRow, rows)
};
struct TimelineDoc {
  std::vector<TimelineLane> lanes;
  std::vector<TimelineSpan> spans;  ///< by begin
  std::int64_t length = 0;

  KERF_FIELDS(lanes, spans, length)
};

/// A kernel that PyTorch generated and the nodes in it.
struct FusionRow {
  std::string kernel, compileId;  ///< the kernel is empty before fusion
  std::vector<std::string> buffers, postGradNodes, preGradNodes;
  std::string stage;
  int rank = -1, line = 0;
  std::vector<std::string> loads, stores;  ///< where the code says: what it reads from memory and writes there

  KERF_FIELDS(kernel, compileId, rank, stage, line, buffers, postGradNodes, preGradNodes, loads, stores)
};

/// What a capture holds.
struct CaptureIndex {
  std::string name;  ///< by which requests name it: "c3", or the path
  std::string path, kind, torchVersion;
  std::vector<std::string> notes;
  std::vector<GraphEntry> graphs;
  std::vector<RecordEntry> records;
  std::vector<CompileEntryDoc> compiles;
  std::shared_ptr<const TimelineDoc> timeline;  ///< null: no events

  KERF_FIELDS(name, path, kind, torchVersion, notes, graphs, records, compiles, timeline)
};

/// Opens a file (one capture) or a folder (one for every thing in it that can be opened) and keeps it open. Progress
/// comes as events.
struct OpenRequest {
  using Answer = std::vector<CaptureIndex>;  ///< at least one
  static constexpr std::string_view name = "open";
  std::string path;  ///< or a capture of the store, "c3"

  KERF_FIELDS(path)
};

/// Forgets an opened capture, so that its file is read again when it is asked for.
struct CloseRequest {
  using Answer = Done;
  static constexpr std::string_view name = "close";
  std::string capture;

  KERF_FIELDS(capture)
};

/// Graphs, records and compile ids of a capture ("c3", a path); of a stored one without opening it.
struct IndexRequest {
  using Answer = CaptureIndex;
  static constexpr std::string_view name = "index";
  std::string capture;

  KERF_FIELDS(capture)
};

/// What a text names: commands take graphs, whole captures and records in the same place.
struct LocateRequest {
  enum class Place { Graph, Capture, Record };
  using Answer = Place;
  static constexpr std::string_view name = "locate";
  std::string text;

  KERF_FIELDS(text)
};
constexpr LocateRequest::Place lastOf(LocateRequest::Place) { return LocateRequest::Place::Record; }

/// The text of one record.
struct RecordDoc {
  RecordEntry entry;
  std::string metadata;  ///< the record's own JSON line; empty for files
  std::string text;      ///< the payload

  KERF_FIELDS(entry, metadata, text)
};
struct RecordRequest {
  enum class Form { Raw, Indented };  ///< Indented: JSON for people; the metadata where there is no payload
  using Answer = RecordDoc;
  static constexpr std::string_view name = "record";
  std::string text;  ///< "c3/r17", "trace.log#r17"; with `index` the capture alone
  int index = -1;    ///< of a record of the capture, from 0
  Form form = Form::Raw;
  std::int64_t mostBytes = 64 << 20;  ///< TooLarge above

  KERF_FIELDS(text, index, form, mostBytes)
};
constexpr RecordRequest::Form lastOf(RecordRequest::Form) { return RecordRequest::Form::Indented; }

/// Where a compile's time went, by event name, largest self time first.
struct TimelineTotal {
  std::string name, category;
  std::int64_t count = 0;
  std::int64_t totalUs = 0, selfUs = 0,
               longestUs = 0;  ///< self: without the events inside

  KERF_FIELDS(name, category, count, totalUs, selfUs, longestUs)
};
struct TimelineSummary {
  std::int64_t events = 0,
               spanUs = 0;  ///< span: from the first event's begin to the last one's end
  std::vector<TimelineTotal> totals;

  KERF_FIELDS(events, spanUs, totals)
};
struct TimelineRequest {
  using Answer = TimelineSummary;
  static constexpr std::string_view name = "timeline";
  std::string capture;

  KERF_FIELDS(capture)
};

/// Recorded fusion groups of a whole capture, or of the compile id of one graph.
struct FusionRequest {
  using Answer = std::vector<FusionRow>;
  static constexpr std::string_view name = "fusion";
  std::string text;

  KERF_FIELDS(text)
};

}  // namespace kerf::workbench
