#include "ui/models/program_rows.h"

#include <algorithm>
#include <iterator>

#include <QCoreApplication>

#include "ui/models/format.h"
#include "ui/models/overview_rows.h"

namespace kerf::ui::inline models {
namespace {

using workbench::ProgramBreak, workbench::ProgramFrame, workbench::ReportedGraph, workbench::ProgramReport;
using LineKind = ProgramLine::Kind;

constexpr int mostTold = 20;  ///< of one line

QString say(const char* words) { return QCoreApplication::translate("kerf::ui::ProgramRows", words); }

QString breakTitle(const ProgramBreak& item) {
  const auto title = item.isSkip ? say("Frame not compiled") : say("Graph break");
  return title + (item.id.empty() ? QString() : " " + text(item.id)) + ": " + text(item.type);
}

QStringList breakNote(const ProgramBreak& item) {
  QStringList note{breakTitle(item)};
  if (!item.explanation.empty()) note << "  " + text(item.explanation).simplified();
  for (const auto& hint : item.hints) note << "  " + say("What to do: %1").arg(text(hint).simplified());
  for (std::size_t i = 0; i + 1 < item.stack.size(); ++i) note << "  " + say("called from %1").arg(text(item.stack[i]));
  if (!item.context.empty()) note << "  " + say("PyTorch's context: %1").arg(text(item.context).simplified());
  return note;
}

QStringList recompileNote(const workbench::ProgramRecompile& item, const ProgramFrame* frame) {
  QStringList note{say("Compiled again: %1").arg(text(item.guard))};
  if (frame) note << "  " + say("as %1").arg(text(frame->id));
  if (const auto advice = adviceFor(text(item.guard)); !advice.isEmpty())
    note << "  " + say("What to do: %1").arg(advice);
  return note;
}

void addRemark(ProgramLines& lines, std::int64_t line, LineKind kind, const QStringList& note) {
  if (line <= 0) return;
  const auto [at, isNew] = lines.try_emplace(int(line));
  auto& known = at->second;
  if (isNew || kind < known.kind) known.kind = kind;
  if (known.things++ < mostTold) {
    known.tip += (known.tip.isEmpty() ? "" : "\n") + note.first();
    known.note += note;
  }
}

/// What stands at a line is told up to a number; the list of what happened has all.
void sayMore(ProgramLines& lines) {
  for (auto& [line, remark] : lines) {
    if (remark.things <= mostTold) continue;
    const auto more = say("and %1 more").arg(formatCount(remark.things - mostTold));
    remark.tip += "\n" + more;
    remark.note << more;
  }
}

}  // namespace

QString frameTitle(const ProgramFrame& frame) {
  auto title = say("Frame %1 %2: %3, %4")
                   .arg(text(frame.id), text(frame.name))
                   .arg(plural(qint64(frame.guards.size()), say("guard")), plural(frame.runs, say("run")));
  if (frame.milliseconds >= 0) title += say(", compiled in %1").arg(formatMilliseconds(frame.milliseconds));
  return title;
}

QString letterOf(LineKind kind) {
  constexpr const char* letters[] = {"B", "R", "S", "F"};
  return QString::fromLatin1(letters[std::size_t(kind)]);
}

ProgramLines programLines(const ProgramReport& report) {
  ProgramLines lines;
  for (const auto& item : report.breaks)
    addRemark(lines, item.line, item.isSkip ? LineKind::Skip : LineKind::Break, breakNote(item));
  for (const auto& item : report.recompiles) {
    const auto* frame = item.frame >= 0 ? &report.frames[std::size_t(item.frame)] : nullptr;
    addRemark(lines, item.line, LineKind::Recompile, recompileNote(item, frame));
  }
  for (const auto& frame : report.frames) addRemark(lines, frame.line, LineKind::Frame, {frameTitle(frame)});
  sayMore(lines);
  return lines;
}

std::vector<ProgramEvent> programEvents(const ProgramReport& report) {
  std::vector<ProgramEvent> events;
  for (const auto& item : report.breaks) {
    QStringList hints;
    for (const auto& hint : item.hints) hints << text(hint).simplified();
    events.push_back({item.isSkip ? LineKind::Skip : LineKind::Break, text(item.type), text(item.id), hints.join(" "),
                      item.stack.empty() ? QString() : text(item.stack.back()), int(item.line), item.frame});
  }
  for (const auto& item : report.recompiles)
    events.push_back({LineKind::Recompile,
                      text(item.guard),
                      {},
                      adviceFor(text(item.guard)),
                      text(item.at) + " " + text(item.function),
                      int(item.line),
                      item.frame});
  std::ranges::stable_sort(events, {}, &ProgramEvent::line);
  return events;
}

std::vector<ProgramNodeRow> programNodes(const ProgramReport& report, int line) {
  std::vector<ProgramNodeRow> rows;
  for (std::size_t i = 0; i < report.graphs.size(); ++i) {
    const auto& graph = report.graphs[i];
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
      const auto& node = graph.nodes[k];
      if (node.lines.empty() || (line > 0 && std::ranges::find(node.lines, line) == node.lines.end())) continue;
      rows.push_back({int(i), int(k), text(node.name), text(graph.name), int(node.lines.back())});
    }
  }
  return rows;
}

