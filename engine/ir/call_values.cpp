#include "engine/ir/call_values.h"

#include <algorithm>

namespace kerf::inline ir {
namespace {

bool isListIndex(const Node& node, const ValueList& args) {
  if (node.args().size() < 2 || args.size() < 2 || !args[0].isTensor()) return false;
  const ListArgument* list = node.args()[1].asList();
  const bool made =
      node.args()[1].as<NodeId>() != nullptr && args[1].isList() && !args[1].list().empty();  // x[range(2)]
  if (!made && (list == nullptr || list->isTuple)) return false;
  if (!node.target().ends_with("operator.getitem") && !node.target().ends_with("operator.setitem")) return false;
  return std::ranges::all_of(args[1].list(), [](const Value& item) { return item.asSymInt() || item.as<bool>(); });
}

}  // namespace

void keepListIndex(const Node& node, ValueList& args) {
  if (isListIndex(node, args)) args[1] = Value(ValueList{args[1]});
}

Result<CallValues> callValues(const Node& node, const std::function<const Value&(NodeId)>& lookup) {
  CallValues call;
  call.args.reserve(node.args().size());
  for (const Argument& argument : node.args()) {
    KERF_TRY(Value value, argumentToValue(argument, lookup));
    call.args.push_back(std::move(value));
  }
  keepListIndex(node, call.args);
  for (const auto& [key, argument] : node.kwargs()) {
    KERF_TRY(Value value, argumentToValue(argument, lookup));
    call.kwargs.emplace_back(key, std::move(value));
  }
  return call;
}

}  // namespace kerf::inline ir
