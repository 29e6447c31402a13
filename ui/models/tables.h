// The tables of the window: which columns each has. Rows come from the session's documents.
#pragma once

#include <memory>

#include "ui/models/table_model.h"
#include "ui/session/documents.h"
#include "ui/session/log_feed.h"

namespace kerf::ui::inline models {

using PassModel = TableModel<PassDoc>;
using OutputModel = TableModel<OutputRow>;
using NodeAccuracyModel = TableModel<NodeRow>;
using KernelModel = TableModel<KernelDoc>;
using StepModel = TableModel<StepDoc>;
using FusionModel = TableModel<FusionRow>;
using TrialModel = TableModel<BisectTrial>;

/// A node by its place in a shared graph, so that 50,000 rows cost 50,000 integers.
struct NodeRef {
  GraphDocPtr graph;
  int index = 0;
  const NodeDoc& node() const { return graph->nodes[std::size_t(index)]; }
};
using NodeModel = TableModel<NodeRef>;
using LogModel = TableModel<LogDoc>;

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
std::unique_ptr<LogModel> makeLogModel();
std::vector<NodeRef> nodeRows(const GraphDocPtr& graph);

/// A round dot for first columns: filled in `color`, or only its outline.
QVariant dotIcon(const QColor& color, bool filled);

}  // namespace kerf::ui::inline models
