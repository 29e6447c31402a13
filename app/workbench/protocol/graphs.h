// Graphs: everything that is shown of one graph, as plain text and indices; what passes did to it; how it compiled.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/pass_choice.h"

namespace kerf::workbench {

/// What a node does, coarse enough for a colour.
enum class NodeKind { Input, Parameter, Pointwise, Reduction, View, Matmul, Convolution, Random, Other, Output };
constexpr NodeKind lastOf(NodeKind) { return NodeKind::Output; }
constexpr int nodeKinds = 10;
/// "Input", "Matmul", …
const char* nodeKindName(NodeKind kind);

/// One argument of a call under its schema name; `value` as str(graph) prints it.
struct ArgumentDoc {
  std::string name, value;
  bool defaulted = false;  ///< not written in the graph: the schema's own default

  KERF_FIELDS(name, value, defaulted)
};

struct NodeDoc {
  std::string name, opcode, target;
  std::string op;      ///< short: "addmm", "var_mean.correction", "getitem"
  std::string schema;  ///< empty if the op table has no such row
  NodeKind kind = NodeKind::Other;
  std::vector<ArgumentDoc> arguments;
  std::string dtype, shape, stride,
      device;                      ///< empty where nothing is known; several tensors are joined by "; "
  std::string value;               ///< "f32[16, 32]"
  std::vector<int> inputs, users;  ///< node indices, in order of first mention
  std::string file;
  int line = 0;  ///< in `file`, 1-based; 0 if unknown
  std::string stackTrace, modulePath;
  std::vector<std::string> fromNodes;
  int codeLine = -1;                     ///< line of GraphDoc::code, 0-based
  bool backward = false;                 ///< in a joint graph: computes gradients
  std::string forwardNode;               ///< the forward node whose gradient it helps to compute; empty: not recorded
  std::vector<std::string> bodies = {};  ///< paths of the nested graphs that a higher-order op calls: "body_graph_0"

  KERF_FIELDS(name, opcode, target, op, schema, kind, arguments, dtype, shape, stride, device, value, inputs, users,
              file, line, stackTrace, modulePath, fromNodes, codeLine, backward, forwardNode, bodies)
};

/// A symbolic size with the value that the capture has for it ("s0", "8"; empty: none).
struct SymbolDoc {
  std::string name, hint;

  KERF_FIELDS(name, hint)
};

struct GraphDoc {
  std::string title;  ///< "forward", "forward after cse"
  std::string hash;
  std::vector<std::string> code;  ///< Python text of forward(), by line
  std::vector<std::string> ops;   ///< base names of the ops that are called, sorted: "addmm", "relu"
  std::vector<NodeDoc> nodes;     ///< in execution order
  std::vector<SymbolDoc> symbols;
  std::vector<std::string> notes;              ///< what the reader should know: shapes that could not be found
  std::unordered_map<std::string, int> index;  ///< by name; made from `nodes`, does not travel
  int find(const std::string& name) const {
    const auto found = index.find(name);
    return found == index.end() ? -1 : found->second;
  }

  KERF_FIELDS(title, hash, code, ops, nodes, symbols, notes)
  /// To be called by whoever filled `nodes`.
  void afterReading() {
    for (std::size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i].name, int(i));
  }
};
using GraphDocPtr = std::shared_ptr<const GraphDoc>;

/// A graph for people, with shapes where they can be known.
struct GraphRequest {
  using Answer = GraphDocPtr;
  static constexpr std::string_view name = "graph";
  GraphAddress graph;
  int afterPass = -1;  ///< as it is after this pass (index in CompileDoc::passes); -1: as captured
  std::string title;   ///< empty: the graph's name
  /// A nested graph of it, by the paths that lead there: "body_graph_0/true_graph_0"; empty: the graph itself.
  std::string body = {};

  KERF_FIELDS(graph, afterPass, title, body)
};

struct PassDoc {
  int index = 0;
  std::string name, stage;
  std::string part;         ///< "forward" or "backward" of a training step; empty: the whole graph
  std::string nestedGraph;  ///< path of the nested graph that it ran on; empty: the outermost
  int nodesBefore = 0, nodesAfter = 0;
  double milliseconds = 0;
  bool changed = false;
  std::vector<std::string> added,
      removed;                        ///< node names that the pass made, or took away
  std::string hashBefore, hashAfter;  ///< of the graphs

  KERF_FIELDS(index, name, stage, part, nestedGraph, nodesBefore, nodesAfter, milliseconds, changed, hashBefore,
              hashAfter, added, removed)
};

struct KernelDoc {
  std::string name, kind, reason, loopIr, code;  ///< code: LLVM IR; of the backend cuda: CUDA C++
  std::vector<std::string> nodes, capturedNodes;
  std::string assembly = {};  ///< of the backend cuda: PTX
  /// By line of `code` and `assembly`: the line of `loopIr` that it comes from, 1-based; 0: none.
  std::vector<int> codeLines = {}, assemblyLines = {};

