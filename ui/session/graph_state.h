// GraphState: what the session has found out about one graph at one stage of AOTAutograd so far.
#pragma once

#include <map>
#include <memory>

#include "ui/session/documents.h"
#include "ui/session/minify_watch.h"

namespace kerf::ui::inline session {

struct GraphState {
  GraphDocPtr document;  ///< before all passes; null until it has been read
  QStringList pins;      ///< nodes that a minification leaves as they are
  QStringList symbols;   ///< "s0=8": values that the user chose for symbolic sizes
  InputsChoice inputs;   ///< what is compared, bisected, minified and looked at is run on
  GuardsDocPtr guards;   ///< null until they are known, and for graphs without symbolic sizes
  CompileDocPtr compiled;
  bool compiling = false;
  CompileDocPtr planted;                 ///< compiled with the planted fault; null until that is known
  std::vector<std::string> plantedWith;  ///< the fault
  AccuracyDocPtr accuracy;
  BisectDocPtr bisected;
  PartitionsDocPtr partitions;
  ShardingDocPtr sharding;
  std::unique_ptr<MinifyWatch> minify;
  MinifyDocPtr minified;
  std::shared_ptr<const std::vector<workbench::PassDifference>> passDifferences;  ///< null until they are known
  std::map<std::string, GraphDocPtr> bodies;          ///< nested graphs that were read, by path
  std::map<std::pair<int, int>, GraphDocPtr> graphs;  ///< by stage and index: what was already built
};

}  // namespace kerf::ui::inline session
