#include "engine/pipeline/emulate_fusion.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "engine/ir/graph_copy.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/fused_nodes.h"

namespace kerf::inline pipeline {
namespace {

bool isNarrow(DType dtype) { return dtype == DType::BFloat16 || dtype == DType::Float16; }

bool isNarrow(const Argument& argument) {
  const DType* dtype = argument.as<DType>();
  return dtype != nullptr && isNarrow(*dtype);
}

std::optional<DType> dtypeOf(const Node& node) {
  const TensorMeta* tensor = node.meta().value.tensor();
  return tensor == nullptr ? std::nullopt : std::optional(tensor->dtype);
}

bool isNarrow(const Node& node) {
  const auto dtype = dtypeOf(node);
  return dtype && isNarrow(*dtype);
}

/// Ops that a kernel cannot compute in another type, and those whose second run would not be the first's.
bool keepsItsType(const Node& node) {
  const OpInfo* op = findOp(node);
  if (op == nullptr || node.op() != Opcode::CallFunction) return true;
  const OpTrait never = OpTrait::Random | OpTrait::Inplace | OpTrait::Impure;
  if (has(op->traits, never) || node.isCall("aten.view.dtype"_op)) return true;
  return std::ranges::any_of(op->schema.arguments,
                             [](const SchemaArgument& argument) { return argument.alias.ends_with('!'); });
}

class Emulator {
 public:
  explicit Emulator(const GraphModule& module, FusedGraph fused)
      : m_module(module), m_old(module.graph), m_fused(std::move(fused)) {
    for (std::size_t k = 0; k < m_fused.kernels.size(); ++k)
      for (const NodeId id : m_fused.kernels[k].nodes) m_kernelsOf[id].push_back(k);
  }

  Result<EmulatedGraph> run() {
    for (const NodeId id : m_old.order()) {
      const Node& node = m_old.node(id);
      const auto kernels = m_kernelsOf.find(id);
      if (kernels == m_kernelsOf.end() || keepsItsType(node)) {
        m_rounded[id] = copyRounded(node);
        continue;
      }
      for (const std::size_t kernel : kernels->second) compute(kernel, node);
    }
    m_new.eliminateDeadCode([this](const Node& node) { return mustStay(node); });
    EmulatedGraph result{m_module, m_fused.kernels.size(), m_kernelsOf.size(), m_fused.missing, m_unrounded};
    result.module.graph = std::move(m_new);
    KERF_CHECK(propagateShapes(result.module));
    KERF_CHECK(sameTypes(result.module.graph));
    return result;
  }

 private:
  using Key = std::pair<std::size_t, NodeId>;

  bool mustStay(const Node& node) const {
    const auto before = m_old.find(node.name());
    return before && m_old.node(*before).users().empty();
  }

  /// As the graph has it, from what memory holds.
  NodeId copyRounded(const Node& node) {
    return copyNode(m_new, node, [this](NodeId input) { return Argument(rounded(input)); }, CopyName::Same);
  }

  /// The value that memory holds. Every kernel with the node has computed it when somebody asks.
  NodeId rounded(NodeId id) {
    if (const auto known = m_rounded.find(id); known != m_rounded.end()) return known->second;
    const Node& node = m_old.node(id);
    if (isNarrowTuple(node)) return m_rounded[id] = copyRounded(node);  // an item that no kernel has
    const auto& kernels = m_kernelsOf.at(id);
    const auto stores =
        std::ranges::find_if(kernels, [&](std::size_t kernel) { return m_fused.kernels[kernel].stored.contains(id); });
    const NodeId value = m_values.at({stores == kernels.end() ? kernels.front() : *stores, id});
    const auto dtype = dtypeOf(node);
    const bool convert = dtype && isNarrow(*dtype) && m_wide.contains(value);
    return m_rounded[id] = convert ? converted(value, *dtype, node.name()) : value;
  }

  NodeId converted(NodeId value, DType dtype, const std::string& name) {
    return m_new.createNamed(Opcode::CallFunction, "torch.ops.prims.convert_element_type.default",
                             {Argument(value), Argument(dtype)}, {}, name);
  }

