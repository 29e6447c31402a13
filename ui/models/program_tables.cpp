// The tables of a captured program: frames, guards, graphs, nodes, and all that happened.
#include "ui/models/format.h"
#include "ui/models/program_rows.h"
#include "ui/models/tables.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {
namespace {

using workbench::ProgramFrame, workbench::ProgramGuard;

QColor colorOfEvent(ProgramLine::Kind kind) {
  return kind == ProgramLine::Kind::Break   ? theme().bad
         : kind == ProgramLine::Kind::Frame ? theme().good
                                            : theme().warn;
}

QString eventName(ProgramLine::Kind kind) {
  constexpr const char* names[] = {"graph break", "recompile", "not compiled", "frame"};
  return QString::fromLatin1(names[std::size_t(kind)]);
}

QString lineText(std::int64_t line) { return line > 0 ? QString::number(line) : QString(); }

/// What a cell does not show whole is in its tool tip.
template <class Row>
auto tipOf(QString (*whole)(const Row&)) {
  return [whole](const Row& row, int role) { return role == Qt::ToolTipRole ? QVariant(whole(row)) : QVariant(); };
}

/// All that the columns say: some are hidden in narrow windows.
QString frameTip(const ProgramFrame& frame) {
  auto tip = frameTitle(frame);
  if (frame.line > 0) tip += "\n" + QString("line %1").arg(frame.line);
  tip += "\n" + plural(qint64(frame.graphs.size()), "graph");
  if (const double cost = guardCost(frame); cost >= 0)
    tip += "\n" + QString("guards checked in %1").arg(formatNanoseconds(cost));
  if (!frame.because.empty()) tip += "\n" + QString("compiled again because %1").arg(text(frame.because));
  return tip;
}

}  // namespace

std::unique_ptr<ProgramFrameModel> makeProgramFrameModel() {
  const auto dot = [](const ProgramFramePtr& frame, int role) {
    if (role != Qt::DecorationRole) return QVariant();
    return dotIcon(frame->because.empty() ? theme().good : theme().warn, frame->because.empty());
  };
  const auto tip = tipOf<ProgramFramePtr>([](const ProgramFramePtr& frame) { return frameTip(*frame); });
  return std::make_unique<ProgramFrameModel>(std::vector<Column<ProgramFramePtr>>{
      {"Id", [](const ProgramFramePtr& frame) { return text(frame->id); }, {}, false, dot},
      {"Frame", [](const ProgramFramePtr& frame) { return text(frame->name); }, {}, false, tip},
      {"Line", [](const ProgramFramePtr& frame) { return lineText(frame->line); },
       [](const ProgramFramePtr& frame) { return QVariant(qint64(frame->line)); }, true},
      {"Runs", [](const ProgramFramePtr& frame) { return formatCount(frame->runs); },
       [](const ProgramFramePtr& frame) { return QVariant(qint64(frame->runs)); }, true},
      {"Graphs", [](const ProgramFramePtr& frame) { return formatCount(qint64(frame->graphs.size())); },
       [](const ProgramFramePtr& frame) { return QVariant(qint64(frame->graphs.size())); }, true},
      {"Guards", [](const ProgramFramePtr& frame) { return formatCount(qint64(frame->guards.size())); },
       [](const ProgramFramePtr& frame) { return QVariant(qint64(frame->guards.size())); }, true},
      {"Check", [](const ProgramFramePtr& frame) { return formatNanoseconds(guardCost(*frame)); },
       [](const ProgramFramePtr& frame) { return QVariant(guardCost(*frame)); }, true},
      {"Compiled in",
       [](const ProgramFramePtr& frame) {
         return frame->milliseconds < 0 ? QString() : formatMilliseconds(frame->milliseconds);
       },
       [](const ProgramFramePtr& frame) { return QVariant(frame->milliseconds); }, true},
      {"Failed guard", [](const ProgramFramePtr& frame) { return text(frame->because); }, {}, false, tip}});
}

std::unique_ptr<ProgramGuardModel> makeProgramGuardModel() {
  return std::make_unique<ProgramGuardModel>(std::vector<Column<ProgramGuard>>{
      {"Kind", [](const ProgramGuard& guard) { return text(guard.kind); }},
      {"Source", [](const ProgramGuard& guard) { return guard.source.empty() ? "(torch)" : text(guard.source); }},
      {"Value", [](const ProgramGuard& guard) { return text(guard.value); }},
      {"Cost", [](const ProgramGuard& guard) { return formatNanoseconds(guard.nanoseconds); },
       [](const ProgramGuard& guard) { return QVariant(guard.nanoseconds); }, true},
      {"Asked for by", [](const ProgramGuard& guard) { return text(guard.where); }}});
}

std::unique_ptr<ProgramGraphModel> makeProgramGraphModel() {
  const auto kept = [](const ReportedGraphPtr& graph, int role) {
    if (role == Qt::DecorationRole) return dotIcon(theme().accent, graph->stored >= 0);
    if (role == Qt::ToolTipRole && graph->stored < 0) return QVariant(QString("This graph is not kept"));
    return QVariant();
  };
  return std::make_unique<ProgramGraphModel>(std::vector<Column<ReportedGraphPtr>>{
      {"Graph", [](const ReportedGraphPtr& graph) { return text(graph->name); }, {}, false, kept},
      {"Nodes", [](const ReportedGraphPtr& graph) { return formatCount(qint64(graph->nodes.size())); },
       [](const ReportedGraphPtr& graph) { return QVariant(qint64(graph->nodes.size())); }, true},
      {"Ran by", [](const ReportedGraphPtr& graph) { return text(graph->ranBy); }}});
}

std::unique_ptr<ProgramNodeModel> makeProgramNodeModel() {
  return std::make_unique<ProgramNodeModel>(
      std::vector<Column<ProgramNodeRow>>{{"Node", [](const ProgramNodeRow& row) { return row.name; }},
                                          {"Graph", [](const ProgramNodeRow& row) { return row.graphName; }},
                                          {"Line", [](const ProgramNodeRow& row) { return lineText(row.line); },
                                           [](const ProgramNodeRow& row) { return QVariant(row.line); }, true}});
}

std::unique_ptr<ProgramEventModel> makeProgramEventModel() {
  const auto dot = [](const ProgramEvent& event, int role) {
    return role == Qt::DecorationRole ? dotIcon(colorOfEvent(event.kind), true) : QVariant();
  };
  const auto tip = tipOf<ProgramEvent>([](const ProgramEvent& event) {
    const auto id = event.id.isEmpty() ? QString() : "  " + event.id;
    return event.what + id + (event.place.isEmpty() ? QString() : "\n" + event.place) +
           (event.advice.isEmpty() ? QString() : "\n" + event.advice);
  });
  return std::make_unique<ProgramEventModel>(std::vector<Column<ProgramEvent>>{
      {"What", [](const ProgramEvent& event) { return eventName(event.kind); }, {}, false, dot},
      {"Line", [](const ProgramEvent& event) { return lineText(event.line); },
       [](const ProgramEvent& event) { return QVariant(event.line); }, true},
      {"Id", [](const ProgramEvent& event) { return event.id; }},
      {"Reason", [](const ProgramEvent& event) { return event.what; }, {}, false, tip},
      {"What to do", [](const ProgramEvent& event) { return event.advice; }, {}, false, tip}});
}

}  // namespace kerf::ui::inline models
