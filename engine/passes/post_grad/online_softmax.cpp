#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct SoftmaxParts {
  NodeId source, maximum, difference, exponential, sum;
  std::int64_t dim = 0;
};

/// The one dimension of a reduction that keeps it.
std::optional<std::int64_t> keptDim(const Node& node) {
  const auto dims = integersNamed(node, "dim");
  const Argument* keeps = argumentNamed(node, "keepdim");
  const bool* flag = keeps ? keeps->as<bool>() : nullptr;
  const TensorMeta* meta = node.meta().value.tensor();
  if (!dims || dims->size() != 1 || !flag || !*flag || !meta) return std::nullopt;
  return wrappedDim(dims->front(), meta->sizes.size());
}

std::optional<SoftmaxParts> softmaxParts(const Graph& graph, NodeId id, const std::string& devices) {
  const Node& sum = graph.node(id);
  if (!sum.isCall("aten.sum.dim_IntList"_op)) return std::nullopt;
  const auto exponential = nodeNamed(sum, "self");
  const TensorMeta* meta = sum.meta().value.tensor();
  if (!exponential || !meta || !isListed(meta->device.type, devices)) return std::nullopt;
  const Node& exp = graph.node(*exponential);
  const auto difference = exp.isCall("aten.exp.default"_op) ? nodeNamed(exp, "self") : std::nullopt;
  if (!difference || !graph.node(*difference).isCall("aten.sub.Tensor"_op)) return std::nullopt;
  const Node& sub = graph.node(*difference);
  const auto source = nodeNamed(sub, "self"), maximum = nodeNamed(sub, "other");
  if (!source || !maximum || !sub.kwargs().empty() || !graph.node(*maximum).isCall("aten.amax.default"_op))
    return std::nullopt;
  const Node& amax = graph.node(*maximum);
  const auto dim = keptDim(sum);
  const Argument* dtype = argumentNamed(sum, "dtype");
  if (!dim || keptDim(amax) != dim || nodeNamed(amax, "self") != *source || (dtype && !dtype->isNone()))
    return std::nullopt;
  return SoftmaxParts{*source, *maximum, *difference, *exponential, id, *dim};
}

Result<void> runOnlineSoftmax(GraphModule& module, const PassContext& context) {
  const auto devices = context.options.value<std::string>("devices");
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    if (!module.graph.contains(id)) continue;
    const auto parts = softmaxParts(module.graph, id, devices);
    if (!parts) continue;
    if (!aliases) aliases.emplace(module.graph);
    const auto isTouched = [&](NodeId part) { return aliases->touchesMutation(module.graph.node(part)); };
    if (std::ranges::any_of(std::array{parts->maximum, parts->difference, parts->exponential, parts->sum}, isTouched))
      continue;
    KERF_CHECK(replacement.replaceAll({parts->maximum, parts->sum}, {parts->source},
                                      [&](CallWriter& call, std::span<const Value> inputs) {
                                        return call("prims.prepare_softmax_online.default"_op, {inputs[0], parts->dim});
                                      }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass onlineSoftmaxPass() {
  return {.name = "online_softmax",
          .stage = PassStage::PostGrad,
          .description = "Finds maximum and sum of a softmax in one pass over its row.",
          .options = {{"devices", std::string("cuda"), "Device types on which it runs, or all."}},
          .run = runOnlineSoftmax};
}

}  // namespace kerf::inline passes
