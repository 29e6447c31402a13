// fitDims(): shapes are propagated up to the call that refuses, which is fitted, and so on.
#include "minifier/core/fitted_dims.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/call_slots.h"
#include "minifier/core/call_units.h"

namespace kerf::inline minifier::inline core {

namespace {

Argument listOf(const std::vector<std::int64_t>& numbers) {
  ArgumentList items;
  for (const std::int64_t number : numbers) items.emplace_back(number);
  return Argument::list(std::move(items));
}

/// 0, 1 … rank - 1.
std::vector<std::int64_t> allDims(std::size_t rank) {
  std::vector<std::int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), std::int64_t{0});
  return dims;
}

std::int64_t existing(std::int64_t dim, std::int64_t rank) {
  const std::int64_t most = std::max<std::int64_t>(rank, 1);
  return dim >= -most && dim < most ? dim : 0;
}

/// Each of them once.
std::vector<std::int64_t> existing(const ListArgument& dims, std::int64_t rank) {
  std::vector<std::int64_t> found;
  for (const Argument& item : dims.items) {
    const auto* dim = item.as<std::int64_t>();
    const std::int64_t fitted = dim ? existing(*dim, rank) : 0;
    if (std::ranges::find(found, fitted) == found.end()) found.push_back(fitted);
  }
  return found;
}

bool isOf(const Node& node, std::initializer_list<std::string_view> names) {
  const OpInfo* op = findOp(node);
  return op && std::ranges::any_of(names, [&](std::string_view name) { return op->schema.name == name; });
}

/// What `argument` is for an operand of so many dimensions; itself where it names none, or fits.
Argument fitted(const Node& node, const SchemaArgument& schema, const Argument& argument, std::size_t rank) {
  const ListArgument* list = argument.asList();
  if (schema.name == "dims" && list && isOf(node, {"aten::permute"}))
    return list->items.size() == rank ? argument : listOf(allDims(rank));
  if (schema.name == "size" && list && isOf(node, {"aten::view", "aten::reshape", "aten::_unsafe_view"}))
    return listOf({-1});
  if (!schema.name.starts_with("dim")) return argument;
  if (const auto* dim = argument.as<std::int64_t>()) return existing(*dim, std::int64_t(rank));
  return list ? listOf(existing(*list, std::int64_t(rank))) : argument;
}

/// False if nothing changes.
bool fitCall(Graph& graph, NodeId call) {
  const Node& node = graph.node(call);
  const NodeId* operand = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  const TensorMeta* meta = operand ? graph.node(*operand).meta().value.tensor() : nullptr;
  if (meta == nullptr) return false;
  std::vector<std::pair<CallSlot, Argument>> changes;
  forEachSlot(graph, [&](const CallSlot& slot, const Argument& argument, const SchemaArgument* schema) {
    if (slot.call != call || schema == nullptr) return;
    Argument changed = fitted(graph.node(call), *schema, argument, meta->sizes.size());
    if (!(changed == argument)) changes.emplace_back(slot, std::move(changed));
  });
  for (const auto& [slot, argument] : changes) setArgument(graph, slot, argument);
  return !changes.empty();
}

}  // namespace

bool fitDims(GraphModule& module) {
  const std::vector<NodeId> calls = callNodes(module.graph);
  bool changed = false;
  for (std::size_t turn = 0; turn <= calls.size(); ++turn) {
    for (const NodeId call : calls) module.graph.setValueMeta(call, {});
    const Result<void> shaped = propagateShapes(module);
    if (shaped) return changed;
    const auto refusing =
        std::ranges::find_if(calls, [&](NodeId call) { return module.graph.node(call).name() == shaped.error().node; });
    if (refusing == calls.end() || !fitCall(module.graph, *refusing)) return false;
    changed = true;
  }
  return false;
}

}  // namespace kerf::inline minifier::inline core
