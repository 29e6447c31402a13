#include "ui/models/tables.h"

#include <QIcon>
#include <QPainter>
#include <QPixmap>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

/// Colour of one role only; nothing for the others.
QVariant colored(int role, const QColor& color) { return role == Qt::ForegroundRole ? QVariant(color) : QVariant(); }

QVariant verdict(int role, bool same, bool emphasised = false) {
  if (role == Qt::DecorationRole) return dotIcon(same ? theme().good : theme().bad, !same || emphasised);
  if (role == Qt::ForegroundRole && !same) return theme().bad;
  return {};
}

QString arrow(int before, int after) {
  return before == after ? formatCount(before) : formatCount(before) + " → " + formatCount(after);
}

template <class Row>
Column<Row> errorColumn(const QString& title, double Row::* field) {
  return {title, [field](const Row& row) { return formatError(row.*field); },
          [field](const Row& row) { return QVariant(row.*field); }, true};
}

template <class Row>
Column<Row> ratioColumn() {
  return {"Error / limit", [](const Row& row) { return formatRatio(row.ratioToLimit); },
          [](const Row& row) { return QVariant(row.ratioToLimit); }, true,
          [](const Row& row, int role) { return colored(role, row.same ? theme().text : theme().bad); }};
}

template <class Row>
Column<Row> countColumn(const QString& title, std::int64_t Row::* field) {
  return {title, [field](const Row& row) { return formatCount(row.*field); },
          [field](const Row& row) { return QVariant(qlonglong(row.*field)); }, true};
}

}  // namespace

QVariant dotIcon(const QColor& color, bool filled) {
  static QHash<QString, QIcon> cache;
  auto& icon = cache[color.name() + (filled ? "+" : "-")];
  if (!icon.isNull()) return icon;
  QPixmap pixmap(32, 32);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, 3));
  painter.setBrush(filled ? QBrush(color) : QBrush(Qt::NoBrush));
  painter.drawEllipse(QRectF(9, 9, 14, 14));
  painter.end();
  icon = QIcon(pixmap);
  return icon;
}

bool isAotStage(const PassDoc& pass) { return pass.stage == "aot"; }

std::unique_ptr<PassModel> makePassModel() {
  const auto dim = [](const PassDoc& pass, int role) {
    return role == Qt::ForegroundRole && !pass.changed && pass.index >= 0 ? QVariant(theme().muted) : QVariant();
  };
  const auto name = [dim](const PassDoc& pass, int role) {
    if (pass.index < 0) return QVariant();
    if (role == Qt::DecorationRole) return dotIcon(pass.changed ? theme().accent : theme().faint, pass.changed);
    if (role == Qt::ToolTipRole)
      return QVariant(pass.changed ? QString("%1: %2 nodes added, %3 removed")
                                         .arg(text(pass.stage))
                                         .arg(pass.added.size())
                                         .arg(pass.removed.size())
                                   : text(pass.stage) + ": changed nothing");
    return dim(pass, role);
  };
  return std::make_unique<PassModel>(std::vector<Column<PassDoc>>{
      {"#", [](const PassDoc& pass) { return QString::number(pass.index + 1); },
       [](const PassDoc& pass) { return QVariant(pass.index); }, true, dim},
      {"Pass",
       [](const PassDoc& pass) { return (isAotStage(pass) ? QString("AOT: ") : QString()) + text(pass.name); },
       {},
       false,
       name},
      {"Stage", [](const PassDoc& pass) { return text(pass.stage); }, {}, false, dim},
      {"Nodes", [](const PassDoc& pass) { return arrow(pass.nodesBefore, pass.nodesAfter); },
       [](const PassDoc& pass) { return QVariant(pass.nodesAfter); }, true, dim},
      {"Time", [](const PassDoc& pass) { return formatMilliseconds(pass.milliseconds); },
       [](const PassDoc& pass) { return QVariant(pass.milliseconds); }, true, dim}});
}

