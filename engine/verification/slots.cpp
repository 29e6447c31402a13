#include "engine/verification/slots.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/verification/lifted_attributes.h"

namespace kerf::inline verification {
namespace {

/// 3 of "…(idx=3)…"; none where the text has no index.
std::optional<std::int64_t> indexIn(std::string_view text) {
  constexpr std::string_view key = "idx=";
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t index = 0;
  const auto parsed = std::from_chars(text.data() + at + key.size(), text.data() + text.size(), index);
  return parsed.ec == std::errc() ? std::optional(index) : std::nullopt;
}

struct DescribedSlot {
  std::string_view description;  ///< how it begins
  std::string_view slot;         ///< "" for what is named after its node
};
constexpr DescribedSlot describedOutputs[] = {{"PlainAOTOutput(", "out:"},
                                              {"GradAOTOutput(", "grad:"},
                                              {"InputMutationAOTOutput(", "mutates:"},
                                              {"SavedForBackwardsAOTOutput(", ""}};

std::string nodeName(const Graph& graph, const Argument& item) {
  const NodeId* id = item.as<NodeId>();
  return id != nullptr ? graph.node(*id).name() : std::string();
}

Slot describedSlot(const Graph& graph, const Argument& item, const std::string& description) {
  const auto starts = [&](const DescribedSlot& entry) { return description.starts_with(entry.description); };
  const auto found = std::ranges::find_if(describedOutputs, starts);
  if (found == std::end(describedOutputs)) return description;
  if (found->slot.empty()) return "saved:" + nodeName(graph, item);
  const auto index = indexIn(description);
  if (index) return fmt::format("{}{}", found->slot, *index);
  const std::string attribute = attributeIn(description);
  return attribute.empty() ? description : fmt::format("{}attr.{}", found->slot, attribute);
}

/// Values that a graph gives back to its caller, by position: mutated inputs come first, then the user's outputs.
void addCallerSlots(std::vector<Slot>& slots, std::size_t count, const SlotContext& context) {
  const std::size_t outputs = context.haveOutputs ? std::min(context.outputs, count) : count;
  for (std::size_t i = 0; i < count - outputs; ++i) slots.push_back(fmt::format("extra:{}", i));
  for (std::size_t i = 0; i < outputs; ++i) slots.push_back(fmt::format("out:{}", i));
}

std::size_t primalCount(const Graph& graph) {
  const auto placeholders = graph.placeholders();
  return std::size_t(std::ranges::count_if(placeholders, [&](NodeId id) { return !isTangent(graph.node(id)); }));
}

std::vector<Slot> positionalSlots(const GraphModule& module, StagePart part, const ArgumentList& items,
                                  const SlotContext& context) {
  const Graph& graph = module.graph;
  std::vector<Slot> slots;
  if (part == StagePart::Joint) {
    const std::size_t grads = std::min(items.size(), primalCount(graph));
    addCallerSlots(slots, items.size() - grads, context);
    for (std::size_t i = 0; i < grads; ++i) slots.push_back(fmt::format("grad:{}", i));
  } else if (part == StagePart::Backward) {
    for (std::size_t i = 0; i < items.size(); ++i) slots.push_back(fmt::format("grad:{}", i));
  } else if (part == StagePart::Forward && context.backward != nullptr) {
    const std::size_t saved = std::min(items.size(), primalCount(*context.backward));
    addCallerSlots(slots, items.size() - saved, context);
    for (std::size_t i = items.size() - saved; i < items.size(); ++i)
      slots.push_back("saved:" + nodeName(graph, items[i]));
  } else {
    addCallerSlots(slots, items.size(), part == StagePart::Dynamo ? SlotContext() : context);
  }
  return slots;
}

}  // namespace

bool isTangent(const Node& placeholder) {
  return placeholder.meta().description.starts_with("TangentAOTInput(") || placeholder.name().starts_with("tangents_");
}

std::vector<Slot> inputSlots(const GraphModule& module, StagePart part, const std::vector<std::string>& attributes) {
  std::vector<Slot> slots;
  std::size_t tangents = 0, lifted = 0;
  const auto placeholders = module.graph.placeholders();
  const bool described = std::ranges::any_of(
      placeholders, [&](NodeId id) { return !attributeIn(module.graph.node(id).meta().description).empty(); });
  for (const NodeId id : module.graph.placeholders()) {
    const Node& node = module.graph.node(id);
    const auto index =
        node.meta().description.starts_with("PlainAOTInput(") ? indexIn(node.meta().description) : std::nullopt;
    std::string attribute = attributeIn(node.meta().description);
    if (!described && lifted < attributes.size()) attribute = attributes[lifted];
    const bool isKnown = std::ranges::find(attributes, attribute) != attributes.end();
    if (isTangent(node)) {
      slots.push_back(fmt::format("tangent:{}", tangents++));
    } else if (part == StagePart::Backward) {
      slots.push_back("saved:" + node.name());
    } else if (isKnown) {
      slots.push_back("in:attr." + attribute);
      ++lifted;
    } else {
      slots.push_back(fmt::format("in:{}", index.value_or(std::int64_t(slots.size() - tangents - lifted))));
    }
  }
  return slots;
}

std::vector<Slot> outputSlots(const GraphModule& module, StagePart part, const SlotContext& context) {
  const ArgumentList items = returnedItems(module.graph);
  const auto& descriptions = module.codegen.outputDescriptions;
  std::vector<Slot> slots;
  if (part != StagePart::Dynamo && descriptions.size() == items.size()) {
    for (std::size_t i = 0; i < items.size(); ++i)
      slots.push_back(describedSlot(module.graph, items[i], descriptions[i]));
  } else {
    slots = positionalSlots(module, part, items, context);
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].isNone()) slots[i].clear();
  return slots;
}

}  // namespace kerf::inline verification
