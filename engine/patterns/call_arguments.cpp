// Looking an argument up in a call and its schema.
#include "engine/patterns/call_arguments.h"

#include <algorithm>

#include "engine/patterns/pattern_match.h"

namespace kerf::inline patterns {

namespace {

const SchemaArgument* schemaArgument(const OpInfo* op, std::string_view name) {
  if (op == nullptr) return nullptr;
  const auto& arguments = op->schema.arguments;
  const auto found =
      std::ranges::find(arguments, name, [](const SchemaArgument& one) -> std::string_view { return one.name; });
  return found == arguments.end() ? nullptr : &*found;
}

}  // namespace

std::string_view argumentName(const OpInfo* op, std::size_t place) {
  if (op == nullptr || place >= op->schema.arguments.size()) return {};
  return op->schema.arguments[place].name;
}

std::size_t argumentPlace(const OpInfo* op, std::string_view name) {
  const SchemaArgument* found = schemaArgument(op, name);
  return found == nullptr ? SIZE_MAX : std::size_t(found - op->schema.arguments.data());
}

std::optional<Argument> argumentOf(const Node& call, const OpInfo* op, std::size_t place, std::string_view name) {
  if (place < call.args().size()) return call.args()[place];
  for (const auto& [given, value] : call.kwargs())
    if (!name.empty() && given == name) return value;
  const SchemaArgument* argument = schemaArgument(op, name);
  return argument == nullptr ? std::nullopt : argument->defaultValue;
}

bool isDefault(const OpInfo* op, std::string_view name, const Argument& value) {
  if (name == "pin_memory" || name == "layout") return true;
  const SchemaArgument* argument = schemaArgument(op, name);
  return argument != nullptr && argument->defaultValue && sameLiteral(*argument->defaultValue, value);
}

}  // namespace kerf::inline patterns