std::unique_ptr<OutputModel> makeOutputModel() {
  return std::make_unique<OutputModel>(std::vector<Column<OutputVerdict>>{
      {"Output",
       [](const OutputVerdict& row) { return text(row.name); },
       {},
       false,
       [](const OutputVerdict& row, int role) { return verdict(role, row.same); }},
      {"Verdict", [](const OutputVerdict& row) { return QString(row.same ? "same" : "different"); }},
      ratioColumn<OutputVerdict>(),
      errorColumn("Max error", &OutputVerdict::maxAbsError),
      errorColumn("RMSE compiled", &OutputVerdict::rmseRes),
      errorColumn("RMSE eager", &OutputVerdict::rmseRef),
      countColumn("NaN", &OutputVerdict::nanRes),
      countColumn("Inf", &OutputVerdict::infRes),
      {"Reason",
       [](const OutputVerdict& row) { return text(row.reason); },
       {},
       false,
       [](const OutputVerdict& row, int role) {
         return role == Qt::ToolTipRole ? QVariant(text(row.reason)) : QVariant();
       }}});
}

std::unique_ptr<NodeAccuracyModel> makeNodeAccuracyModel() {
  return std::make_unique<NodeAccuracyModel>(std::vector<Column<NodeDivergence>>{
      {"Node",
       [](const NodeDivergence& row) { return text(row.node); },
       {},
       false,
       [](const NodeDivergence& row, int role) { return verdict(role, row.same, row.firstBad); }},
      {"Op", [](const NodeDivergence& row) { return text(row.target).remove("torch.ops."); }},
      {"Verdict",
       [](const NodeDivergence& row) { return QString(row.firstBad ? "first bad"
                                                      : row.same   ? "same"
                                                                   : "different"); },
       {},
       false,
       [](const NodeDivergence& row, int role) { return row.firstBad ? colored(role, theme().bad) : QVariant(); }},
      ratioColumn<NodeDivergence>(),
      errorColumn("Max error", &NodeDivergence::maxAbsError),
      errorColumn("RMSE compiled", &NodeDivergence::rmseRes),
      errorColumn("RMSE eager", &NodeDivergence::rmseRef)});
}

std::unique_ptr<KernelModel> makeKernelModel() {
  const auto name = [](const KernelDoc& kernel, int role) {
    if (role == Qt::DecorationRole)
      return dotIcon(kernel.kind == "fused" ? theme().accent : theme().faint, kernel.kind != "view");
    return role == Qt::ToolTipRole ? QVariant(texts(kernel.nodes).join(", ")) : QVariant();
  };
  return std::make_unique<KernelModel>(std::vector<Column<KernelDoc>>{
      {"Kernel", [](const KernelDoc& kernel) { return text(kernel.name); }, {}, false, name},
      {"Kind",
       [](const KernelDoc& kernel) {
         return text(kernel.reason.empty() ? kernel.kind : kernel.kind + ": " + kernel.reason);
       }},
      {"Nodes", [](const KernelDoc& kernel) { return QString::number(kernel.nodes.size()); },
       [](const KernelDoc& kernel) { return QVariant(qlonglong(kernel.nodes.size())); }, true}});
}

std::unique_ptr<StepModel> makeStepModel() {
  return std::make_unique<StepModel>(std::vector<Column<StepDoc>>{
      {"Step", [](const StepDoc& step) { return QString::number(step.index); },
       [](const StepDoc& step) { return QVariant(step.index); }, true},
      {"Reduction",
       [](const StepDoc& step) {
         return step.index == 0 && step.reduction.empty() ? QString("start") : text(step.reduction);
       }},
      {"Nodes", [](const StepDoc& step) { return formatCount(step.nodes); },
       [](const StepDoc& step) { return QVariant(step.nodes); }, true},
      {"Test", [](const StepDoc& step) { return formatCount(step.test); },
       [](const StepDoc& step) { return QVariant(step.test); }, true},
      {"Inputs", [](const StepDoc& step) { return formatBytes(step.inputBytes); },
       [](const StepDoc& step) { return QVariant(qlonglong(step.inputBytes)); }, true}});
}

std::unique_ptr<FusionModel> makeFusionModel() {
  const auto list = [](const std::vector<std::string>& names) { return texts(names).join(", "); };
  return std::make_unique<FusionModel>(std::vector<Column<FusionRow>>{
      {"Compile", [](const FusionRow& group) { return text(group.compileId); }},
      {"Kernel",
       [](const FusionRow& group) { return text(group.kernel); },
       {},
       false,
       [](const FusionRow& group, int role) {
         return role == Qt::DecorationRole ? dotIcon(theme().accent, group.postGradNodes.size() > 1) : QVariant();
       }},
      {"Buffers", [list](const FusionRow& group) { return list(group.buffers); }},
      {"Nodes after post-grad", [list](const FusionRow& group) { return list(group.postGradNodes); }},
      {"Nodes before", [list](const FusionRow& group) { return list(group.preGradNodes); }}});
}

