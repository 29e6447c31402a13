// NodeWriter: puts what programs write in the place of nodes, under the nodes' names.
//
//     norm = layer_norm(x, [8])      →      var_mean = var_mean(x, [1]); …; norm = mul(sub, rsqrt)
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/ir/call_values.h"
#include "engine/ir/graph_module.h"
#include "engine/ops/core/op_tracer.h"

namespace kerf::inline lower {

/// What was written for a node, and what its users will read.
struct WrittenNodes {
  std::span<const NodeId> made;
  const Argument& result;
};

/// Whether a tensor may stand for `recorded`: the same dtype, sizes and strides, where these were recorded.
inline bool isLike(const TensorMeta& made, const TensorMeta& recorded) {
  return made.dtype == recorded.dtype && made.sizes == recorded.sizes &&
         (recorded.strides.empty() || made.strides == recorded.strides);
}

/// Metas must be set; in the scope of a ShapeEnv, if the graph has symbols. References to nodes end with each
/// replacement.
class NodeWriter {
 public:
  using Program = std::function<Result<Value>(const OpTracer&, const CallValues&)>;
  using Check = std::function<bool(const WrittenNodes&)>;

  /// `decomposes`: what programs' calls are written as.
  NodeWriter(GraphModule& module, Decomposes decomposes);

  Graph& graph() { return m_module.graph; }
  const Graph& graph() const { return m_module.graph; }
  /// What users read from now on. None, and the graph as it was, where the program cannot be written, computes with a
  /// size that only running the graph tells, or `accepts` (null: all) is false.
  Result<std::optional<Argument>> replace(NodeId id, const Program& program, const Check& accepts = nullptr);
  /// Drops what was written and is read by nobody.
  void dropUnread();

 private:
  Result<Argument> write(NodeId id, const Program& program, const Check& accepts);
  Result<Value> trace(const Node& node, const Program& program);
  Result<Value> valueOf(NodeId id);
  void describe(NodeId id, std::span<const NodeId> made);
  Result<void> putInPlace(NodeId id, const Argument& replacement, const std::vector<NodeId>& made);
  Result<void> takeBack(NodeId id, std::size_t count);

  GraphModule& m_module;
  Decomposes m_decomposes;
  std::unique_ptr<OpTracer> m_tracer;
  std::unordered_map<NodeId, Value> m_values;  ///< one for each node, or its symbols would have several sources
  std::vector<NodeId> m_made;
};

}  // namespace kerf::inline lower
