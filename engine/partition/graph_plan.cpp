#include "engine/partition/graph_plan.h"

#include <algorithm>

#include "engine/ir/graph_copy.h"
#include "engine/ir/submodules.h"
#include "engine/partition/joint_cleanup.h"

namespace kerf::inline partition {

namespace {

std::vector<bool> reached(const JointGraph& joint, const std::vector<int>& inputs, GraphSide side) {
  std::vector<bool> valid(joint.nodes.size());
  for (const int input : inputs) valid[std::size_t(input)] = true;
  for (std::size_t i = 0; i < joint.nodes.size(); ++i) {
    const JointNode& node = joint.nodes[i];
    const bool excluded = side == GraphSide::Forward ? node.tags.inBackward : node.tags.inForward;
    if (valid[i] || excluded || joint.node(int(i)).op() == Opcode::Placeholder) continue;
    valid[i] = std::ranges::all_of(node.inputs, [&](int input) { return valid[std::size_t(input)]; });
  }
  return valid;
}

std::vector<int> placesByNode(const JointGraph& joint) {
  std::uint32_t last = 0;
  for (const JointNode& node : joint.nodes) last = std::max(last, node.id.index);
  std::vector<int> places(last + 1, -1);
  for (std::size_t i = 0; i < joint.nodes.size(); ++i) places[joint.nodes[i].id.index] = int(i);
  return places;
}

}  // namespace

Result<GraphPlan> planGraph(const JointGraph& joint, std::vector<int> inputs, std::vector<Argument> outputs,
                            GraphSide side) {
  const std::vector<bool> valid = reached(joint, inputs, side);
  const std::vector<int> places = placesByNode(joint);
  std::vector<bool> isInput(joint.nodes.size()), needed(joint.nodes.size());
  for (const int input : inputs) isInput[std::size_t(input)] = true;
  for (std::size_t i = 0; i < joint.nodes.size(); ++i)
    needed[i] = valid[i] && !isInput[i] && hasEffects(joint.node(int(i)));
  for (const Argument& output : outputs) {
    const NodeId* id = output.as<NodeId>();
    if (id == nullptr) continue;
    const auto place = std::size_t(places[id->index]);
    if (!valid[place])
      return fail(ErrorCode::Internal, "the {} graph returns {}, which its inputs do not reach",
                  side == GraphSide::Forward ? "forward" : "backward", joint.name(int(place)));
    needed[place] = true;
  }
  GraphPlan plan{.side = side, .inputs = std::move(inputs), .calls = {}, .outputs = std::move(outputs)};
  for (std::size_t i = joint.nodes.size(); i-- > 0;) {
    if (!needed[i] || isInput[i]) continue;
    plan.calls.push_back(int(i));
    for (const int input : joint.nodes[i].inputs) needed[std::size_t(input)] = true;
  }
  std::ranges::reverse(plan.calls);
  return plan;
}

std::vector<bool> usedPlaces(const JointGraph& joint, const GraphPlan& plan) {
  const std::vector<int> places = placesByNode(joint);
  std::vector<bool> used(joint.nodes.size());
  for (const int call : plan.calls)
    for (const int input : joint.nodes[std::size_t(call)].inputs) used[std::size_t(input)] = true;
  for (const Argument& output : plan.outputs)
    if (const NodeId* id = output.as<NodeId>()) used[std::size_t(places[id->index])] = true;
  return used;
}

void orderLikeAutograd(const JointGraph& joint, GraphPlan& plan) {
  std::vector<bool> placed(joint.nodes.size()), isTangent(joint.nodes.size());
  for (const int input : plan.inputs) {
    const Node& node = joint.node(input);
    placed[std::size_t(input)] = true;
    isTangent[std::size_t(input)] = node.op() == Opcode::Placeholder && jointInputOf(node) == JointInput::Tangent;
  }
  const auto first = std::ranges::find_if(plan.calls, [&](int call) {
    return std::ranges::any_of(joint.nodes[std::size_t(call)].inputs,
                               [&](int input) { return isTangent[std::size_t(input)]; });
  });
  std::vector<int> ordered, waiting, bundle;
  const auto place = [&](int call) {  // with all it needs, in their old order
    waiting = {call};
    bundle.clear();
    while (!waiting.empty()) {
      const int current = waiting.back();
      waiting.pop_back();
      if (placed[std::size_t(current)]) continue;
      placed[std::size_t(current)] = true;
      bundle.push_back(current);
      const auto& inputs = joint.nodes[std::size_t(current)].inputs;
      waiting.insert(waiting.end(), inputs.begin(), inputs.end());
    }
    std::ranges::sort(bundle);
    ordered.insert(ordered.end(), bundle.begin(), bundle.end());
  };
  if (first == plan.calls.end()) return;
  const auto writes = [&](int call) { return writesMemory(joint.node(call)); };
  for (auto call = first; call != plan.calls.end(); ++call)
    if (!writes(*call)) place(*call);
  for (const int call : plan.calls)
    if (!writes(call)) place(call);               // returned without a tangent
  for (const int call : plan.calls) place(call);  // nothing reads an input that was written before
  plan.calls = std::move(ordered);
}

void raiseGetitems(const JointGraph& joint, GraphPlan& plan) {
  std::vector<bool> done(joint.nodes.size());
  std::vector<std::vector<int>> items(joint.nodes.size());
  for (const int call : plan.calls) {
    const JointNode& node = joint.nodes[std::size_t(call)];
    if (has(node.classes, OpClass::Getitem) && node.inputs.size() == 1)
      items[std::size_t(node.inputs[0])].push_back(call);
  }
  std::vector<int> raised;
  raised.reserve(plan.calls.size());
  const auto put = [&](const auto& self, int call) -> void {
    if (done[std::size_t(call)]) return;
    done[std::size_t(call)] = true;
    raised.push_back(call);
    for (const int item : items[std::size_t(call)]) self(self, item);
  };
  for (const int call : plan.calls) put(put, call);
  plan.calls = std::move(raised);
}

std::string nameOfCopy(const JointGraph& joint, int input) { return joint.name(input) + "_saved"; }

Result<GraphModule> buildGraph(const JointGraph& joint, const GraphPlan& plan) {
  GraphModule built;
  const std::vector<int> places = placesByNode(joint);
  std::vector<NodeId> made(joint.nodes.size()), inputs(joint.nodes.size());  // without copies
  const auto map = [&](NodeId id) { return Argument(made[std::size_t(places[id.index])]); };
  const auto mapInput = [&](NodeId id) {
    const auto place = std::size_t(places[id.index]);
    return Argument(inputs[place].valid() ? inputs[place] : made[place]);
  };
  for (const int input : plan.inputs) {
    const Node& node = joint.node(input);
    const bool isCopied = std::ranges::find(plan.copied, input) != plan.copied.end();
    const std::string name = isCopied && plan.side == GraphSide::Backward ? nameOfCopy(joint, input) : node.name();
    const NodeId id = built.graph.createNamed(Opcode::Placeholder, name, {}, {}, name);
    built.graph.setMeta(id, node.meta());
    made[std::size_t(input)] = inputs[std::size_t(input)] = id;
  }
  if (plan.side == GraphSide::Forward)
    for (const int input : plan.copied) {
      NodeId& own = made[std::size_t(input)];
      const NodeMeta meta = built.graph.node(own).meta();
      own = built.graph.createNamed(Opcode::CallFunction, "torch.ops.aten.clone.default", {Argument(own)}, {},
                                    nameOfCopy(joint, input));
      built.graph.setMeta(own, meta);
    }
  for (const int call : plan.calls) {
    const Node& node = joint.node(call);
    made[std::size_t(call)] = writesMemory(node) ? copyNode(built.graph, node, mapInput, CopyName::Same)
                                                 : copyNode(built.graph, node, map, CopyName::Same);
    if (node.op() != Opcode::GetAttr) continue;
    const TensorAttribute* attribute = joint.module.attribute(node.target());
    if (attribute != nullptr && !built.attribute(node.target())) built.attributes.add(node.target(), *attribute);
    const Submodule* submodule = joint.module.submodule(node.target());
    if (submodule != nullptr) KERF_CHECK(addSubmodule(built, node.target(), *submodule));
  }
  ArgumentList outputs;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i)
    outputs.push_back(i < joint.forwardOutputs.size() && plan.side == GraphSide::Forward
                          ? mapNodes(plan.outputs[i], mapInput)
                          : mapNodes(plan.outputs[i], map));
  built.graph.output(Argument::tuple(std::move(outputs)));
  built.symbolRanges = joint.module.symbolRanges;
  KERF_CHECK(built.graph.lint());
  return built;
}

}  // namespace kerf::inline partition
