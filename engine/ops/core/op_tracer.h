// OpTracer: the reading of programs that writes them down: every op they call becomes a node of a graph, with its
// shape.
//
//     OpTracer over a Graph runs rot90(x, 1, [0, 1])      →      flip = aten.flip(x, [1]); transpose =
//     aten.transpose(flip, 0, 1)
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Which ops a trace replaces by their programs; the others become nodes.
using Decomposes = std::function<bool(const OpInfo&)>;
/// Every op that is a program (PyTorch's CompositeImplicitAutograd and its like).
bool isComposite(const OpInfo& op);

/// Tensors of a trace have sizes, strides and dtype but no storage, and know the node that gives them. A tensor with
/// storage is a constant: it becomes an attribute. Symbolic numbers become the node that gives them, sym_size of a
/// tensor that has them, or their text. One thread; the module must outlive the tracer.
class OpTracer : public OpCaller {
 public:
  explicit OpTracer(GraphModule& module, Decomposes decomposes = isComposite)
      : m_module(module), m_decomposes(std::move(decomposes)) {}

  /// The value that `node` gives, as an argument of calls: by its meta, which must be known.
  Result<Value> valueOfNode(NodeId node);
  /// Adds a placeholder that is like `example` (tensors of lists become one each) and gives its value.
  Result<Value> placeholder(std::string_view name, const Value& example);
  /// What an argument of a node would be. Internal for a tensor that no op of this trace gave and that has no data.
  Result<Argument> argumentOf(const Value& value) const;

  /// Adds nodes at the graph's insertion point. UnsupportedOp where an op has no shape rule, or its shape depends on
  /// data.
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override;
  /// UnsupportedOp: nested graphs are not written out.
  Result<Value> callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs) const override;

 private:
  /// A node, or one item of what it gives, whose getitem is made when somebody asks for it.
  struct Traced {
    NodeId node;
    int item = -1;
  };
  Result<Value> decompose(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  Result<Value> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  Value tag(const Value& value, NodeId node, int item) const;
  /// A symbolic size of a value of the trace.
  struct SizeSource {
    Tensor tensor;
    std::int64_t dim;
  };
  Result<Argument> argumentOf(const Tensor& tensor) const;
  Result<Argument> argumentOf(const SymNumber& number) const;

  GraphModule& m_module;
  Decomposes m_decomposes;
  mutable std::vector<Traced> m_values;                            ///< by Tensor::traced
  mutable std::unordered_map<std::int64_t, NodeId> m_numbers;      ///< nodes that give symbolic numbers
  mutable std::unordered_map<std::int64_t, SizeSource> m_sources;  ///< sizes that no node gives yet
};

/// The graph of one call: placeholders for its tensors (named as in the schema), the nodes of its program, its result
/// as output. Values of tensors are not looked at.
Result<GraphModule> traceCall(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                              const Decomposes& decomposes = isComposite);

}  // namespace kerf::inline ops
