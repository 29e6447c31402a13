// Differences: of two graphs node by node, of two captures compile by compile; and the life of one node in a capture.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

struct NodeChange {
  std::string name, before, after;

  KERF_FIELDS(name, before, after)
};

/// What nodes became that have no counterpart of their own; names of nodes, and what those call.
struct RewriteDoc {
  std::string kind;      ///< "rewritten"; "merged" into, or "duplicated" from, a node that stayed
  std::string evidence;  ///< "recorded", "origin", "place", "structure"
  std::vector<std::string> before, after, opsBefore, opsAfter;

  KERF_FIELDS(kind, evidence, before, after, opsBefore, opsAfter)
};
struct OpCountDoc {
  std::string op;
  int before = 0, after = 0;

  KERF_FIELDS(op, before, after)
};
/// A node that one graph computes and the other is given.
struct GivenValue {
  std::string before, after;

  KERF_FIELDS(before, after)
};

/// A line of the two graphs beside each other.
struct DiffRow {
  enum class Kind { Same, Removed, Added, Changed, Renamed, Rewritten };
  Kind kind = Kind::Same;
  std::string path;         ///< of a nested graph; empty: the graph itself
  std::string left, right;  ///< empty where a side has no such node

  KERF_FIELDS(kind, path, left, right)
};
constexpr DiffRow::Kind lastOf(DiffRow::Kind) { return DiffRow::Kind::Rewritten; }

/// How two graphs differ.
struct GraphDifference {
  bool same = false;
  std::int64_t nodesBefore = 0, nodesAfter = 0, paired = 0;  ///< nested graphs included
  std::vector<std::string> removed, added, moved;
  std::int64_t gradientsRemoved = 0, gradientsAdded = 0;     ///< of those: for gradients, which only one graph computes
  std::vector<std::pair<std::string, std::string>> renamed;  ///< before, after
  std::vector<RewriteDoc> rewritten;
  std::vector<NodeChange> changed,
      metaChanged;  ///< calls; shapes, dtypes, strides or devices
  std::vector<GivenValue> given;
  std::vector<OpCountDoc> ops;  ///< that are called more or less often
  std::string text;             ///< unified diff of the graph texts
  std::vector<DiffRow> rows;

  KERF_FIELDS(same, nodesBefore, nodesAfter, paired, removed, added, moved, gradientsRemoved, gradientsAdded, renamed,
              rewritten, changed, metaChanged, given, ops, text, rows)
};
struct DiffRequest {
  using Answer = GraphDifference;
  static constexpr std::string_view name = "diff";
  GraphAddress before, after;

  KERF_FIELDS(before, after)
};

/// A node at one stage of its life.
struct LifeNode {
  std::string name, call;
  std::string
      how;  ///< how it is known: "same", "rewritten", "recorded", "merged", …; empty: the node that was asked for

  KERF_FIELDS(name, how, call)
};
struct LifeStage {
  std::string graph;  ///< "aot_joint_graph", as the capture names it
  std::string part;   ///< "Dynamo", "joint", "forward", …
  std::vector<LifeNode> nodes;

  KERF_FIELDS(graph, part, nodes)
};
/// A kernel that computes a node of the last stage, and where it stands in the output code.
struct LifeKernel {
  std::string kernel, part;  ///< part: "forward", "backward", "inference"; empty where the code does not say
  std::vector<std::string> nodes;
  std::string record;               ///< "r17" of the capture: the output code
  int definedAt = 0, calledAt = 0;  ///< 1-based lines of it; 0: not found
  std::string callText;

  KERF_FIELDS(kernel, part, nodes, record, definedAt, calledAt, callText)
};
struct NodeLife {
  std::string node, graph, compileId;
  std::string source;             ///< user's line: "model.py:7 in forward, code: …"
  std::vector<LifeStage> stages;  ///< in the order of compilation, those without any of its nodes left out
  std::vector<LifeKernel> kernels;
  std::vector<std::string> notes;

  KERF_FIELDS(node, graph, compileId, source, stages, kernels, notes)
};
/// Follows a node of a capture's graph to what it came from and what it became. NotFound when no graph has it; without
/// a graph in `capture` ("trace.log#aot_joint_graph") the first stage that has the name counts.
struct NodeLifeRequest {
  using Answer = NodeLife;
  static constexpr std::string_view name = "node_life";
  std::string capture, node;

  KERF_FIELDS(capture, node)
};

/// How often something stands in either capture, where that differs.
struct TextCount {
  std::string text;
  int before = 0, after = 0;

  KERF_FIELDS(text, before, after)
};
struct FigureChange {
  std::string name;
  double before = 0, after = 0;

  KERF_FIELDS(name, before, after)
};
/// Two graphs of one stage.
struct StageDifference {
  std::string graph;  ///< "aot_joint_graph", "inductor_post_grad_graph, backward"
  bool onlyBefore = false, onlyAfter = false;
  std::string before, after;   ///< their names in their captures
  std::string failure;         ///< why they could not be compared
  GraphDifference difference;  ///< without text and rows

  KERF_FIELDS(graph, onlyBefore, onlyAfter, before, after, failure, difference)
};
/// Two compile ids of one user frame.
struct CompileDifference {
  std::string before, after;  ///< ids; empty: only the other capture has it
  std::string frame;
  std::string statusBefore, statusAfter;
  std::vector<StageDifference> stages;
  std::vector<TextCount> guards, kernels;
  std::vector<FigureChange> figures;  ///< times and counts of compilation_metrics, both recorded and unequal
  bool same() const;                  ///< nothing but figures differs

  KERF_FIELDS(before, after, frame, statusBefore, statusAfter, stages, guards, kernels, figures)
};
/// One thing that is otherwise in the second capture, in one sentence.
struct CaptureFinding {
  /// In the order in which findings are listed: what fails, what is not optimised any more, what runs otherwise, what
  /// it costs.
  enum class Kind { Status, Compilation, Pattern, Input, Decomposition, Fusion, Saved, Guard, Time };
  Kind kind = Kind::Status;
  std::string compile, graph;        ///< id and graph in the second capture, or in the first where only it has them
  std::string subject;               ///< the pattern, op, kernel, input or figure
  std::string text;                  ///< what became of it
  double before = 0, after = 0;      ///< matches, calls, kernels, bytes, guards, seconds
  std::vector<std::string> because;  ///< nodes that are otherwise, and why a pattern does not match
  int more = 0;                      ///< of `because` that are left out

  KERF_FIELDS(kind, compile, graph, subject, text, before, after, because, more)
};
constexpr CaptureFinding::Kind lastOf(CaptureFinding::Kind) { return CaptureFinding::Kind::Time; }
/// "status", "compilation", "pattern", "input", "decomposition", "fusion", "saved", "guard", "time".
std::string_view findingKindName(CaptureFinding::Kind kind);

struct CaptureDifference {
  bool same = false;                     ///< no graph, guard, kernel or status differs; times may
  std::vector<CaptureFinding> findings;  ///< what matters most first
  std::vector<CompileDifference> compiles;
  std::vector<std::string> notes;

  KERF_FIELDS(same, findings, compiles, notes)
};
struct CaptureDiffRequest {
  using Answer = CaptureDifference;
  static constexpr std::string_view name = "capture_diff";
  std::string before, after;  ///< paths or captures of the store

  KERF_FIELDS(before, after)
};

}  // namespace kerf::workbench
