#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/ir/call_values.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// Sources of the views that a cat along dimension 0 puts together, if rows are as long in all of them.
std::optional<std::vector<NodeId>> viewedSources(const Graph& graph, const Node& cat) {
  if (!cat.isCall("aten.cat.default"_op)) return std::nullopt;
  const auto parts = nodesNamed(cat, "tensors");
  if (integerNamed(cat, "dim") != 0 || !parts || parts->size() < 2) return std::nullopt;
  std::vector<NodeId> sources;
  std::optional<std::vector<Dim>> row;
  for (const NodeId part : *parts) {
    const Node& view = graph.node(part);
    const auto source =
        view.isCall("aten.view.default"_op) && view.users().size() == 1 ? nodeNamed(view, "self") : std::nullopt;
    const TensorMeta* meta = source ? tensorOf(graph, *source) : nullptr;
    const TensorMeta* viewed = view.meta().value.tensor();
    if (!meta || !viewed || meta->sizes.size() < 2 || viewed->sizes.empty() || meta->sizes[0] != viewed->sizes[0] ||
        !isFixedRowMajor(*meta))
      return std::nullopt;
    const std::vector<Dim> own(meta->sizes.begin() + 1, meta->sizes.end());
    if (row && *row != own) return std::nullopt;
    row = own;
    sources.push_back(*source);
  }
  return sources;
}

Result<void> moveBelowCats(GraphModule& module, CallReplacement& replacement, const AliasGroups& aliases) {
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const Node& node = module.graph.node(id);
    const auto sources = viewedSources(module.graph, node);
    const auto sizes = sources ? fixedSizes(*node.meta().value.tensor()) : std::nullopt;
    if (!sizes || aliases.touchesMutation(node)) continue;
    KERF_CHECK(replacement.replace(
        id, *sources,
        [&](CallWriter& call, std::span<const Value> inputs) {
          const Value whole = call("aten.cat.default"_op, {ValueList(inputs.begin(), inputs.end()), std::int64_t{0}});
          const Value viewed = call("aten.view.default"_op, {whole, ValueList(sizes->begin(), sizes->end())});
          return viewed;
        },
        *nodesNamed(node, "tensors")));
  }
  return {};
}

/// Pointwise calls between two views, the last first, and what the first view looks at.
struct ViewedCalls {
  NodeId source;
  std::vector<NodeId> calls;
};

/// Reads one tensor, which is read by nobody else, and has its sizes.
bool isLonePointwise(const Graph& graph, const Node& node) {
  const OpInfo* op = opOf(node);
  if (!op || !has(op->traits, OpTrait::Pointwise) || !isPureCall(node) || node.users().size() != 1) return false;
  if (node.inputs().size() != 1) return false;
  const TensorMeta *own = node.meta().value.tensor(), *operand = tensorOf(graph, node.inputs()[0]);
  return own && operand && own->sizes == operand->sizes;
}

std::optional<ViewedCalls> callsBelowView(const Graph& graph, const Node& view) {
  if (!view.isCall("aten.view.default"_op)) return std::nullopt;
  ViewedCalls found;
  auto above = nodeNamed(view, "self");
  while (above && isLonePointwise(graph, graph.node(*above))) {
    found.calls.push_back(*above);
    above = graph.node(*above).inputs()[0];
  }
  if (!above || found.calls.empty() || !graph.node(*above).isCall("aten.view.default"_op)) return std::nullopt;
  const auto source = nodeNamed(graph.node(*above), "self");
  if (!source) return std::nullopt;
  found.source = *source;
  return found;
}

/// The same call on another tensor; None where an argument is no value.
Value onOther(CallWriter& write, const Node& call, const Value& operand) {
  const auto values = callValues(call, [&](NodeId) -> const Value& { return operand; });
  return values ? write(OpTarget(call.opId(), call.target()), values->args, values->kwargs) : Value();
}

Result<void> moveAboveCalls(GraphModule& module, CallReplacement& replacement, const AliasGroups& aliases) {
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    if (!module.graph.contains(id)) continue;
    const Node& node = module.graph.node(id);
    const auto found = callsBelowView(module.graph, node);
    const auto sizes = found && node.meta().value.tensor() ? fixedSizes(*node.meta().value.tensor()) : std::nullopt;
    if (!sizes || aliases.touchesMutation(node) || aliases.mutated(found->source)) continue;
    std::vector<Node> calls;
    for (const NodeId call : found->calls) calls.insert(calls.begin(), module.graph.node(call));
    KERF_CHECK(replacement.replace(
        id, {found->source},
        [&](CallWriter& write, std::span<const Value> inputs) {
          Value value = write("aten.view.default"_op, {inputs[0], ValueList(sizes->begin(), sizes->end())});
          for (const Node& call : calls) value = onOther(write, call, value);
          return value;
        },
        found->calls));
  }
  return {};
}

Result<void> runMoveViewAfterCat(GraphModule& module, const PassContext& context) {
  const bool below = context.options.value<bool>("enabled"), above = context.options.value<bool>("above");
  if (!below && !above) return {};
  CallReplacement replacement(module);
  const AliasGroups aliases(module.graph);
  if (below) KERF_CHECK(moveBelowCats(module, replacement, aliases));
  if (above) KERF_CHECK(moveAboveCalls(module, replacement, aliases));
  replacement.finish();
  return {};
}

}  // namespace

Pass moveViewAfterCatPass() {
  return {.name = "move_view_after_cat_aten_pass",
          .stage = PassStage::PostGrad,
          .description =
              "Views what was put together once, not each part before; of two views around pointwise calls, "
              "leaves the upper one.",
          .options = {{"enabled", false, "Whether views move below cat."},
                      {"above", false, "Whether views move above pointwise calls, where another view is."}},
          .run = runMoveViewAfterCat};
}

}  // namespace kerf::inline passes
