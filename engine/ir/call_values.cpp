#include "engine/ir/call_values.h"

namespace kerf::inline ir {

Result<CallValues> callValues(const Node& node, const std::function<const Value&(NodeId)>& lookup) {
  CallValues call;
  call.args.reserve(node.args().size());
  for (const Argument& argument : node.args()) {
    KERF_TRY(Value value, argumentToValue(argument, lookup));
    call.args.push_back(std::move(value));
  }
  for (const auto& [key, argument] : node.kwargs()) {
    KERF_TRY(Value value, argumentToValue(argument, lookup));
    call.kwargs.emplace_back(key, std::move(value));
  }
  return call;
}

}  // namespace kerf::inline ir