std::unique_ptr<TrialModel> makeTrialModel() {
  return std::make_unique<TrialModel>(std::vector<Column<BisectTrial>>{
      {"Last pass on",
       [](const BisectTrial& trial) { return trial.enabled.empty() ? QString("none") : text(trial.enabled.back()); },
       [](const BisectTrial& trial) { return QVariant(qlonglong(trial.enabled.size())); }, false,
       [](const BisectTrial& trial, int role) {
         return role == Qt::ToolTipRole ? QVariant(texts(trial.enabled).join(", ")) : verdict(role, trial.same);
       }},
      {"Verdict", [](const BisectTrial& trial) { return trial.same ? QString("same") : text(trial.detail); }}});
}

std::unique_ptr<NodeModel> makeNodeModel() {
  const auto name = [](const NodeRef& ref, int role) {
    if (role == Qt::ToolTipRole && ref.node().backward && !ref.node().forwardNode.empty())
      return QVariant("gradient of " + text(ref.node().forwardNode));
    return role == Qt::DecorationRole ? dotIcon(theme().kind(ref.node().kind), true) : QVariant();
  };
  return std::make_unique<NodeModel>(std::vector<Column<NodeRef>>{
      {"#", [](const NodeRef& ref) { return QString::number(ref.index); },
       [](const NodeRef& ref) { return QVariant(ref.index); }, true,
       [](const NodeRef&, int role) { return colored(role, theme().muted); }},
      {"Name", [](const NodeRef& ref) { return text(ref.node().name); }, {}, false, name},
      {"Op", [](const NodeRef& ref) { return text(ref.node().op); }},
      {"Inputs", [](const NodeRef& ref) { return QString::number(ref.node().inputs.size()); },
       [](const NodeRef& ref) { return QVariant(qlonglong(ref.node().inputs.size())); }, true},
      {"Users", [](const NodeRef& ref) { return QString::number(ref.node().users.size()); },
       [](const NodeRef& ref) { return QVariant(qlonglong(ref.node().users.size())); }, true},
      {"Value", [](const NodeRef& ref) { return text(ref.node().value); }},
      {"Stride", [](const NodeRef& ref) { return text(ref.node().stride); }}});
}

std::vector<NodeRef> nodeRows(const GraphDoc* graph) {
  std::vector<NodeRef> rows;
  if (!graph) return rows;
  rows.reserve(graph->nodes.size());
  for (int i = 0; i < int(graph->nodes.size()); ++i) rows.push_back({graph, i});
  return rows;
}

std::unique_ptr<ShardingModel> makeShardingModel() {
  using Node = workbench::ShardedNodeDoc;
  const auto moved = [](const Node& node) {
    QStringList moves;
    for (const auto& each : node.moved) moves << text(each.from) + " → " + text(each.to);
    return moves.join(", ");
  };
  return std::make_unique<ShardingModel>(std::vector<Column<Node>>{
      {"Node", [](const Node& node) { return text(node.name); }},
      {"Op", [](const Node& node) { return text(node.target).remove("torch.ops."); }},
      {"Placed as", [](const Node& node) { return text(node.placements); }},
      {"Moved between ranks",
       moved,
       {},
       false,
       [](const Node& node, int role) { return node.moved.empty() ? QVariant() : colored(role, theme().warn); }},
      {"Cost", [](const Node& node) { return node.cost > 0 ? formatMicroseconds(node.cost) : QString(); },
       [](const Node& node) { return QVariant(node.cost); }, true}});
}

std::unique_ptr<LogModel> makeLogModel() {
  const auto warns = [](const LogDoc& row, int role) {
    return colored(role, row.level >= int(logLevels().indexOf("warning")) ? theme().bad : theme().text);
  };
  return std::make_unique<LogModel>(
      std::vector<Column<LogDoc>>{{"Time", [](const LogDoc& row) { return row.time.toString("HH:mm:ss.zzz"); },
                                   [](const LogDoc& row) { return QVariant(row.time); }},
                                  {"Level", [](const LogDoc& row) { return logLevels().value(row.level); },
                                   [](const LogDoc& row) { return QVariant(row.level); }, false, warns},
                                  {"Category", [](const LogDoc& row) { return row.category; }},
                                  {"Message", [](const LogDoc& row) { return row.text; }}});
}

}  // namespace kerf::ui::inline models
