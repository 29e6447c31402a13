// GraphState: what the session has found out about one captured graph so far.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/passes/pass_manager.h"
#include "ui/session/documents.h"
#include "ui/session/runs.h"

namespace kerf::ui::inline session {

struct GraphState {
  std::shared_ptr<const CapturedGraph> captured;  ///< null until it has been read
  GraphDocPtr document;                           ///< of the captured graph
  QStringList symbols;                            ///< "s0=8": values that the user chose for symbolic sizes
  CompileDocPtr compiled;
  bool compiling = false;
  std::vector<PassRecord> records;
  AccuracyDocPtr accuracy;
  MinifyDocPtr minified;
  std::map<std::pair<int, int>, GraphDocPtr> graphs;  ///< by stage and index: what was already built
  std::unique_ptr<CompareRun> compare;
  std::unique_ptr<MinifyRun> minify;
};

}  // namespace kerf::ui::inline session
