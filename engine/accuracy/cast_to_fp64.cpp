#include "engine/accuracy/same_two_models.h"

namespace kerf::inline accuracy {
namespace {

bool isNarrowFloat(const Argument& argument) {
  const DType* dtype = argument.as<DType>();
  return dtype != nullptr && isFloating(*dtype) && *dtype != DType::Float64;
}

/// Ops of exported programs, which PyTorch's minifier never sees: there a float32 left behind would stop the run.
bool isExportConversion(const Node& node) {
  return node.target().starts_with("torch.ops.aten.to.") || node.isCall("aten._assert_tensor_metadata.default"_op);
}

/// The two rewrites of PyTorch's cast_dtype_args_to_fp64, and one for exported programs; other positional dtypes stay
/// (PyTorch's known blind spot).
void castDtypeArguments(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op() != Opcode::CallFunction) return;
  if (node.isCall("prims.convert_element_type.default"_op) && node.args().size() == 2 && isNarrowFloat(node.args()[1]))
    graph.setArgs(id, {node.args()[0], Argument(DType::Float64)});
  if (isExportConversion(node)) {
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

Result<void> castAttributes(GraphModule& module) {
  for (auto& [name, attribute] : module.attributes.edit()) {
    if (!attribute.tensor.defined() || !isFloating(attribute.tensor.dtype())) continue;
    KERF_TRY(attribute.tensor, attribute.tensor.to(DType::Float64));
  }
  for (auto& [name, submodule] : module.submodules.edit()) {
    if (!submodule.graph) continue;
    auto cast = std::make_shared<GraphModule>(*submodule.graph);  // attributes only, as Module.to(torch.float64) does
    KERF_CHECK(castAttributes(*cast));
    submodule.graph = std::move(cast);
  }
  return {};
}

}  // namespace

Result<GraphModule> castToFp64(const GraphModule& module) {
  GraphModule cast = module;
  KERF_CHECK(castAttributes(cast));
  const std::vector<NodeId> order(cast.graph.order().begin(), cast.graph.order().end());
  for (const NodeId id : order) {
    castDtypeArguments(cast.graph, id);
    castMeta(cast.graph, id);
  }
  return cast;
}

}  // namespace kerf::inline accuracy
