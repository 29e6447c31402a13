// KernelPath: from a Python line over nodes and output code to kernels, as columns of lines that know their nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <QColor>
#include <QStringList>

#include "ui/session/documents.h"

namespace kerf::ui::inline models {

struct PathColumn {
  QString title;
  QStringList lines;
  std::vector<std::vector<int>> nodes;  ///< by line: nodes of the graph
  QString missing;                      ///< why there are no lines
  std::map<int, int> calls = {};        ///< by node: the line that calls its kernel
  /// The line that says most of a node: the call of its kernel, else one of few nodes; -1: none.
  int lineOf(int node) const;
};

/// The source file that most of a graph's nodes name; empty: none.
std::string sourceFileOf(const GraphDoc& graph);

/// Lines of the user's program. `text` is the file as it is here; without it, what the stack traces have of it.
PathColumn pythonColumn(const GraphDoc& graph, const std::string& file, const QString& text);
PathColumn nodeColumn(const GraphDoc& graph);
/// PyTorch's output code; of `program` all lines.
PathColumn codeColumn(const GraphDoc& graph, const workbench::RecordedProgram& program);
/// The kernel of a node in it: its definition.
PathColumn kernelColumn(const GraphDoc& graph, const workbench::RecordedProgram& program, int node);

/// Kerf's own kernel of a node: its loop IR, and the LLVM IR that it becomes.
struct OwnKernel {
  PathColumn loops, code;
};
OwnKernel ownKernel(const GraphDoc& graph, const workbench::CompileDoc& compiled, int node);

/// The colour of a node: nodes of one Python line have the same, neighbours others.
QColor pathColor(const GraphDoc& graph, int node);

}  // namespace kerf::ui::inline models
