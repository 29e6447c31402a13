// The stages of AOTAutograd as rows of a pass list, before the passes that run on what they made.
#pragma once

#include "app/workbench/captures/aot_stage.h"
#include "app/workbench/protocol/graphs.h"

namespace kerf::workbench {

/// Every stage up to `last` with its name, in order: "aten", "functional", "joint", "joint, inductor decompositions".
std::vector<std::pair<std::string, StageChoice>> stagesUpTo(const StageChoice& last);

/// A stage as addresses have it: "aten", "joint/inductor".
std::string stageText(const StageChoice& choice);

/// An address as the graph before AOTAutograd and the stage of it; no stage for a graph as it was captured.
struct StagedAddress {
  GraphAddress captured;
  std::optional<StageChoice> stage = {};
};
/// BadUsage for a stage that there is not.
Result<StagedAddress> splitStage(const GraphAddress& address);

/// Each stage up to the one that an address asks for as a row, and the graphs before, between and behind them.
struct StageRows {
  std::vector<PassDoc> rows;
  std::vector<Graph> graphs;  ///< the captured one, then one for each row; empty without rows
};
/// No rows for a graph as it was captured. Errors name the node that has no such form.
Result<StageRows> stageRows(Workbench& bench, const GraphAddress& address, const Job& job);

/// Puts rows in front of passes and numbers all of them anew.
void prependRows(std::vector<PassDoc>& passes, const std::vector<PassDoc>& rows);
/// The same with the graphs of the rows as snapshots.
void prependStages(PassTrace& trace, const StageRows& stages);

}  // namespace kerf::workbench