  KERF_FIELDS(name, kind, reason, loopIr, code, nodes, capturedNodes, assembly, codeLines, assemblyLines)
};

/// What compiling a graph showed, without running it.
struct CompileDoc {
  std::vector<PassDoc> passes;  ///< on the outermost graph; before them AOTAutograd's stages as stage "aot"
  std::vector<KernelDoc> kernels;
  std::vector<std::pair<std::string, double>> stages;  ///< name, milliseconds
  std::int64_t plannedBytes = 0, unplannedBytes = 0;
  std::string error, errorNode;  ///< why it does not compile; a crash or hang of the compiler as well

  KERF_FIELDS(passes, kernels, stages, plannedBytes, unplannedBytes, error, errorNode)
};
using CompileDocPtr = std::shared_ptr<const CompileDoc>;

/// Compiles in a process of its own. A graph that does not compile has an error in the answer, and the passes that ran.
struct CompileRequest {
  using Answer = CompileDocPtr;
  static constexpr std::string_view name = "compile";
  GraphAddress graph;
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  std::vector<std::string> plants = {};  ///< as CompareRequest::plants
  std::string backend = "llvm";

  KERF_FIELDS(graph, timeout, plants, backend)
};

/// A graph before or after a pass as text, under its content hash.
struct SnapshotDoc {
  std::string hash, text;
  int nodes = 0;

  KERF_FIELDS(hash, text, nodes)
};
/// An option of a pass that runs, with the value that it has.
struct PassOptionDoc {
  std::string pass, option, value, type, description;

  KERF_FIELDS(pass, option, value, type, description)
};
/// The first pass after which the graph gives other values.
struct PassCheckDoc {
  bool asked = false;
  int checked = 0;           ///< passes that changed the graph, after each of which it was run
  std::string failure;       ///< why none could be checked: the graph itself does not run
  std::string pass, result;  ///< empty: values stayed; "cse", "out0", or "in2": an input that is written
  std::string node, reason;  ///< where the difference begins, as far as both graphs have that node
  double error = 0;          ///< largest absolute difference

  bool good() const { return failure.empty() && pass.empty(); }

  KERF_FIELDS(asked, checked, failure, pass, result, node, reason, error)
};

struct PassTrace {
  std::string config;  ///< text of what was chosen; empty for the usual passes
  std::vector<PassOptionDoc> options;
  std::vector<PassDoc> passes;
  std::vector<SnapshotDoc> snapshots;  ///< every hash that the passes name, once
  std::string run;                     ///< "r5" in the store; empty if it was not stored
  PassCheckDoc check = {};             ///< of checkPasses
  std::string failure = {};            ///< of a training step: what kept it from the stages that are missing
  std::string dumpAfter = {};          ///< that of the request, by the name that the pass has now

  KERF_FIELDS(config, options, passes, snapshots, run, check, failure, dumpAfter)
};
/// Runs the compiler's passes in a process of its own and keeps them in the store as a run. A joint graph of a forward
/// graph (stage "joint" of the address) goes through all stages of a training compilation, unless passes are checked.
struct PassesRequest {
  using Answer = PassTrace;
  static constexpr std::string_view name = "passes";
  GraphAddress graph;
  PassChoice passes;
  bool checkPasses = false;                     ///< run the graph after each pass on its inputs, and compare
  std::vector<std::string> checkedStages = {};  ///< "pre_grad": of these alone; empty: of all
  double tolerance = 1e-3;                      ///< of the comparison
  std::vector<std::string> plants = {};         ///< as CompareRequest::plants
  std::string dumpAfter = {};  ///< pass whose graph is asked for, or "all"; BadUsage for what did not run

  KERF_FIELDS(graph, passes, checkPasses, checkedStages, tolerance, plants, dumpAfter)
};

/// A pass that there is.
struct PassEntry {
  std::string name, stage, description;
  std::string usual;  ///< "on", "off", or the devices whose values it works on: "cuda"
  std::vector<PassOptionDoc> options;
  std::string place;  ///< why it runs where it does

  KERF_FIELDS(name, stage, usual, description, place, options)
};
/// All passes, in the order in which they run.
struct PassListRequest {
  using Answer = std::vector<PassEntry>;
  static constexpr std::string_view name = "pass_list";
  std::string stage;  ///< only of this stage; empty: of all

  KERF_FIELDS(stage)
};

/// A graph or exported signature as a text or picture, in one of PyTorch's forms or Kerf's.
struct RenderRequest {
  using Answer = std::string;
  static constexpr std::string_view name = "render";
  GraphAddress graph;
  std::string format;  ///< table, text, code, readable, dot, svg, png, json, signature

  KERF_FIELDS(graph, format)
};

}  // namespace kerf::workbench
