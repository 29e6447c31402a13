#include "engine/verification/stage_search.h"

#include <algorithm>

#include "engine/verification/memory_edges.h"

namespace kerf::inline verification {
namespace {

/// Nodes that a graph returns as `slots`, and the nodes that last write into a mutated input.
std::vector<NodeId> nodesOf(const Stage& stage, const GraphModule& module, const std::set<Slot>& slots) {
  std::vector<NodeId> found;
  const ArgumentList items = returnedItems(module.graph);
  for (std::size_t i = 0; i < std::min(items.size(), stage.outputs.size()); ++i)
    if (slots.contains(stage.outputs[i])) forEachNode(items[i], [&](NodeId id) { found.push_back(id); });
  const auto placeholders = module.graph.placeholders();
  const MemoryEdges edges(module.graph);
  for (std::size_t i = 0; i < std::min(placeholders.size(), stage.inputs.size()); ++i) {
    if (!stage.inputs[i].starts_with("in:") || !slots.contains("mutates:" + stage.inputs[i].substr(3))) continue;
    const auto writers = edges.writers(placeholders[i]);
    found.insert(found.end(), writers.begin(), writers.end());
  }
  return found;
}

}  // namespace

std::set<Slot> StageSearch::badSlots(const PairVerdict& verdict) {
  std::set<Slot> slots(verdict.missing.begin(), verdict.missing.end());
  for (const SlotVerdict& row : verdict.values)
    if (!row.same) slots.insert(row.slot);
  if (verdict.gradients) slots.insert(verdict.gradients->suspects.begin(), verdict.gradients->suspects.end());
  return slots;
}

bool StageSearch::relaxed(std::size_t a, std::size_t b) const {
  return (stage(a).part == StagePart::Dynamo) != (stage(b).part == StagePart::Dynamo);
}

ChangedNode StageSearch::search(std::size_t before, std::size_t after, const std::set<Slot>& slots,
                                const std::set<NodeId>& known) const {
  const auto a = m_runs.printed(before), b = m_runs.printed(after);
  const auto map = mapNodes(a, b, m_options.tolerance);
  std::vector<NodeId> different = nodesOf(stage(after), m_runs.module(after), slots);
  // What a forward graph saves is part of the joint graph, or something there would have to be changed.
  const ArgumentList items = relaxed(before, after) ? ArgumentList() : returnedItems(b.module->graph);
  for (std::size_t i = 0; i < std::min(items.size(), stage(after).outputs.size()); ++i)
    if (const NodeId* id = items[i].as<NodeId>();
        id != nullptr && stage(after).outputs[i].starts_with("saved:") && !map.contains(*id))
      different.push_back(*id);
  return findChangedNode(a, b, map, different, relaxed(before, after), m_options.tolerance, known);
}

ChangedNode StageSearch::searchRounding(std::size_t before, std::size_t after, const std::set<Slot>& slots) const {
  const auto both = [&](std::size_t index) {
    return std::array{m_runs.printed(index), m_runs.printed(index, Arithmetic::Recorded)};
  };
  const auto a = both(before), b = both(after);
  constexpr double floor = 1e-6;  // a few roundings to float32
  return findRoundingNode(a, b, mapNodes(a[0], b[0], m_options.tolerance),
                          nodesOf(stage(after), m_runs.module(after), slots), roundingFactor, floor);
}

bool StageSearch::onlyRounds(const PairVerdict& verdict) {
  return std::ranges::all_of(verdict.values, [](const SlotVerdict& row) { return row.same || row.rounds; }) &&
         std::ranges::any_of(verdict.values, &SlotVerdict::rounds);
}

void StageSearch::refine(const StagePair& next, const std::set<Slot>& slots, PairVerdict& verdict) const {
  std::set<NodeId> known;  // in the forward or in the backward graph
  for (const std::size_t index : next.after)
    for (const auto& [node, other] : mapNodes(m_runs.printed(index), m_runs.printed(next.before), m_options.tolerance))
      known.insert(node);
  for (const std::size_t index : next.after) {
    const auto& outputs = stage(index).outputs;
    if (std::ranges::none_of(outputs, [&](const Slot& slot) { return slots.contains(slot); }) && next.after.size() > 1)
      continue;
    const auto found = search(index, next.before, slots, known);
    if (!found.found()) continue;
    verdict.changed = found;
    verdict.changedIn = stage(next.before).name;
    return;
  }
}

Result<void> StageSearch::locate(const StagePair& pair, PairVerdict& verdict, std::optional<std::size_t> third) {
  const auto slots = badSlots(verdict);
  const bool rounds = onlyRounds(verdict);
  if (rounds) KERF_CHECK(m_runs.printRecorded(pair.before));
  for (const std::size_t index : pair.after) {
    if (rounds) KERF_CHECK(m_runs.printRecorded(index));
    std::set<NodeId> known;
    if (third)
      for (const auto& [node, other] : mapNodes(m_runs.printed(*third), m_runs.printed(index), m_options.tolerance))
        known.insert(node);
    const auto found = rounds ? searchRounding(pair.before, index, slots) : search(pair.before, index, slots, known);
    if (!found.found()) continue;
    verdict.changed = found;
    verdict.changedIn = stage(index).name;
    break;
  }
  return {};
}

}  // namespace kerf::inline verification
