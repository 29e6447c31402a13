// OverviewRows: the compilations of a trace as a tree: frames of the user's program, and below each the compile ids that
// began there. Plain data out of documents.
#pragma once

#include <QStringList>

#include "ui/session/documents.h"

namespace kerf::ui::inline models {

struct OverviewRow {
  int parent = -1;     ///< row; -1: none
  int compile = -1;    ///< index among the capture's compile ids; -1: a frame
  int graph = -1;      ///< that the row opens; -1: none
  QString where = {};  ///< "0/1", or "model.py:12 in forward"
  QString tip = {};    ///< of a frame: the frames that lead to it, with their lines
  QString status = {}, time = {}, cache = {};
  QStringList remarks = {};  ///< why it was compiled again, where it broke
};

/// In the order in which they are shown: parents before their children. Without a log, of the compile ids alone; of a
/// capture without compile ids, its graphs.
std::vector<OverviewRow> overviewRows(const CaptureDoc& capture, const TraceLogDoc* log);

/// "12 compilations · 34.5 s · 2 graph breaks · 3 recompilations · 1 failed · 4 cache hits".
QString overviewTotals(const CaptureDoc& capture, const TraceLogDoc* log);

/// What helps against a recompilation, by the guard that failed; empty where nothing general can be said.
QString adviceFor(const QString& guard);

}  // namespace kerf::ui::inline models
