#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/tensor_objects.h"

namespace kerf::inline accuracy {
namespace {

bool isNarrowFloat(const Argument& argument) {
  const DType* dtype = argument.as<DType>();
  return dtype != nullptr && isFloating(*dtype) && *dtype != DType::Float64;
}

/// Ops of exported programs and of joint graphs before decomposition, which PyTorch's minifier never sees: there a
/// float32 left behind would stop the run.
bool isEarlyConversion(const Node& node) {
  return node.target().starts_with("torch.ops.aten.to.") || node.isCall("aten._assert_tensor_metadata.default"_op) ||
         node.isCall("aten._softmax_backward_data.default"_op) ||
         node.isCall("aten._log_softmax_backward_data.default"_op);
}

/// The two rewrites of PyTorch's cast_dtype_args_to_fp64, and one for graphs of earlier stages; other positional dtypes stay
/// (PyTorch's known blind spot).
void castDtypeArguments(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op() != Opcode::CallFunction) return;
  if (node.isCall("prims.convert_element_type.default"_op) && node.args().size() == 2 && isNarrowFloat(node.args()[1]))
    graph.setArgs(id, {node.args()[0], Argument(DType::Float64)});
  if (isEarlyConversion(node)) {
    ArgumentList args = node.args();
    for (Argument& argument : args)
      if (isNarrowFloat(argument)) argument = Argument(DType::Float64);
    graph.setArgs(id, std::move(args));
  }
  KeywordArguments kwargs = graph.node(id).kwargs();
  bool changed = false;
  for (auto& [name, value] : kwargs) {
    if (name != "dtype" || !isNarrowFloat(value)) continue;
    value = Argument(DType::Float64);
    changed = true;
  }
  if (changed) graph.setKwargs(id, std::move(kwargs));
}

/// x.view(dtype) of x's own dtype is x, whatever that becomes. While the recorded dtypes are there.
void castViewOfOwnDtype(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.isCall("aten.view.dtype"_op) || node.args().size() != 2 || !isNarrowFloat(node.args()[1])) return;
  const NodeId* input = node.args()[0].as<NodeId>();
  const TensorMeta* own = input != nullptr ? graph.node(*input).meta().value.tensor() : nullptr;
  if (own == nullptr || own->dtype != *node.args()[1].as<DType>()) return;
  graph.setArgs(id, {node.args()[0]});
  graph.setTarget(id, "torch.ops.aten.alias.default");
}

/// The floating dtype that a node was recorded with.
std::optional<DType> recordedFloat(const Graph& graph, const Argument& argument) {
  const NodeId* node = argument.as<NodeId>();
  const TensorMeta* meta = node != nullptr ? graph.node(*node).meta().value.tensor() : nullptr;
  return meta != nullptr && isFloating(meta->dtype) ? std::optional(meta->dtype) : std::nullopt;
}

/// Methods that convert to one dtype.
struct DtypeMethod {
  std::string_view name;
  DType dtype;
};
constexpr DtypeMethod dtypeMethods[] = {
    {"double", DType::Float64}, {"float", DType::Float32}, {"half", DType::Float16}, {"bfloat16", DType::BFloat16}};

/// The arguments of the call as one of `to`: empty where it is none. Copies only on demand.
ArgumentList argumentsOfTo(const Node& node) {
  if (node.op() == Opcode::CallFunction)
    return node.target().starts_with("torch.ops.aten.to.") && node.args().size() < 4 ? node.args() : ArgumentList();
  if (node.op() != Opcode::CallMethod) return {};
  const bool isType = (node.target() == "type" || node.target() == "type_as") && node.args().size() == 2;
  if (isType || node.target() == "to") return node.args();
  const auto* method = std::ranges::find(dtypeMethods, node.target(), &DtypeMethod::name);
  if (method == std::end(dtypeMethods) || node.args().size() != 1) return {};
  return {node.args()[0], Argument(method->dtype)};
}

/// A conversion between float types copies, and must copy still where both are float64: what is written later to the one
/// must not reach the other. While the recorded dtypes are there.
void keepCopy(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  ArgumentList args = argumentsOfTo(node);
  if (args.empty()) return;
  const auto from = recordedFloat(graph, args[0]), to = recordedFloat(graph, Argument(id));
  if (!from || !to || *from == *to) return;
  KeywordArguments kwargs = node.kwargs();
  const auto copies = [](const auto& keyword) { return keyword.first == "copy"; };
  std::erase_if(kwargs, copies);
  kwargs.emplace_back("copy", Argument(true));
  if (node.op() == Opcode::CallMethod) graph.setTarget(id, "to");
  graph.setArgs(id, std::move(args));
  graph.setKwargs(id, std::move(kwargs));
}

void castUntypedOuts(Graph& graph) {
  for (const NodeId id : untypedOuts(graph)) {
    KeywordArguments kwargs = graph.node(id).kwargs();
    kwargs.emplace_back("dtype", Argument(DType::Float64));
    graph.setKwargs(id, std::move(kwargs));
  }
}

