// The tables of the window: which columns each has. Rows come from the session's documents.
#pragma once

#include <memory>

#include "ui/models/table_model.h"
#include "ui/session/documents.h"
#include "ui/session/log_feed.h"

namespace kerf::ui::inline models {

using PassModel = TableModel<PassDoc>;
using OutputModel = TableModel<OutputVerdict>;
using NodeAccuracyModel = TableModel<NodeDivergence>;
using KernelModel = TableModel<KernelDoc>;
using StepModel = TableModel<StepDoc>;
using FusionModel = TableModel<FusionRow>;
using TrialModel = TableModel<BisectTrial>;

/// A node by its place in a graph that whoever shows the rows holds: 50,000 rows own nothing.
struct NodeRef {
  const GraphDoc* graph = nullptr;
  int index = 0;
  const NodeDoc& node() const { return graph->nodes[std::size_t(index)]; }
};
using NodeModel = TableModel<NodeRef>;
using SavedModel = TableModel<workbench::SavedValueDoc>;
using FiguresModel = TableModel<workbench::NodeFigures>;
using AlignmentModel = TableModel<workbench::AlignedRow>;
using ShardingModel = TableModel<workbench::ShardedNodeDoc>;
using LogModel = TableModel<LogDoc>;
using OpCountModel = TableModel<OpCountDoc>;
using CodeSpanModel = TableModel<workbench::CodeSpan>;

/// One node, or one rewrite, in which two graphs differ.
struct ChangeRow {
  enum class Kind { Added, Removed, Rewritten, Changed };
  Kind kind = Kind::Added;
  std::string node, gone;  ///< of the shown graph, and of the earlier one; empty where there is none
  QString what, detail;    ///< "layer_norm → var_mean, sub, mul (+6)"
};
using ChangeModel = TableModel<ChangeRow>;

std::unique_ptr<PassModel> makePassModel();
/// A stage of AOTAutograd, among the passes.
bool isAotStage(const PassDoc& pass);
std::unique_ptr<OutputModel> makeOutputModel();
std::unique_ptr<NodeAccuracyModel> makeNodeAccuracyModel();
std::unique_ptr<KernelModel> makeKernelModel();
std::unique_ptr<StepModel> makeStepModel();
std::unique_ptr<FusionModel> makeFusionModel();
std::unique_ptr<TrialModel> makeTrialModel();
std::unique_ptr<NodeModel> makeNodeModel();
std::unique_ptr<SavedModel> makeSavedModel();
/// Why a value is saved, in words, by the rule that keeps it from being computed again.
QString savedReason(const std::string& rule);
/// Of nodes, a column for each side: interpreter, compiled, fp64, recorded.
std::unique_ptr<FiguresModel> makeFiguresModel();
/// Of two recordings of runs.
std::unique_ptr<AlignmentModel> makeAlignmentModel();
std::unique_ptr<ShardingModel> makeShardingModel();
std::unique_ptr<LogModel> makeLogModel();
std::unique_ptr<OpCountModel> makeOpCountModel();
std::unique_ptr<ChangeModel> makeChangeModel();
std::unique_ptr<CodeSpanModel> makeCodeSpanModel();
/// Rewrites first, then what was added, changed and removed.
std::vector<ChangeRow> changeRows(const DifferenceDoc& difference);
/// Null: none. `graph` must outlive them.
std::vector<NodeRef> nodeRows(const GraphDoc* graph);

/// A round dot for first columns: filled in `color`, or only its outline.
QVariant dotIcon(const QColor& color, bool filled);

}  // namespace kerf::ui::inline models
