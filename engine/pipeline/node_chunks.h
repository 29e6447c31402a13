// NodeChunks: the nodes of a graph whose values are compared, in pieces whose values may be in memory together, and the
// compiled side's values of one piece.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/accuracy/own_attributes.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::inline pipeline {

struct WatchedNode {
  NodeId id;
  std::int64_t bytes = 0;
};

/// The calls of `module` that give tensors, in order, and how large these are: by their recorded shapes, or where one
/// is missing by a run of the interpreter on `inputs`.
Result<std::vector<WatchedNode>> watchedNodes(const GraphModule& module, const ValueList& inputs, std::stop_token stop);

/// Pieces of at least one node and at most `bytes`.
std::vector<std::span<const WatchedNode>> cutIntoChunks(std::span<const WatchedNode> nodes, std::int64_t bytes);

/// The compiled side of one piece: a copy of the graph that returns the piece's nodes, beside its own outputs or
/// without them and all that comes after the piece. What is written into later is returned as it was when its node had
/// run.
class CompiledChunk {
 public:
  /// Compiles. Attributes that the graph writes into get memory of their own.
  static Result<CompiledChunk> compile(const GraphModule& module, std::span<const WatchedNode> nodes,
                                       bool keepsOwnOutputs, const CompileOptions& options, std::stop_token stop);
  /// The values of the piece's nodes. `inputs` are the caller's own.
  Result<ValueList> run(const ValueList& inputs, std::stop_token stop);
  /// Those that the graph writes into, as the runs have left them.
  const NamedValues& attributes() const { return m_attributes; }

 private:
  NamedValues m_attributes;
  std::size_t m_count = 0;
  std::unique_ptr<CompiledGraph> m_graph;
};

}  // namespace kerf::inline pipeline
