// Documents: immutable plain snapshots of what the engine knows, made on worker threads and shown by models and panels.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <QHash>
#include <QString>
#include <QStringList>

#include "ui/session/capture_docs.h"

namespace kerf::ui::inline session {

/// What a node does, coarse enough for a colour.
enum class NodeKind { Input, Parameter, Pointwise, Reduction, View, Matmul, Convolution, Random, Other, Output };
constexpr int nodeKinds = 10;
/// "Input", "Matmul", …
QString nodeKindName(NodeKind kind);

/// One argument of a call under its schema name; `value` as str(graph) prints it.
struct ArgumentDoc {
  QString name, value;
  bool defaulted = false;  ///< not written in the graph: the schema's own default
};

struct NodeDoc {
  QString name, opcode, target;
  QString op;      ///< short: "addmm", "var_mean.correction", "getitem"
  QString schema;  ///< empty if the op table has no such row
  NodeKind kind = NodeKind::Other;
  std::vector<ArgumentDoc> arguments;
  QString dtype, shape, stride, device;  ///< empty where nothing is known; several tensors are joined by "; "
  QString value;                         ///< "f32[16, 32]"
  std::vector<int> inputs, users;        ///< node indices, in order of first mention
  QString file;
  int line = 0;  ///< in `file`, 1-based; 0 if unknown
  QString stackTrace, modulePath;
  QStringList fromNodes;
  int codeLine = -1;  ///< line of GraphDoc::code, 0-based
};

/// A symbolic size with the value that the capture has for it ("s0", "8"; empty: none).
struct SymbolDoc {
  QString name, hint;
};

struct GraphDoc {
  QString title;  ///< "forward", "forward after cse"
  QString hash;
  QStringList code;            ///< Python text of forward(), by line
  QStringList ops;             ///< base names of the ops that are called, sorted: "addmm", "relu"
  std::vector<NodeDoc> nodes;  ///< in execution order
  QHash<QString, int> index;   ///< by name
  std::vector<SymbolDoc> symbols;
  int find(const QString& name) const { return index.value(name, -1); }
};
using GraphDocPtr = std::shared_ptr<const GraphDoc>;

struct PassDoc {
  int index = 0;
  QString name, stage;
  int nodesBefore = 0, nodesAfter = 0;
  double milliseconds = 0;
  bool changed = false;
  QStringList added, removed;  ///< node names that the pass made, or took away
};

struct KernelDoc {
  QString name, kind, reason, loopIr, code;
  QStringList nodes, capturedNodes;
};

/// What compiling a graph showed, without running it.
struct CompileDoc {
  std::vector<PassDoc> passes;
  std::vector<KernelDoc> kernels;
  std::vector<std::pair<QString, double>> stages;  ///< name, milliseconds
  qint64 plannedBytes = 0, unplannedBytes = 0;
  QString error, errorNode;
};
using CompileDocPtr = std::shared_ptr<const CompileDoc>;

struct OutputRow {
  QString name, reason;
  bool same = false;
  double error = 0, rmseRes = 0, rmseRef = 0, ratio = 0;
  qint64 nans = 0, infs = 0;
};

struct NodeRow {
  QString node, target;
  bool same = true, firstBad = false;
  double error = 0, rmseRes = 0, rmseRef = 0, ratio = 0;
};

/// Result of `kerf compare --nodes --json`.
struct AccuracyDoc {
  bool running = false, same = false;
  QString plant, error, failure;
  std::vector<OutputRow> outputs;
  std::vector<NodeRow> nodes;
  QHash<QString, int> nodeIndex;
  /// Name of the node where the results part; empty if nowhere.
  QString firstBad() const {
    const auto row = std::ranges::find_if(nodes, &NodeRow::firstBad);
    return row == nodes.end() ? QString() : row->node;
  }
};
using AccuracyDocPtr = std::shared_ptr<const AccuracyDoc>;

struct MinifyPoint {
  int test = 0, nodes = 0;
  bool accepted = false;
};

struct StepDoc {
  qint64 id = 0;
  int index = 0, test = 0, nodes = 0, outputs = 0;
  qint64 inputBytes = 0;
  QString reduction, fingerprint;
};

/// State of one `kerf minify` run.
struct MinifyDoc {
  enum class State { Running, Done, Cancelled, Failed };
  State state = State::Running;
  QString plant, fingerprint, error, reproPath;
  int startNodes = 0, bestNodes = 0, tests = 0;
  double elapsedSeconds = 0, secondsLeft = -1;
  std::optional<bool> oneMinimal;
  std::vector<MinifyPoint> points;
  std::vector<StepDoc> steps;
};
using MinifyDocPtr = std::shared_ptr<const MinifyDoc>;

/// Where the user is: a capture, one of its graphs, a stage of that graph, a node of that stage.
struct Location {
  enum class Stage { Captured, Pass, Step };
  int capture = -1;
  int graph = 0;
  Stage stage = Stage::Captured;
  int index = -1;  ///< pass or step
  QString node;
  bool operator==(const Location&) const = default;
  bool sameGraph(const Location& other) const {
    return capture == other.capture && graph == other.graph && stage == other.stage && index == other.index;
  }
};

}  // namespace kerf::ui::inline session
