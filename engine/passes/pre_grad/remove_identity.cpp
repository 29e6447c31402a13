#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>

#include "engine/ir/submodules.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"
#include "engine/passes/pre_grad/torch_call.h"

namespace kerf::inline passes {

namespace {

std::optional<NodeId> firstOperand(const Node& node) {
  const NodeId* id = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  return id ? std::optional(*id) : std::nullopt;
}

std::optional<NodeId> idleDropout(const Node& node) {
  const auto call = torchCall(node, "torch.nn.functional.dropout");
  if (!call) return std::nullopt;
  const bool known = call->arguments[2].as<bool>() != nullptr;
  const bool isIdle = (known && !call->flag(2)) || numberOf(call->arguments[1]) == 0.0;
  return isIdle ? call->node(0) : std::nullopt;
}

bool isIdentityModule(const GraphModule& module, const Node& node) {
  if (node.op() != Opcode::CallModule) return false;
  const Submodule* submodule = module.submodule(node.target());
  return submodule && !submodule->graph && submodule->repr.starts_with("Identity(");
}

/// Methods that give their tensor where its meta stays as it is; Forwarding compares both.
constexpr std::string_view conversions[] = {"to",       "float", "double",  "half",
                                            "bfloat16", "long",  "type_as", "expand_as"};

bool asksForCopy(const Node& node) {
  return std::ranges::any_of(node.kwargs(), [](const auto& entry) {
    const bool* flag = entry.second.template as<bool>();
    return entry.first == "copy" && !(flag && !*flag);
  });
}

/// x.to(device, dtype, non_blocking, copy): a flag by position may be the copy.
bool hasFlag(const Node& node) {
  return std::ranges::any_of(node.args(), [](const Argument& argument) { return argument.as<bool>() != nullptr; });
}

std::optional<NodeId> idleMethod(const Graph& graph, const Node& node) {
  if (node.op() != Opcode::CallMethod) return std::nullopt;
  const auto source = firstOperand(node);
  if (!source) return std::nullopt;
  if (std::ranges::find(conversions, std::string_view(node.target())) != std::end(conversions))
    return asksForCopy(node) || hasFlag(node) ? std::nullopt : source;
  const TensorMeta* meta = tensorOf(graph, *source);
  const bool isPlain = node.target() == "contiguous" && node.args().size() == 1 && node.kwargs().empty();
  return isPlain && meta && isFixedRowMajor(*meta) ? source : std::nullopt;
}

/// Modules go first: what they give is the very tensor that they were given, and nothing else is known of modules.
Result<void> skipIdentityModules(GraphModule& module) {
  Graph& graph = module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  bool skipped = false;
  for (const NodeId id : order) {
    const auto input = isIdentityModule(module, graph.node(id)) ? firstOperand(graph.node(id)) : std::nullopt;
    if (!input || isReturned(graph, id)) continue;
    graph.replaceAllUsesWith(id, *input);
    KERF_CHECK(graph.eraseNode(id));
    skipped = true;
  }
  if (skipped) deleteAllUnusedSubmodules(module);
  return {};
}

std::optional<NodeId> source(const Graph& graph, const Node& node) {
  const auto input = idleDropout(node);
  return input ? input : idleMethod(graph, node);
}

Result<void> runRemoveIdentity(GraphModule& module, const PassContext&) {
  KERF_CHECK(skipIdentityModules(module));
  Graph& graph = module.graph;
  std::optional<Forwarding> forwarding;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    if (node.target() == "torch._C._log_api_usage_once" && node.users().empty()) {
      KERF_CHECK(graph.eraseNode(id));
      continue;
    }
    const auto input = source(graph, node);
    if (!input) continue;
    if (!forwarding) forwarding.emplace(graph);
    if (!forwarding->allows(node, *input)) continue;
    forwarding->forward(graph, id, *input);
    KERF_CHECK(graph.eraseNode(id));
  }
  return {};
}

}  // namespace

Pass removeIdentityPass() {
  return {.name = "remove_identity",
          .stage = PassStage::PreGrad,
          .description = "Skips layers and calls that give their input: idle dropout, Identity, conversions to itself.",
          .run = runRemoveIdentity};
}

}  // namespace kerf::inline passes
