#include "engine/verification/lifted_attributes.h"

#include <algorithm>

#include "engine/ir/value_meta.h"

namespace kerf::inline verification {
namespace {

constexpr std::string_view liftedMark = "LiftedAttribute(target='";
constexpr std::string_view inputMarks[] = {"ParamAOTInput(target='", "BufferAOTInput(target='", liftedMark};

struct Attribute {
  std::string target, name;
  NodeMeta meta;
  std::vector<NodeId> nodes;
};

std::vector<Attribute> attributesOf(const GraphModule& module) {
  std::vector<Attribute> found;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const TensorAttribute* attribute = node.op() == Opcode::GetAttr ? module.attribute(node.target()) : nullptr;
    if (attribute == nullptr) continue;
    auto known = std::ranges::find(found, node.target(), &Attribute::target);
    if (known == found.end()) {
      NodeMeta meta = node.meta();
      if (!meta.value.known() && attribute->tensor.defined()) meta.value = {metaOf(attribute->tensor)};
      meta.description = std::string(liftedMark) + node.target() + "')";
      known = found.insert(found.end(), {node.target(), node.name(), std::move(meta), {}});
    }
    known->nodes.push_back(id);
  }
  return found;
}

}  // namespace

void liftAttributes(CapturedGraph& captured) {
  GraphModule& module = captured.module;
  Graph& graph = module.graph;
  if (!captured.inputs.empty() || graph.order().empty()) return;
  for (const Attribute& attribute : attributesOf(module)) {
    const auto order = graph.order();
    const auto first = std::ranges::find_if(order, [&](NodeId id) {
      const Node& node = graph.node(id);
      return node.op() != Opcode::Placeholder || attributeIn(node.meta().description).empty();
    });
    if (first == order.end()) return;
    graph.insertBefore(*first);
    const NodeId made =
        graph.createNamed(Opcode::Placeholder, attribute.name + "_lifted", {}, {}, attribute.name + "_lifted");
    graph.insertAtEnd();
    graph.setMeta(made, attribute.meta);
    for (const NodeId id : attribute.nodes) {
      graph.replaceAllUsesWith(id, made);
      (void)graph.eraseNode(id);
    }
  }
}

std::vector<std::string> liftedAttributes(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.placeholders())
    if (const std::string& text = graph.node(id).meta().description; text.starts_with(liftedMark))
      names.push_back(attributeIn(text));
  return names;
}

std::string attributeIn(std::string_view description) {
  for (const std::string_view mark : inputMarks)
    if (const std::size_t at = description.find(mark); at != description.npos) {
      const std::string_view rest = description.substr(at + mark.size());
      return std::string(rest.substr(0, rest.find('\'')));
    }
  return {};
}

}  // namespace kerf::inline verification
