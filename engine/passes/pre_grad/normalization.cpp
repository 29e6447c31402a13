#include "engine/passes/pre_grad/pre_grad_passes.h"

#include "engine/passes/pre_grad/torch_call.h"

namespace kerf::inline passes {

namespace {

/// A method becomes a function: another node of the same name and metadata.
Result<void> replaceMethod(Graph& graph, NodeId method, const std::string& target, ArgumentList args,
                           KeywordArguments kwargs) {
  const std::string name = graph.node(method).name();
  NodeId function;
  {
    const InsertionScope scope(graph, InsertionScope::Where::Before, method);
    function = graph.callFunction(target, std::move(args), std::move(kwargs), name);
  }
  graph.setMeta(function, graph.node(method).meta());
  graph.replaceAllUsesWith(method, function);
  KERF_CHECK(graph.eraseNode(method));
  graph.rename(function, name);
  return {};
}

Result<void> runNormalization(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    const auto call = torchCall(node);
    if (!call) continue;
    auto [args, kwargs] = shortest(*call);
    const std::string target(call->function->name);
    if (node.op() == Opcode::CallMethod) {
      KERF_CHECK(replaceMethod(graph, id, target, std::move(args), std::move(kwargs)));
      continue;
    }
    if (node.target() != target) graph.setTarget(id, target);
    if (graph.node(id).args() != args) graph.setArgs(id, std::move(args));
    if (graph.node(id).kwargs() != kwargs) graph.setKwargs(id, std::move(kwargs));
  }
  return {};
}

}  // namespace

Pass normalizationPass() {
  return {.name = "normalization_pass",
          .stage = PassStage::PreGrad,
          .description = "Writes every call of a torch function in one way.",
          .run = runNormalization};
}

}  // namespace kerf::inline passes
