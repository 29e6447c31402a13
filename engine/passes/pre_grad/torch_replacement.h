// TorchReplacement: calls of torch functions in place of a node of a Dynamo graph, checked before anything is changed:
// same dtype, sizes and strides.
//
//     y = torch.cat([a, torch.cat([b, c], 1)], 1)      →      y = torch.cat([a, b, c], 1)
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline passes {

/// Writes calls, whose shapes are inferred as they are written; the first error ends the program.
class TorchWriter {
 public:
  explicit TorchWriter(GraphModule& module) : m_module(module) {}
  /// Invalid after an error.
  NodeId operator()(std::string_view target, ArgumentList args, KeywordArguments kwargs = {});
  const Result<void>& state() const { return m_state; }

 private:
  Result<void> infer(NodeId node);
  GraphModule& m_module;
  Result<void> m_state;
};

/// What to write in place of nodes: one node for each of them.
using TorchProgram = std::function<std::vector<NodeId>(TorchWriter&)>;

class TorchReplacement {
 public:
  explicit TorchReplacement(GraphModule& module) : m_module(module) {}
  ~TorchReplacement();
  TorchReplacement(const TorchReplacement&) = delete;
  TorchReplacement& operator=(const TorchReplacement&) = delete;

  /// Puts what `program` writes right before `nodes.front()`; users of the nodes then read that, the nodes are erased.
  /// All inputs stand above the first node. False, and nothing changed, where the program cannot be written or gives
  /// another dtype, sizes or strides. `matched`: nodes that it stands for too, for provenance.
  Result<bool> replace(const std::vector<NodeId>& nodes, const TorchProgram& program,
                       const std::vector<NodeId>& matched = {});
  /// Drops calls of torch functions that no one reads any more; call it when all replacements are made.
  void finish();
  bool changed() const { return m_changed; }

 private:
  Result<std::vector<NodeId>> write(const TorchProgram& program);
  bool fits(NodeId old, NodeId made) const;
  void describe(NodeId made, const std::vector<NodeId>& from);

  GraphModule& m_module;
  std::unique_ptr<ShapeEnv> m_symbols;  ///< made when first needed
  bool m_changed = false;
};

/// Drops calls that no one reads and that do nothing else, torch functions of Dynamo graphs among them.
void dropUnreadTorchCalls(Graph& graph);

}  // namespace kerf::inline passes
