// ValueTable: what lowering knows of every node before it schedules anything: kind, shape, op row, bound arguments.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/loops/affine.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline lower {

enum class ValueKind : std::uint8_t {
  Input,      ///< placeholder
  Attribute,  ///< get_attr
  View,       ///< looks at `base` through viewSizes / viewStrides / viewOffset
  Pointwise,
  Reduction,
  Scan,    ///< as a reduction, but every element of one dimension has a result
  Write,   ///< filled, then written to at computed places
  Tuple,   ///< several results of a reduction or a split; only its getitems are looked at
  Number,  ///< follows from the sizes of the inputs: nothing runs
  Extern,  ///< runs as a library or reference kernel
  Output,
};

/// One node. Sizes and strides are those of its meta (eager's); where symbols are, they are expressions of the ShapeEnv
/// in whose scope the table was made.
struct ValueInfo {
  ValueKind kind = ValueKind::Extern;
  bool isTensor = false;
  DType dtype = DType::Float32;
  SymSizes sizes, strides;
  std::int64_t storageOffset = 0;
  int segment = 0;     ///< grows at every mutating op; kernels never reach across
  bool alone = false;  ///< in a kernel or a call of its own, whatever could be fused with it

  const Lowering* lowering = nullptr;             ///< of Pointwise, Reduction and Tuple values that are computed
  int item = 0;                                   ///< which result of a Tuple this is
  BoundArguments bound;                           ///< tensors in it have no storage
  std::vector<NodeId> operandNodes;               ///< per schema argument; invalid where it is no node
  std::vector<std::vector<NodeId>> operandItems;  ///< the same for lists; empty where it is none
  // View: on a row-major base these sizes, strides and offset give the value
  NodeId base;
  NodeId root;               ///< what the base is a view of in the end; the base itself if it is no view
  NodeId viewCall;           ///< the node whose op makes the view (a split, of which this is an item)
  bool needsLayout = false;  ///< as_strided: only meaningful on memory
  SymSizes viewStrides;
  SymInt viewOffset = 0;
  SymNumber number;  ///< of a Number
};

class ValueTable {
 public:
  const ValueInfo& operator[](NodeId id) const { return m_values[id.index]; }
  ValueInfo& operator[](NodeId id) { return m_values[id.index]; }
  const GraphModule& module() const { return *m_module; }
  const Graph& graph() const { return m_module->graph; }
  /// The node that a chain of views starts from; `id` itself if it is no view.
  NodeId root(NodeId id) const;

 private:
  friend class Classifier;
  const GraphModule* m_module = nullptr;
  std::vector<ValueInfo> m_values;
};

/// Nodes, by name or by that of a captured node that they came from, which are not lowered as all others are.
struct NodeChoice {
  std::set<std::string> unfused;      ///< each in a kernel of its own
  std::set<std::string> interpreted;  ///< run by the interpreter's kernels
  /// Whether code can be made of loops whose iterations follow one another: scans, and writes at computed places.
  bool serialLoops = false;
};

/// Guards that are added from now on are this node's; nothing outside of the scope of a ShapeEnv.
void askFor(const Node& node);

/// In the scope of a ShapeEnv, if there is one, symbols stay so and what is decided becomes its guards; nodes whose
/// sizes depend on data are extern. UnsupportedOp naming the node when an op is unknown; BadInput when metas contradict
/// each other.
Result<ValueTable> classifyValues(const GraphModule& module, const NodeChoice& choice = {});

}  // namespace kerf::inline lower
