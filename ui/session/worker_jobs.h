// What the worker threads do for the session: import, compile (never execute), export, read steps from the store.
#pragma once

#include <memory>
#include <stop_token>

#include "engine/capture/common/capture.h"
#include "engine/passes/pass_manager.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline session {

struct OpenedCapture {
  CaptureDocPtr document;
  std::shared_ptr<const Capture> capture;  ///< null if it was refused
};
using Percent = std::shared_ptr<std::atomic<int>>;
/// A file gives one capture, a folder one for every thing in it that can be opened. Their ids are 0. At least one
/// entry: a refused one says why.
std::vector<OpenedCapture> openCaptures(const QString& path, const Percent& percent, std::stop_token stop);

/// A graph of a capture, read (a log's graphs are only indexed when it is opened) and with shapes.
struct LoadedGraph {
  std::shared_ptr<const CapturedGraph> captured;  ///< null if it cannot be read
  GraphDocPtr document;
  QStringList notes;
  QString error;
};
LoadedGraph loadGraph(const Capture& capture, int graph);

struct CompiledView {
  CompileDocPtr document;
  std::vector<PassRecord> records;
};
/// Passes and kernels of a graph. Where the compiler refuses the graph, the passes alone and the reason.
CompiledView compileForView(const CapturedGraph& captured, std::stop_token stop);
GraphDocPtr passGraph(const CapturedGraph& captured, const PassRecord& record);

struct ExportOutcome {
  QString path, error;
};
/// A written repro with its storages, to another folder.
ExportOutcome copyRepro(const QString& from, const QString& directory);
ExportOutcome exportGraph(const Capture& capture, const CapturedGraph& graph, const QString& directory);

/// The newest reduction's accepted steps of the graph at `capturePath`, oldest first; empty if there are none.
std::vector<StepDoc> readSteps(const QString& store, qint64 reduction);
struct StepGraph {
  GraphDocPtr graph;
  QString error;
};
StepGraph readStep(const QString& store, qint64 step, const QString& title);

}  // namespace kerf::ui::inline session
