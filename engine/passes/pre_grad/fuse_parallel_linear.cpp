#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>
#include <map>

#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/pre_grad/torch_call.h"
#include "engine/passes/pre_grad/torch_replacement.h"

namespace kerf::inline passes {

namespace {

constexpr std::string_view linear = "torch.nn.functional.linear";

/// Layers of one input.
struct Siblings {
  std::vector<NodeId> nodes;
  std::vector<TorchCall> calls;
};

using Key = std::pair<NodeId, bool>;  // input, whether there is a bias

/// A matrix of known size that does not wait for anything.
bool isGiven(const Graph& graph, const Argument& argument, const AliasGroups& aliases) {
  const NodeId* id = argument.as<NodeId>();
  if (!id || aliases.mutated(*id)) return false;
  const Opcode op = graph.node(*id).op();
  const TensorMeta* meta = tensorOf(graph, *id);
  return meta && fixedSizes(*meta) && (op == Opcode::Placeholder || op == Opcode::GetAttr);
}

bool sameDtype(const Graph& graph, const Siblings& siblings, const TorchCall& call) {
  return siblings.calls.empty() ||
         tensorOf(graph, *siblings.calls.front().node(1))->dtype == tensorOf(graph, *call.node(1))->dtype;
}

std::map<Key, Siblings> siblingsOf(const Graph& graph) {
  std::map<Key, Siblings> found;
  std::optional<AliasGroups> aliases;
  for (const NodeId id : graph.order()) {
    auto call = torchCall(graph.node(id), linear);
    const auto input = call ? call->node(0) : std::nullopt;
    if (!input) continue;
    if (!aliases) aliases.emplace(graph);
    const bool hasBias = !call->arguments[2].isNone();
    const bool isFit = isGiven(graph, call->arguments[1], *aliases) &&
                       (!hasBias || isGiven(graph, call->arguments[2], *aliases)) &&
                       !aliases->touchesMutation(graph.node(id)) && tensorOf(graph, id) &&
                       tensorOf(graph, *call->node(1))->sizes.size() == 2;
    Siblings& siblings = found[{*input, hasBias}];
    if (!isFit || !sameDtype(graph, siblings, *call)) continue;
    siblings.nodes.push_back(id);
    siblings.calls.push_back(*std::move(call));
  }
  return found;
}

Argument column(const Siblings& siblings, std::size_t parameter) {
  ArgumentList items;
  for (const TorchCall& call : siblings.calls) items.push_back(call.arguments[parameter]);
  return Argument::list(std::move(items));
}

std::vector<NodeId> written(TorchWriter& call, const Graph& graph, const Siblings& siblings, bool hasBias) {
  ArgumentList sizes;
  for (const TorchCall& layer : siblings.calls) sizes.emplace_back((*fixedSizes(*tensorOf(graph, *layer.node(1))))[0]);
  ArgumentList args{siblings.calls.front().arguments[0], call("torch.cat", {column(siblings, 1)})};
  if (hasBias) args.emplace_back(call("torch.cat", {column(siblings, 2)}));
  const NodeId all = call(linear, std::move(args));
  const NodeId pieces = call("torch.split", {all, Argument::list(std::move(sizes)), -1});
  std::vector<NodeId> results;
  for (std::size_t i = 0; i < siblings.nodes.size(); ++i) {
    const NodeId piece = call("operator.getitem", {pieces, std::int64_t(i)});
    results.push_back(call("torch.clone", {piece}, {{"memory_format", MemoryFormat::Contiguous}}));
  }
  return results;
}

/// All inputs of the replacement stand above the first layer; parameters that are read further down are moved there.
void raiseParameters(Graph& graph, const Siblings& siblings) {
  for (const TorchCall& call : siblings.calls)
    for (const Argument& argument : call.arguments)
      if (const NodeId* id = argument.as<NodeId>(); id && graph.node(*id).op() == Opcode::GetAttr)
        graph.moveBefore(*id, siblings.nodes.front());
}

Result<void> runFuseParallelLinear(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  const auto least = std::size_t(std::max<std::int64_t>(context.options.value<std::int64_t>("min_layers"), 2));
  TorchReplacement replacement(module);
  for (const auto& [key, siblings] : siblingsOf(module.graph)) {
    if (siblings.nodes.size() < least) continue;
    raiseParameters(module.graph, siblings);
    KERF_CHECK(replacement.replace(
        siblings.nodes, [&](TorchWriter& call) { return written(call, module.graph, siblings, key.second); }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass fuseParallelLinearPass() {
  return {.name = "fuse_parallel_linear_pass",
          .stage = PassStage::PreGrad,
          .description = "Computes linear layers of the same input together.",
          .options = {{"enabled", false, "Whether it runs."},
                      {"min_layers", std::int64_t{2}, "Fewest layers that are put together."}},
          .run = runFuseParallelLinear};
}

}  // namespace kerf::inline passes
