// OpTracer: the reading of programs that writes them down: every op they call becomes a node of a graph, with its
// shape.
//
//     OpTracer over a Graph runs rot90(x, 1, [0, 1])      →      flip = aten.flip(x, [1]); transpose =
//     aten.transpose(flip, 0, 1)
#pragma once

#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Whether a trace replaces an op by a program; the others become nodes.
struct Replacement {
  bool replaces = false;
  Composite program = nullptr;                       ///< null: the op's own decomposition
  bool (*applies)(const BoundArguments&) = nullptr;  ///< null: to every call; where it does not, the op is a node

  Replacement(bool replaced) : replaces(replaced) {}  // NOLINT: yes or no is an answer
  Replacement(Composite by, bool (*when)(const BoundArguments&)) : replaces(true), program(by), applies(when) {}
};
using Decomposes = std::function<Replacement(const OpInfo&)>;
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

 protected:
  /// The call as a node. Every call that is not replaced by its program ends here.
  virtual Result<Value> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  /// What the op's program gives, which is run on this tracer.
  Result<Value> decompose(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) const;
  /// Notes that `value` is what `node` gives (or its item), under a new Tensor::traced.
  Value tag(const Value& value, NodeId node, int item = -1) const;
  /// Another Tensor::traced for the same value.
  Tensor sameValue(const Tensor& tensor) const;
  /// The node that gives a tensor of the trace; where it is an item, the node whose item it is.
  NodeId nodeOf(const Tensor& tensor) const { return m_values[std::size_t(tensor.traced)].node; }
  GraphModule& module() const { return m_module; }

 private:
  /// A node, or one item of what it gives, whose getitem is made when somebody asks for it.
  struct Traced {
    NodeId node;
    int item = -1;
  };
  /// A symbolic size of a value of the trace.
  struct SizeSource {
    Tensor tensor;
    std::int64_t dim;
  };
  Result<Value> replace(const OpInfo& op, const Replacement& by, const ValueList& args,
                        const KeywordValues& kwargs) const;
  Result<Argument> argumentOf(const Tensor& tensor) const;
  Result<Argument> argumentOf(const SymNumber& number) const;

  GraphModule& m_module;
  Decomposes m_decomposes;
  mutable std::vector<Traced> m_values;                             ///< by Tensor::traced
  mutable std::map<std::pair<std::uint32_t, int>, NodeId> m_items;  ///< getitems that were made
  mutable std::unordered_map<std::int64_t, NodeId> m_numbers;       ///< nodes that give symbolic numbers
  mutable std::unordered_map<std::int64_t, SizeSource> m_sources;   ///< sizes that no node gives yet
};

/// The graph of one call: placeholders for its tensors (named as in the schema), the nodes of its program, its result
/// as output. Values of tensors are not looked at.
Result<GraphModule> traceCall(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs,
                              const Decomposes& decomposes = isComposite);

}  // namespace kerf::inline ops
