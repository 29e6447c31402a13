#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>
#include <set>

#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

constexpr std::string_view takesBoth[] = {
    "torch.ops.aten.index.Tensor", "torch.ops.aten.index_put.default", "torch.ops.aten.index_put_.default",
    "torch.ops.aten.copy.default", "torch.ops.aten.copy_.default",     "torch.ops.aten.slice_scatter.default",
};

const Device* deviceOf(const Node& node) {
  const TensorMeta* meta = node.meta().value.tensor();
  return meta ? &meta->device : nullptr;
}
bool isOnCpu(const Node& node) { return deviceOf(node) && deviceOf(node)->type == "cpu"; }

const Device* deviceKeyword(const Node& node) {
  const auto found = std::ranges::find(node.kwargs(), "device", &KeywordArguments::value_type::first);
  return found == node.kwargs().end() ? nullptr : found->second.as<Device>();
}

/// The one device beside the CPU; none: there is no other, or several.
std::optional<Device> otherDevice(const Graph& graph) {
  std::optional<Device> other;
  for (const NodeId id : graph.order()) {
    const Device* device = deviceOf(graph.node(id));
    if (!device || device->type == "cpu") continue;
    if (other && !(*other == *device)) return std::nullopt;
    other = *device;
  }
  return other;
}

/// Pure ATen calls on the CPU that only read others of them.
class Movable {
 public:
  explicit Movable(const Graph& graph) : m_graph(graph) {
    for (const NodeId id : graph.order())
      if (mayMove(graph.node(id))) m_nodes.insert(id);
    while (std::erase_if(m_nodes, [&](NodeId id) { return !isFree(graph.node(id)); }) > 0) continue;
  }
  const std::set<NodeId>& nodes() const { return m_nodes; }

 private:
  bool mayMove(const Node& node) const {
    if (!isOnCpu(node) || !isPureCall(node)) return false;
    if (!node.target().starts_with("torch.ops.aten.") && !node.target().starts_with("torch.ops.prims.")) return false;
    const bool makes = node.inputs().empty();
    return makes == (deviceKeyword(node) != nullptr);
  }

  bool isFree(const Node& node) const {
    const auto isHere = [&](NodeId input) { return m_nodes.contains(input); };
    const auto goesAlong = [&](NodeId id) {
      const Node& user = m_graph.node(id);
      if (m_nodes.contains(id)) return true;
      return deviceOf(user) && !isOnCpu(user) && std::ranges::find(takesBoth, user.target()) != std::end(takesBoth);
    };
    return std::ranges::all_of(node.inputs(), isHere) && std::ranges::all_of(node.users(), goesAlong);
  }

  const Graph& m_graph;
  std::set<NodeId> m_nodes;
};

void move(Graph& graph, NodeId id, const Device& device) {
  if (deviceKeyword(graph.node(id))) {
    KeywordArguments kwargs = graph.node(id).kwargs();
    for (auto& [name, value] : kwargs)
      if (name == "device") value = device;
    graph.setKwargs(id, std::move(kwargs));
  }
  ValueMeta meta = graph.node(id).meta().value;
  std::get<TensorMeta>(meta.value).device = device;
  graph.setValueMeta(id, std::move(meta));
}

Result<void> runMoveConstructorsToGpu(GraphModule& module, const PassContext&) {
  const auto device = otherDevice(module.graph);
  if (!device) return {};
  const Movable movable(module.graph);
  for (const NodeId id : movable.nodes()) move(module.graph, id, *device);
  return {};
}

}  // namespace

Pass moveConstructorsToGpuPass() {
  return {.name = "move_constructors_to_gpu",
          .stage = PassStage::PostGrad,
          .description = "Makes index tensors on the device where they are used.",
          .run = runMoveConstructorsToGpu};
}

}  // namespace kerf::inline passes
