#include "engine/passes/joint/softmax_rescaling.h"

#include <cmath>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct ScaledMaximum {
  NodeId node;               ///< the subtraction
  NodeId scaled, maximum;    ///< what it subtracts, and from what
  NodeId source;             ///< before scaling
  double factor = 1;
  bool divides = false;
  std::optional<DType> converted;  ///< after scaling
  Sizes dims;
};

/// mul or div by a Python number, maybe converted.
bool readScaling(const Graph& graph, NodeId id, ScaledMaximum& found) {
  const Node* node = &graph.node(id);
  if (node->isCall("prims.convert_element_type.default"_op)) {
    const DType* dtype = node->args().size() > 1 ? node->args()[1].as<DType>() : nullptr;
    const auto below = nodeNamed(*node, "a");
    if (!dtype || !below) return false;
    found.converted = *dtype;
    node = &graph.node(*below);
  }
  found.divides = node->isCall("aten.div.Tensor"_op);
  if ((!found.divides && !node->isCall("aten.mul.Tensor"_op)) || node->args().size() != 2) return false;
  const std::size_t at = !found.divides && numberOf(node->args()[0]) ? 0 : 1;
  const auto factor = numberOf(node->args()[at]);
  const NodeId* source = node->args()[1 - at].as<NodeId>();
  if (!factor || !std::isfinite(*factor) || *factor == 0 || !source) return false;
  found.factor = *factor;
  found.source = *source;
  const TensorMeta* meta = tensorOf(graph, *source);
  return meta && isFloating(meta->dtype);
}

std::optional<ScaledMaximum> scaledMaximum(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.isCall("aten.sub.Tensor"_op) || node.args().size() != 2 || !node.kwargs().empty()) return std::nullopt;
  const NodeId* scaled = node.args()[0].as<NodeId>();
  const NodeId* maximum = node.args()[1].as<NodeId>();
  if (!scaled || !maximum || !graph.node(*maximum).isCall("aten.amax.default"_op)) return std::nullopt;
  const Node& amax = graph.node(*maximum);
  const Argument* keeps = argumentNamed(amax, "keepdim");
  const auto dims = integersNamed(amax, "dim");
  if (nodeNamed(amax, "self") != *scaled || !keeps || keeps->as<bool>() == nullptr || !*keeps->as<bool>() || !dims)
    return std::nullopt;
  ScaledMaximum found{.node = id, .scaled = *scaled, .maximum = *maximum, .source = {}, .converted = {}, .dims = *dims};
  return readScaling(graph, *scaled, found) ? std::optional(found) : std::nullopt;
}

Value written(CallWriter& call, const ScaledMaximum& found, Value source) {
  if (found.converted) source = call("prims.convert_element_type.default"_op, {source, *found.converted});
  if (found.factor < 0) source = call("aten.neg.default"_op, {source});
  const ValueList dims(found.dims.begin(), found.dims.end());
  const Value maximum = call("aten.amax.default"_op, {source, dims, true});
  const Value below = call("aten.sub.Tensor"_op, {source, maximum});
  return call(found.divides ? "aten.div.Tensor"_op : "aten.mul.Tensor"_op, {below, std::abs(found.factor)});
}

Result<void> run(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  CallReplacement replacement(module);
  const AliasGroups aliases(module.graph);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const auto found = scaledMaximum(module.graph, id);
    if (!found || aliases.touchesMutation(module.graph.node(found->node)) || aliases.mutated(found->source)) continue;
    KERF_CHECK(replacement.replace(
        id, {found->source},
        [&](CallWriter& call, std::span<const Value> inputs) { return written(call, *found, inputs[0]); },
        {found->scaled, found->maximum}));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass softmaxRescalingPass() {
  return {.name = "softmax_rescaling",
          .stage = PassStage::Joint,
          .description = "Scales scores after their maximum was subtracted.",
          .options = {{"enabled", false, "Whether it runs; values change in the last digits."}},
          .run = run};
}

}  // namespace kerf::inline passes
