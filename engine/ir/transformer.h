// Transformer: builds a new GraphModule by visiting each node of another, as torch.fx.Transformer does.
#pragma once

#include <unordered_map>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

/// Override one method per opcode; each returns what stands for the old node in the new graph (a node, or a constant).
/// Without overrides the result is an equal copy.
class Transformer {
 public:
  explicit Transformer(const GraphModule& module) : m_module(module) {}
  virtual ~Transformer() = default;

  /// The result keeps attributes, submodules, class name and signature. Errors carry the old node's name.
  Result<GraphModule> transform();

 protected:
  /// `args` and `kwargs` already refer to the new graph; `node` is the old one.
  virtual Result<Argument> placeholder(const Node& node, ArgumentList args);
  virtual Result<Argument> callFunction(const Node& node, ArgumentList args, KeywordArguments kwargs);
  virtual Result<Argument> callMethod(const Node& node, ArgumentList args, KeywordArguments kwargs);
  virtual Result<Argument> callModule(const Node& node, ArgumentList args, KeywordArguments kwargs);
  virtual Result<Argument> getAttr(const Node& node);
  /// Creates the output node; the returned value is ignored.
  virtual Result<Argument> output(const Node& node, Argument value);

  const GraphModule& module() const { return m_module; }
  /// The graph being built; new nodes go to its end.
  Graph& graph() { return m_result.graph; }
  /// A copy of `node` with these arguments, its name (if free) and metadata.
  NodeId copy(const Node& node, ArgumentList args, KeywordArguments kwargs);

 private:
  Result<Argument> visit(const Node& node);

  const GraphModule& m_module;
  GraphModule m_result;
  std::unordered_map<NodeId, Argument> m_mapped;
};

}  // namespace kerf::inline ir
