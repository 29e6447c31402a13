// GraphState: what the session has found out about one graph at one stage of AOTAutograd so far.
#pragma once

#include <map>
#include <memory>

#include "ui/session/documents.h"
#include "ui/session/minify_watch.h"

namespace kerf::ui::inline session {

struct GraphState {
  GraphDocPtr document;  ///< before all passes; null until it has been read
  QStringList symbols;   ///< "s0=8": values that the user chose for symbolic sizes
  GuardsDocPtr guards;   ///< null until they are known, and for graphs without symbolic sizes
  CompileDocPtr compiled;
  bool compiling = false;
  AccuracyDocPtr accuracy;
  BisectDocPtr bisected;
  std::unique_ptr<MinifyWatch> minify;
  MinifyDocPtr minified;
  std::map<std::pair<int, int>, GraphDocPtr> graphs;  ///< by stage and index: what was already built
};

}  // namespace kerf::ui::inline session