  /// What kernel `kernel` has in its registers for an input of one of its calls.
  NodeId operand(std::size_t kernel, NodeId input) {
    if (const auto own = m_values.find({kernel, input}); own != m_values.end()) return own->second;
    const NodeId value = rounded(input);
    if (!isNarrow(m_old.node(input))) return value;
    const auto [slot, fresh] = m_loaded.try_emplace(input);
    if (fresh) {
      slot->second = converted(value, DType::Float32, m_old.node(input).name() + "_fp32");
      m_wide.insert(slot->second);
    }
    return slot->second;
  }

  void compute(std::size_t kernel, const Node& node) {
    NodeId& value = m_values[{kernel, node.id()}];
    bool wide = isNarrow(node) || isNarrowTuple(node);
    for (const NodeId input : node.inputs()) wide = m_wide.contains(operand(kernel, input)) || wide;
    if (!wide) {  // the same in every kernel
      if (!m_rounded.contains(node.id())) m_rounded[node.id()] = copyRounded(node);
      value = m_rounded.at(node.id());
      return;
    }
    value = isConversionToNarrow(node) ? keptWide(kernel, node) : widened(kernel, node);
    if (isNarrow(node)) m_wide.insert(value);
    if (isNarrow(node) && kernel == m_kernelsOf.at(node.id()).front()) ++m_unrounded;
  }

  static bool isNarrowTuple(const Node& node) {
    const auto* items = node.meta().value.list();
    return items != nullptr && std::ranges::any_of(*items, [](const ValueMeta& item) {
             return item.tensor() != nullptr && isNarrow(item.tensor()->dtype);
           });
  }

  static bool isConversionToNarrow(const Node& node) {
    return node.isCall("prims.convert_element_type.default"_op) && node.args().size() == 2 && isNarrow(node.args()[1]);
  }

  /// Inductor's to_dtype to a 16-bit type computes in float32 all the same.
  NodeId keptWide(std::size_t kernel, const Node& node) {
    const NodeId* input = node.args()[0].as<NodeId>();
    if (input == nullptr) return copyRounded(node);
    const NodeId value = operand(kernel, *input);
    const auto dtype = dtypeOf(m_old.node(*input));
    if (m_wide.contains(value) || dtype == DType::Float32) return value;
    return converted(value, DType::Float32, node.name() + "_fp32");
  }

  NodeId widened(std::size_t kernel, const Node& node) {
    ArgumentList args;
    KeywordArguments kwargs;
    const auto map = [&](NodeId input) { return Argument(operand(kernel, input)); };
    for (const Argument& argument : node.args())
      args.push_back(isNarrow(argument) ? Argument(DType::Float32) : mapNodes(argument, map));
    for (const auto& [name, argument] : node.kwargs())
      kwargs.emplace_back(name, isNarrow(argument) ? Argument(DType::Float32) : mapNodes(argument, map));
    const bool changesType = isNarrow(node) || isNarrowTuple(node);
    return m_new.createNamed(node.op(), node.target(), std::move(args), std::move(kwargs),
                             changesType ? node.name() + "_fp32" : node.name());
  }

  /// Every node that kept its name has the type that it had.
  Result<void> sameTypes(const Graph& graph) const {
    for (const NodeId id : graph.order()) {
      const auto before = m_old.find(graph.node(id).name());
      if (!before) continue;
      const auto was = dtypeOf(m_old.node(*before));
      const auto is = dtypeOf(graph.node(id));
      if (was && is && was != is)
        return fail(Error(ErrorCode::Internal, "the emulation gives another type than the graph", {}, 0,
                          graph.node(id).name()));
    }
    return {};
  }

  const GraphModule& m_module;
  const Graph& m_old;
  const FusedGraph m_fused;
  Graph m_new;
  std::unordered_map<NodeId, std::vector<std::size_t>> m_kernelsOf;
  std::unordered_map<NodeId, NodeId> m_rounded;  ///< what memory holds
  std::unordered_map<NodeId, NodeId> m_loaded;   ///< the same in float32
  std::map<Key, NodeId> m_values;                ///< what a kernel has in registers
  std::unordered_set<NodeId> m_wide;             ///< new nodes that are float32 in place of 16 bits
  std::size_t m_unrounded = 0;
};

}  // namespace

Result<EmulatedGraph> emulateFusion(const GraphModule& module, std::span<const RecordedFusionGroup> groups) {
  FusedGraph fused = fusedNodes(module.graph, groups);
  if (fused.kernels.empty()) return fail(ErrorCode::BadInput, "no recorded fusion group names a node of this graph");
  return Emulator(module, std::move(fused)).run();
}

}  // namespace kerf::inline pipeline