int lineOfNode(const ProgramReport& report, int graph, const std::string& node) {
  if (graph < 0 || graph >= int(report.graphs.size())) return 0;
  const auto& nodes = report.graphs[std::size_t(graph)].nodes;
  const auto found = std::ranges::find(nodes, node, &workbench::ProgramNode::name);
  return found == nodes.end() || found->lines.empty() ? 0 : int(found->lines.back());
}

int reportGraph(const ProgramReport& report, int storedGraph) {
  const auto found = std::ranges::find(report.graphs, storedGraph, &ReportedGraph::stored);
  return found == report.graphs.end() ? -1 : int(found - report.graphs.begin());
}

int frameOfLine(const ProgramReport& report, int line) {
  for (const auto& row : programNodes(report, line))
    if (const int frame = report.graphs[std::size_t(row.graph)].frame; frame >= 0) return frame;
  for (const auto& item : report.breaks)
    if (item.line == line && item.frame >= 0) return item.frame;
  for (std::size_t i = 0; i < report.frames.size(); ++i) {
    const auto& frame = report.frames[i];
    const auto has = [line](const workbench::ProgramInstruction& row) { return row.line == line; };
    if (frame.line > 0 && (frame.line == line || std::ranges::any_of(frame.original, has))) return int(i);
  }
  return -1;
}

ProgramBytecode bytecodeRows(const std::vector<workbench::ProgramInstruction>& code) {
  ProgramBytecode made;
  std::int64_t before = -1;
  for (const auto& row : code) {
    const bool begins = row.line > 0 && row.line != before;
    made.labels << (begins ? QString::number(row.line) : QString());
    made.lines.push_back(int(row.line));
    made.rows << QString("%1 %2  %3 %4")
                     .arg(QLatin1String(row.isTarget ? ">>" : "  "))
                     .arg(row.offset, 5)
                     .arg(text(row.name), -26)
                     .arg(text(row.argument).simplified());
    if (row.line > 0) before = row.line;
  }
  return made;
}

QString formatNanoseconds(double nanoseconds) {
  if (nanoseconds < 0) return {};
  if (nanoseconds < 1e3) return QString("%1 ns").arg(nanoseconds, 0, 'f', 0);
  if (nanoseconds < 1e6) return QString("%1 µs").arg(nanoseconds / 1e3, 0, 'f', 1);
  return formatMilliseconds(nanoseconds / 1e6);
}

double guardCost(const ProgramFrame& frame) {
  double sum = -1;
  for (const auto& guard : frame.guards)
    if (guard.nanoseconds >= 0) sum = std::max(sum, 0.0) + guard.nanoseconds;
  return sum;
}

}  // namespace kerf::ui::inline models
