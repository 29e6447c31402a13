// Rows of a captured program: what stands at each line of its source, its frames, guards, graphs and nodes, bytecode.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "ui/models/table_model.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline models {

/// What torch.compile did at a line, the gravest thing first.
struct ProgramLine {
  enum class Kind { Break, Recompile, Skip, Frame };
  Kind kind = Kind::Frame;
  QString tip;       ///< one row for each thing
  QStringList note;  ///< the same with reasons and what to do
  int things = 0;    ///< how many; tip and note tell the first ones and how many are left
};
/// "B", "R", "S", "F".
QString letterOf(ProgramLine::Kind kind);

/// By line, from 1.
using ProgramLines = std::map<int, ProgramLine>;
ProgramLines programLines(const workbench::ProgramReport& report);

/// Something that happened, for the list of all of it.
struct ProgramEvent {
  ProgramLine::Kind kind = ProgramLine::Kind::Break;
  QString what, id, advice, place;
  int line = 0, frame = -1;
};
std::vector<ProgramEvent> programEvents(const workbench::ProgramReport& report);

/// A node of one of the graphs, by its places in the report.
struct ProgramNodeRow {
  int graph = 0, node = 0;
  QString name, graphName;
  int line = 0;  ///< innermost one
};
/// Of a line of the program; of all lines where it is 0.
std::vector<ProgramNodeRow> programNodes(const workbench::ProgramReport& report, int line);
/// The innermost line of a node; 0: none.
int lineOfNode(const workbench::ProgramReport& report, int graph, const std::string& node);
/// The report's graph that is this graph of the capture; -1: none.
int reportGraph(const workbench::ProgramReport& report, int storedGraph);
/// The frame whose code has the line: one that has a graph with nodes of the line before others; -1: none.
int frameOfLine(const workbench::ProgramReport& report, int line);

/// Bytecode as text, and the line of the program for each row.
struct ProgramBytecode {
  QStringList rows, labels;  ///< labels: the line, where it is another one than above
  std::vector<int> lines;
};
ProgramBytecode bytecodeRows(const std::vector<workbench::ProgramInstruction>& code);

/// Rows that lie in the report: copies of frames with thousands of instructions would hold the window up.
using ProgramFramePtr = std::shared_ptr<const workbench::ProgramFrame>;
using ReportedGraphPtr = std::shared_ptr<const workbench::ReportedGraph>;
using ProgramFrameModel = TableModel<ProgramFramePtr>;
using ProgramGuardModel = TableModel<workbench::ProgramGuard>;
using ProgramGraphModel = TableModel<ReportedGraphPtr>;
using ProgramNodeModel = TableModel<ProgramNodeRow>;
using ProgramEventModel = TableModel<ProgramEvent>;
std::unique_ptr<ProgramFrameModel> makeProgramFrameModel();
std::unique_ptr<ProgramGuardModel> makeProgramGuardModel();
std::unique_ptr<ProgramGraphModel> makeProgramGraphModel();
std::unique_ptr<ProgramNodeModel> makeProgramNodeModel();
std::unique_ptr<ProgramEventModel> makeProgramEventModel();

/// "Frame [0/0] f: 3 guards, 2 runs, compiled in 12 ms".
QString frameTitle(const workbench::ProgramFrame& frame);
/// "1.2 µs", "340 ns"; empty where it was not measured.
QString formatNanoseconds(double nanoseconds);
/// Sum of what is measured; -1: nothing is.
double guardCost(const workbench::ProgramFrame& frame);

}  // namespace kerf::ui::inline models
