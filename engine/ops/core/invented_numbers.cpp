#include "engine/ops/core/invented_numbers.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {
namespace {

bool isInvented(const Value& given, const Value& bound) {
  return given.isTensor() && !given.tensor().defined() && !bound.isTensor();
}

}  // namespace

bool inventsNumbers(const BoundArguments& bound, const ValueList& args, const KeywordValues& kwargs) {
  for (std::size_t i = 0; i < std::min(args.size(), bound.values.size()); ++i)
    if (isInvented(args[i], bound.values[i])) return true;
  const auto& schema = bound.op->schema.arguments;
  return std::ranges::any_of(kwargs, [&](const auto& named) {
    const auto found = std::ranges::find(schema, named.first, &SchemaArgument::name);
    return found != schema.end() && isInvented(named.second, bound.values[std::size_t(found - schema.begin())]);
  });
}

}  // namespace kerf::inline ops
