// Node: one line of an FX graph. Read freely; change only through its Graph, which keeps the users right.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/ir/op_id.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline ir {

enum class Opcode : std::uint8_t { Placeholder, CallFunction, CallMethod, CallModule, GetAttr, Output };

/// "placeholder", "call_function", …
std::string_view opcodeName(Opcode op);
/// Inverse of opcodeName.
std::optional<Opcode> opcodeFromName(std::string_view name);

/// One dimension: a number, or a symbolic expression (text not empty; hint is its example value).
using Dim = SymExpr;
inline Dim dim(std::int64_t value) { return {{}, value}; }

/// Shape, dtype, strides of the tensor a node produces. Sizes and strides in elements.
struct TensorMeta {
  DType dtype = DType::Float32;
  std::vector<Dim> sizes;
  std::vector<Dim> strides;
  std::int64_t storageOffset = 0;
  Device device;
  bool requiresGrad = false;
  bool operator==(const TensorMeta&) const = default;
  /// Concrete sizes/strides through hints; empty optional if a dimension has no value. A meta without strides (an
  /// annotation that shows none) counts as contiguous.
  std::optional<Sizes> concreteSizes() const;
  std::optional<Sizes> concreteStrides() const;
};

struct SymMeta {
  SymExpr expr;
  bool operator==(const SymMeta&) const = default;
};

/// What is known of a node's value: nothing, a tensor, a symbolic number, or one entry per element of a tuple.
struct ValueMeta {
  std::variant<std::monostate, TensorMeta, SymMeta, std::vector<ValueMeta>> value;
  const TensorMeta* tensor() const { return std::get_if<TensorMeta>(&value); }
  const SymMeta* sym() const { return std::get_if<SymMeta>(&value); }
  const std::vector<ValueMeta>* list() const { return std::get_if<std::vector<ValueMeta>>(&value); }
  bool known() const { return value.index() != 0; }
  bool operator==(const ValueMeta&) const = default;
};

/// Typed metadata: value, and where the node came from.
struct NodeMeta {
  ValueMeta value;
  std::string sourceFile;              ///< file of the user's (or the capture's) line, empty if unknown
  int sourceLine = 0;                  ///< 1-based
  std::string stackTrace;              ///< the "File: …, code: …" text PyTorch recorded, without the leading "# "
  std::string modulePath;              ///< nn_module_stack's innermost path ("layers.0.fc1"), empty if unknown
  std::vector<std::string> fromNodes;  ///< names of the captured nodes this one came from; empty: itself
  std::string typeText;                ///< FX's node.type as printed ("torch.Tensor"), mostly empty
  std::string annotation;              ///< print_readable's text where `value` cannot say it all ("DTensor(…)")
  std::string description;             ///< AOTAutograd's descriptor of an input ("PlainAOTInput(idx=0)")
  /// What else was recorded, by key and verbatim: nn_module_stack, source_fn_stack, torch_fn, from_node, custom, …
  std::vector<std::pair<std::string, std::string>> extra;
};

class Node {
 public:
  NodeId id() const { return m_id; }
  Opcode op() const { return m_op; }
  /// Unique within the graph, a valid Python identifier.
  const std::string& name() const { return m_name; }
  /// As str(graph) prints it: "torch.ops.aten.add.Tensor", "operator.getitem", a method name, an attribute path.
  const std::string& target() const { return m_target; }
  /// What a call_function node calls, whatever its spelling; OpId{} for other opcodes.
  OpId opId() const { return m_opId; }
  const ArgumentList& args() const { return m_args; }
  const KeywordArguments& kwargs() const { return m_kwargs; }
  /// Distinct users in the order in which they first used this node (FX's dict order).
  const std::vector<NodeId>& users() const { return m_users; }
  const NodeMeta& meta() const { return *m_meta; }
  bool isCall(OpId op) const { return m_opId ? m_opId == op : isUnnumberedCall(op); }
  /// Distinct nodes mentioned in args, then kwargs, first mention first.
  std::vector<NodeId> inputs() const;

 private:
  friend class Graph;
  /// Of a graph whose names are beyond what is numbered.
  bool isUnnumberedCall(OpId op) const;
  static std::shared_ptr<const NodeMeta> emptyMeta();
  NodeId m_id;
  Opcode m_op = Opcode::Placeholder;
  std::string m_name;
  std::string m_target;
  OpId m_opId;
  ArgumentList m_args;
  KeywordArguments m_kwargs;
  std::vector<NodeId> m_users;
  std::shared_ptr<const NodeMeta> m_meta = emptyMeta();  ///< shared by copies of the node
};

}  // namespace kerf::inline ir
