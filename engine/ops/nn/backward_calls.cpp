#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

constexpr std::string_view suffix = "_backward";

OpId named(const OpInfo& op, std::string_view ending) {
  std::string name = op.schema.name;
  if (ending.empty())
    name.erase(name.size() - suffix.size());
  else
    name += ending;
  name.replace(name.find("::"), 2, ".");
  const bool isDefault = op.schema.overload.empty() || op.schema.overload == "vec";  // no backward op has a .vec form
  return internOp(name + "." + (isDefault ? "default" : op.schema.overload));
}

}  // namespace

OpId backwardOf(const OpInfo& op) { return named(op, suffix); }
OpId forwardOf(const OpInfo& op) { return named(op, ""); }

Value outputMask(const Backward& b, std::initializer_list<std::size_t> arguments) {
  ValueList mask;
  for (const std::size_t i : arguments) mask.emplace_back(b.wants(i));
  return mask;
}

Value onlyResult(std::size_t k) { return ValueList{k == 0, k == 1, k == 2}; }

void giveResults(Backward& b, std::initializer_list<std::size_t> arguments, const Formula& call) {
  if (std::ranges::none_of(arguments, [&](std::size_t i) { return b.wants(i); })) return;
  std::vector<Formula> results = b.several(call);
  results.resize(std::max(results.size(), arguments.size()));
  for (std::size_t k = 0; const std::size_t i : arguments) b.give(i, results[k++]);
}

}  // namespace kerf::inline ops
