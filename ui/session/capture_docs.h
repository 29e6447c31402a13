// Documents of a whole capture: its graphs, compile ids, records, timeline and recorded fusion groups.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <QString>
#include <QStringList>

namespace kerf::ui::inline session {

/// One graph of a capture as the file lists it; the graph itself is read when somebody goes there.
struct GraphEntry {
  QString name;
  int inputs = -1, nodes = -1;  ///< -1: not known before the graph is read
  QString stage, compileId, file;
  int rank = -1, line = 0;
};

/// A record of a trace or a file of a debug folder.
struct RecordEntry {
  QString kind, name, compileId, file;
  int rank = -1, line = 0;
  qint64 bytes = 0;
  int graph = -1;  ///< index of the graph that this record is
};

/// One compile id with what PyTorch said of it.
struct CompileEntryDoc {
  QString id, frame, status, failure;  ///< status: "ok", "failed", "empty", "cache hit", "incomplete"
  int rank = -1;
  double seconds = -1;  ///< of the whole compilation; -1: not recorded
  std::vector<int> graphs, records;
  std::vector<std::pair<QString, double>> metrics;
};

/// One bar of the timeline, in microseconds from the start of the capture.
struct TimelineSpan {
  QString name, category, compileId;
  qint64 begin = 0, duration = 0;
  int row = 0;  ///< from the top, over all lanes
};
struct TimelineLane {
  QString title;
  int firstRow = 0, rows = 0;
};
struct TimelineDoc {
  std::vector<TimelineLane> lanes;
  std::vector<TimelineSpan> spans;  ///< by begin
  qint64 length = 0;
};

/// A kernel that PyTorch generated and the nodes in it.
struct FusionRow {
  QString kernel, compileId;
  QStringList buffers, postGradNodes, preGradNodes;
};

/// One opened file or folder: being read (`loading`), refused (`error` not empty) or ready.
struct CaptureDoc {
  int id = 0;
  QString path, kind, torchVersion, error;
  bool loading = false;
  std::shared_ptr<std::atomic<int>> percent;  ///< read so far, while loading
  QStringList notes;
  std::vector<GraphEntry> graphs;
  std::vector<RecordEntry> records;
  std::vector<CompileEntryDoc> compiles;
  std::shared_ptr<const TimelineDoc> timeline;  ///< null: no events
  std::vector<FusionRow> fusion;
};
using CaptureDocPtr = std::shared_ptr<const CaptureDoc>;

/// The text of one record.
struct RecordDoc {
  int capture = -1, index = -1;
  QString title, detail, text;
};
using RecordDocPtr = std::shared_ptr<const RecordDoc>;

}  // namespace kerf::ui::inline session