/// Recorded dtypes are no longer true: a placeholder's is known again, the others are forgotten.
void castMeta(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.meta().value.known()) return;
  ValueMeta value;
  if (const TensorMeta* tensor = node.meta().value.tensor(); tensor != nullptr && node.op() == Opcode::Placeholder) {
    TensorMeta cast = *tensor;
    if (isFloating(cast.dtype)) cast.dtype = DType::Float64;
    value.value = std::move(cast);
  } else if (node.meta().value.sym() != nullptr) {
    return;
  }
  graph.setValueMeta(id, std::move(value));
}

/// Of the module's own attributes those in `paths`, or all without it.
Result<void> castAttributes(GraphModule& module, const std::vector<std::string>* paths) {
  for (auto& [name, attribute] : module.attributes.edit()) {
    if (!attribute.tensor.defined() || !isFloating(attribute.tensor.dtype())) continue;
    if (paths != nullptr && std::ranges::find(*paths, name) == paths->end()) continue;
    KERF_TRY(attribute.tensor, attribute.tensor.to(DType::Float64));
  }
  return {};
}

using EditNode = void (*)(Graph&, NodeId);

void editNodes(Graph& graph, EditNode edit) {
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) edit(graph, id);
}

void castNode(Graph& graph, NodeId id) {
  castDtypeArguments(graph, id);
  castMeta(graph, id);
}

/// Nested graphs are converted whole: PyTorch converts their attributes only, and a float32 that a body names (a rotary
/// embedding under autocast) would leave it without a reference.
Result<GraphModule> castWith(const GraphModule& module, const std::vector<std::string>* attributes) {
  GraphModule cast = module;
  KERF_CHECK(castAttributes(cast, attributes));
  for (auto& [name, submodule] : cast.submodules.edit()) {
    if (!submodule.graph) continue;
    KERF_TRY(GraphModule nested, castWith(*submodule.graph, nullptr));
    submodule.graph = std::make_shared<GraphModule>(std::move(nested));
  }
  editNodes(cast.graph, castViewOfOwnDtype);
  editNodes(cast.graph, keepCopy);
  castUntypedOuts(cast.graph);
  editNodes(cast.graph, castNode);
  return cast;
}

/// Methods that name a float type.
constexpr std::array<std::string_view, 3> narrowMethods = {"float", "half", "bfloat16"};

bool reinterpretsBits(const Node& node) {
  return node.target().starts_with("torch.ops.aten.view.") || node.target() == "view" ||
         node.target().starts_with("torch.ops.prims.view_element_type");
}

/// Every dtype that a call names.
void widenCall(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) return;
  if (reinterpretsBits(node)) return;
  ArgumentList args = node.args();
  for (Argument& argument : args)
    if (isNarrowFloat(argument)) argument = Argument(DType::Float64);
  KeywordArguments kwargs = node.kwargs();
  for (auto& [name, value] : kwargs)
    if (isNarrowFloat(value)) value = Argument(DType::Float64);
  if (node.op() == Opcode::CallMethod && std::ranges::find(narrowMethods, node.target()) != narrowMethods.end())
    graph.setTarget(id, "double");
  graph.setArgs(id, std::move(args));
  graph.setKwargs(id, std::move(kwargs));
}

/// Factories of torch whose dtype is the default one where none is given.
constexpr std::array<std::string_view, 7> factories = {"torch.empty", "torch.zeros", "torch.ones",         "torch.full",
                                                       "torch.rand",  "torch.randn", "torch.empty_strided"};

/// torch.full((2,), 0) is of integers.
bool takesDtypeOfFill(const Node& node) {
  if (node.target() != "torch.full") return false;
  if (node.args().size() > 1) return node.args()[1].as<double>() == nullptr;
  return std::ranges::none_of(node.kwargs(), [](const auto& keyword) {
    return keyword.first == "fill_value" && keyword.second.template as<double>() != nullptr;
  });
}

bool isUntypedFactory(const Node& node) {
  const auto isDtype = [](const auto& keyword) { return keyword.first == "dtype"; };
  if (node.op() != Opcode::CallFunction || std::ranges::find(factories, node.target()) == factories.end()) return false;
  return std::ranges::none_of(node.kwargs(), isDtype) && !takesDtypeOfFill(node);
}

}  // namespace

std::unordered_set<NodeId> untypedOuts(const Graph& graph) {
  std::unordered_set<NodeId> untyped;
  for (const NodeId id : graph.order()) {
    if (graph.node(id).op() != Opcode::CallFunction) continue;
    for (const NodeId out : reshapedOperands(graph.node(id)))
      if (isUntypedFactory(graph.node(out))) untyped.insert(out);
  }
  return untyped;
}

Result<GraphModule> castToFp64(const GraphModule& module) { return castWith(module, nullptr); }

Result<GraphModule> castToFp64(const GraphModule& module, const std::vector<std::string>& attributes) {
  return castWith(module, &attributes);
}

GraphModule withFloat64Types(const GraphModule& module) {
  GraphModule wide = module;
  for (auto& [name, submodule] : wide.submodules.edit())
    if (submodule.graph) submodule.graph = std::make_shared<GraphModule>(withFloat64Types(*submodule.graph));
  castUntypedOuts(wide.graph);
  editNodes(wide.graph, widenCall);
  return wide;
}

}  // namespace kerf::inline accuracy
