// Constant folding: finds constant calls, runs the reference kernels once, and replaces those that others read.
#include "engine/passes/constant_folding.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "engine/ir/interpreter.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

constexpr std::int64_t defaultBytes = 64 << 10;
constexpr std::int64_t defaultIntermediateBytes = 16 << 20;
constexpr OpTrait notConstant = OpTrait::DataDependent | OpTrait::Matmul | OpTrait::Convolution;

std::int64_t metaBytes(const ValueMeta& meta) {
  const TensorMeta* tensor = meta.tensor();
  if (!tensor) return -1;
  const auto isSymbolic = [](const Dim& size) {
    return size.text.find_first_not_of("0123456789") != std::string::npos;
  };
  if (std::ranges::any_of(tensor->sizes, isSymbolic)) return -1;  // not the same for every size
  const auto sizes = tensor->concreteSizes();
  if (!sizes || tensor->device.type != "cpu") return -1;
  const Result<std::int64_t> numel = checkedNumel(*sizes);
  std::int64_t bytes = 0;
  return numel && !__builtin_mul_overflow(*numel, itemSize(tensor->dtype), &bytes) ? bytes : -1;
}

bool isUninitialised(const Node& node) { return node.target().find(".empty") != std::string::npos; }

/// The values of all constant nodes, computed when first asked for.
class Constants {
 public:
  /// Constants of more than `maxBytes` are left alone.
  Constants(const GraphModule& module, std::int64_t maxBytes)
      : m_module(module), m_aliases(module.graph), m_maxBytes(maxBytes) {
    for (NodeId id : module.graph.order()) {
      if (isConstant(module.graph.node(id))) m_constant[id] = true;
    }
  }

  bool contains(NodeId id) const { return m_constant.contains(id); }

  /// By itself or through a view: outputs have memory of their own, which those that shared it still share.
  bool isReturned(NodeId id) const { return m_aliases.returned(id); }

  /// None if the kernel refuses: such a call is left for run time.
  Value value(NodeId id) {
    const auto known = m_values.find(id);
    if (known != m_values.end()) return known->second;
    Value result = compute(m_module.graph.node(id));
    m_values.emplace(id, result);
    return result;
  }

 private:
  bool isConstant(const Node& node) const {
    if (m_aliases.touchesMutation(node)) return false;
    const std::int64_t bytes = metaBytes(node.meta().value);
    if (bytes < 0 || bytes > m_maxBytes) return false;
    if (node.op() == Opcode::GetAttr) return m_module.attribute(node.target()) != nullptr;
    const OpInfo* op = opOf(node);
    if (!op || !op->kernel || !isPureCall(node) || has(op->traits, notConstant) || isUninitialised(node)) return false;
    return std::ranges::all_of(node.inputs(), [&](NodeId id) { return contains(id); });
  }

  Value compute(const Node& node) {
    if (node.op() == Opcode::GetAttr) return m_module.attribute(node.target())->tensor;
    Environment operands;
    for (const NodeId input : node.inputs()) {
      operands[input] = value(input);
      if (operands[input].isNone()) return {};
    }
    const Result<Value> result = Interpreter(m_module, referenceOps()).runNode(node, operands);
    return result && result->isTensor() ? *result : Value();
  }

  const GraphModule& m_module;
  AliasGroups m_aliases;
  std::int64_t m_maxBytes;
  std::unordered_map<NodeId, bool> m_constant;
  std::unordered_map<NodeId, Value> m_values;
};

bool isUniform(const Tensor& tensor) {
  const auto size = std::size_t(itemSize(tensor.dtype()));
  const auto* first = tensor.storage()->data() + tensor.offset() * itemSize(tensor.dtype());
  if (tensor.numel() == 0 || isComplex(tensor.dtype())) return false;
  for (std::int64_t i = 1; i < tensor.numel(); ++i) {
    if (std::memcmp(first, first + std::size_t(i) * size, size) != 0) return false;
  }
  return true;
}

