#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

bool isMark(const Node& node) {
  return node.op() == Opcode::CallFunction && node.target().starts_with("torch.ops.profiler._record_function");
}

bool saysSizes(const Node& node, std::string_view name, const std::optional<Sizes>& known) {
  const Argument* argument = argumentNamed(node, name);
  if (!argument || argument->isNone()) return true;
  const auto wanted = integersNamed(node, name);
  return wanted && known && *wanted == *known;
}

template <class T>
bool says(const Node& node, std::string_view name, const T& known) {
  const Argument* argument = argumentNamed(node, name);
  if (!argument || argument->isNone()) return true;
  const T* wanted = argument->as<T>();
  return wanted && *wanted == known;
}

/// Whether the assertion holds whatever the inputs are.
bool isKnownToHold(const Graph& graph, const Node& node) {
  if (!node.isCall("aten._assert_tensor_metadata.default"_op)) return false;
  const auto subject = nodeNamed(node, "a");
  const TensorMeta* meta = subject ? tensorOf(graph, *subject) : nullptr;
  if (!meta) return false;
  const auto sizes = fixedSizes(*meta);
  return saysSizes(node, "size", sizes) && saysSizes(node, "stride", sizes ? meta->concreteStrides() : sizes) &&
         says(node, "dtype", meta->dtype) && says(node, "device", meta->device) &&
         says(node, "layout", Layout::Strided);
}

Result<void> runRemoveAssertOps(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (auto id = order.rbegin(); id != order.rend(); ++id) {  // an exit reads its enter
    const Node& node = graph.node(*id);
    if (!node.users().empty() || (!isMark(node) && !isKnownToHold(graph, node))) continue;
    KERF_CHECK(graph.eraseNode(*id));
  }
  return {};
}

}  // namespace

Pass removeAssertOpsPass() {
  return {.name = "remove_assert_ops",
          .stage = PassStage::PostGrad,
          .description = "Drops assertions that are known to hold, and profiler marks.",
          .run = runRemoveAssertOps};
}

}  // namespace kerf::inline passes
