#include "engine/autograd/written_call.h"

#include <algorithm>

namespace kerf::inline autograd {
namespace {

bool isSame(const Value& a, const Value& b) {
  if (a.isTensor() || b.isTensor()) return false;
  if (a.isList() && b.isList()) return std::ranges::equal(a.list(), b.list(), isSame);
  if (a.variant().index() != b.variant().index()) return false;
  if (const auto* number = a.as<std::int64_t>()) return *number == *b.as<std::int64_t>();
  if (const auto* number = a.as<double>()) return *number == *b.as<double>();
  if (const auto* flag = a.as<bool>()) return *flag == *b.as<bool>();
  if (const auto* text = a.as<std::string>()) return *text == *b.as<std::string>();
  return a.isNone();
}

}  // namespace

AutocastCall asWritten(const BoundArguments& call) {
  const auto isDefault = [&](std::size_t i) {
    return call.op->defaults[i].has_value() && isSame(*call.op->defaults[i], call.values[i]);
  };
  AutocastCall written;
  std::size_t positional = 0;
  for (std::size_t i = 0; i < call.values.size(); ++i) {
    const SchemaArgument& argument = call.op->schema.arguments[i];
    if (!argument.keywordOnly && !isDefault(i)) positional = i + 1;
    if (argument.keywordOnly && !isDefault(i)) written.kwargs.emplace_back(argument.name, call.values[i]);
  }
  written.args.assign(call.values.begin(), call.values.begin() + std::ptrdiff_t(positional));
  return written;
}

}  // namespace kerf::inline autograd