Argument fillValue(const Tensor& tensor) {
  if (tensor.dtype() == DType::Bool) return tensor.itemAsInt() != 0;
  if (isIntegral(tensor.dtype())) return tensor.itemAsInt();
  return tensor.itemAsDouble();
}

NodeId makeFull(Graph& graph, const Node& node, const Tensor& tensor) {
  ArgumentList sizes;
  for (std::int64_t size : tensor.sizes()) sizes.emplace_back(size);
  KeywordArguments kwargs{{"dtype", tensor.dtype()},
                          {"layout", Layout::Strided},
                          {"device", node.meta().value.tensor()->device},
                          {"pin_memory", false}};
  return graph.callFunction("torch.ops.aten.full.default", {Argument::list(std::move(sizes)), fillValue(tensor)},
                            std::move(kwargs), "full_default");
}

NodeId makeAttribute(GraphModule& module, const Tensor& tensor) {
  std::size_t number = 0;
  while (module.attribute(fmt::format("_frozen_param{}", number))) ++number;
  const std::string name = fmt::format("_frozen_param{}", number);
  module.attributes.add(name, TensorAttribute{tensor, false, {}});
  return module.graph.getAttr(name);
}

bool keepsLayout(const Node& node, const Tensor& tensor) {
  const TensorMeta& meta = *node.meta().value.tensor();
  return meta.dtype == tensor.dtype() && meta.concreteSizes() == tensor.sizes() &&
         meta.concreteStrides() == tensor.strides();
}

/// A constant call with inputs that somebody other than a constant reads: the last point where folding still helps.
bool isFrontier(const Graph& graph, const Constants& constants, const Node& node, std::int64_t maxBytes) {
  if (node.op() != Opcode::CallFunction || node.inputs().empty() || !constants.contains(node.id())) return false;
  return std::ranges::any_of(node.users(), [&](NodeId user) { return !constants.contains(user); }) &&
         metaBytes(graph.node(node.id()).meta().value) <= maxBytes;
}

Result<bool> fold(GraphModule& module, NodeId id, const Value& value) {
  Graph& graph = module.graph;
  if (!value.isTensor() || !keepsLayout(graph.node(id), value.tensor())) return false;
  KERF_TRY(const Tensor tensor, value.tensor().clonePreservingStrides());
  NodeId replacement;
  {
    const InsertionScope scope(graph, InsertionScope::Where::Before, id);
    const bool full = tensor.isContiguous() && isUniform(tensor);
    replacement = full ? makeFull(graph, graph.node(id), tensor) : makeAttribute(module, tensor);
  }
  NodeMeta meta = graph.node(id).meta();
  meta.fromNodes = provenance(graph.node(id));
  graph.setMeta(replacement, std::move(meta));
  graph.replaceAllUsesWith(id, replacement);
  return true;
}

Result<void> runConstantFolding(GraphModule& module, const PassContext& context) {
  const auto maxBytes = context.options.value<std::int64_t>("max_bytes");
  std::vector<std::pair<NodeId, Value>> found;
  {
    Constants constants(module, context.options.value<std::int64_t>("max_intermediate_bytes"));
    for (NodeId id : module.graph.order()) {
      if (!isFrontier(module.graph, constants, module.graph.node(id), maxBytes)) continue;
      if (constants.isReturned(id)) continue;
      found.emplace_back(id, constants.value(id));
    }
  }
  bool changed = false;
  for (const auto& [id, value] : found) {
    KERF_TRY(const bool folded, fold(module, id, value));
    changed = changed || folded;
  }
  if (changed) module.graph.eliminateDeadCode(mustStay);
  return {};
}

}  // namespace

Pass constantFoldingPass() {
  return {.name = "constant_folding",
          .stage = PassStage::PostGrad,
          .description = "Computes calls on constants ahead of time.",
          .options = {{"max_bytes", defaultBytes, "Largest result that is kept as a constant."},
                      {"max_intermediate_bytes", defaultIntermediateBytes, "Largest constant on the way to a result."}},
          .run = runConstantFolding};
}

}  // namespace kerf::inline passes
