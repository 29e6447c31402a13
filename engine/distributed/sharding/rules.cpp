#include "engine/distributed/sharding/rules.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace kerf::inline distributed::inline sharding {
namespace {

const ShardingRegistration*& latest() {
  static const ShardingRegistration* registration = nullptr;
  return registration;
}

template <class Change>
Placements mapped(Placements placements, Change change) {
  for (Placement& placement : placements) change(placement);
  return placements;
}

}  // namespace

ShardingRegistration::ShardingRegistration(std::span<const ShardingRow> rows) : m_rows(rows), m_next(latest()) {
  latest() = this;
}

ShardingFunction findShardingRule(OpId op) {
  static const auto rules = [] {
    std::unordered_map<std::string_view, ShardingFunction> all;
    for (const auto* from = latest(); from != nullptr; from = from->next())
      for (const ShardingRow& row : from->rows()) all.emplace(row.op, row.rule);
    return all;
  }();
  const auto found = rules.find(opName(op));
  return found == rules.end() ? nullptr : found->second;
}

std::vector<std::string> opsWithShardingRules() {
  std::set<std::string> names;
  for (const auto* from = latest(); from != nullptr; from = from->next())
    for (const ShardingRow& row : from->rows()) names.emplace(row.op);
  return {names.begin(), names.end()};
}

const ShardedOperand* ShardingCall::find(std::size_t argument, int item) const {
  for (const ShardedOperand& operand : operands)
    if (operand.argument == argument && operand.item == item) return &operand;
  return nullptr;
}

std::vector<const ShardedOperand*> ShardingCall::items(std::size_t argument) const {
  std::vector<const ShardedOperand*> result;
  for (const ShardedOperand& operand : operands)
    if (operand.argument == argument && operand.item >= 0) result.push_back(&operand);
  return result;
}

bool ShardingCall::isInplace() const {
  std::string_view name = args.op->schema.name;
  return name.ends_with('_') && !name.ends_with("__");
}

const ShardedOperand* ShardingCall::out() const {
  for (std::size_t i = 0; i < args.op->schema.arguments.size(); ++i) {
    const SchemaArgument& argument = args.op->schema.arguments[i];
    if (argument.keywordOnly && argument.alias.ends_with('!')) return find(i);
  }
  return nullptr;
}

Value ShardingCall::named(std::string_view name) const {
  for (std::size_t i = 0; i < args.op->schema.arguments.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return args.values[i];
  return {};
}

std::int64_t ShardingCall::dimension(std::string_view name, std::int64_t rank, std::int64_t fallback) const {
  const Value value = named(name);
  const auto* number = value.as<std::int64_t>();
  const std::int64_t dim = number != nullptr ? *number : fallback;
  return dim < 0 ? dim + rank : dim;
}

Result<Strategies> expandToMesh(const ShardingCall& call, const std::vector<OneDim>& choices, std::size_t outputs) {
  Strategies result;
  const std::size_t dims = call.meshDims(), operands = call.operands.size();
  std::vector<std::size_t> at(dims, 0);
  while (true) {
    Strategy strategy;
    strategy.outputs.assign(outputs, Placements(dims));
    strategy.inputs.assign(operands, Placements(dims));
    bool fits = true;
    for (std::size_t d = 0; d < dims; ++d) {
      const OneDim& choice = choices[at[d]];
      if (choice.size() != outputs + operands)
        return fail(ErrorCode::Internal, "{}: a sharding choice has {} placements for {} results and {} operands",
                    call.args.opName(), choice.size(), outputs, operands);
      for (std::size_t i = 0; i < outputs; ++i) strategy.outputs[i][d] = choice[i];
      for (std::size_t i = 0; i < operands; ++i) strategy.inputs[i][d] = choice[outputs + i];
    }
    for (std::size_t i = 0; i < operands && fits; ++i)
      fits = std::ranges::count(strategy.inputs[i], Placement::Kind::MaskPartial, &Placement::kind) <= 1 &&
             isShardable({strategy.inputs[i], call.operands[i].spec.sizes}, call.mesh);
    if (fits && call.isInplace()) fits = strategy.inputs[0] == call.operands[0].spec.placements;
    if (const ShardedOperand* out = call.out(); fits && out != nullptr && outputs > 0)
      fits = strategy.outputs[0] == out->spec.placements;
    if (fits) result.push_back(std::move(strategy));
    std::size_t d = dims;
    while (d > 0 && ++at[d - 1] == choices.size()) at[--d] = 0;
    if (d == 0) break;
  }
  if (result.empty())
    return fail(ErrorCode::UnsupportedOp, "{}: in-place operations that require placement changes are not supported",
                call.args.opName());
  return result;
}

std::vector<OneDim> withShardKinds(const ShardingCall& call, const std::vector<OneDim>& choices, std::size_t outputs) {
  std::vector<Placement> kinds;
  for (const ShardedOperand& operand : call.operands)
    for (const Placement& placement : operand.spec.placements)
      if (placement.isShard() && std::ranges::find(kinds, placement.onDim(0)) == kinds.end())
        kinds.push_back(placement.onDim(0));
  std::vector<OneDim> result{OneDim(outputs + call.operands.size())};
  for (const OneDim& choice : choices) {
    if (std::ranges::none_of(choice, &Placement::isShard)) {
      result.push_back(choice);
      continue;
    }
    for (const Placement& kind : kinds) {
      OneDim made = choice;
      for (Placement& placement : made)
        if (placement.isShard()) placement = kind.onDim(placement.dim);
      result.push_back(std::move(made));
    }
  }
  return result;
}

Result<Strategies> replicatedStrategies(const ShardingCall& call) {
  Strategy strategy;
  strategy.outputs = {call.replicated()};
  strategy.inputs.assign(call.operands.size(), call.replicated());
  return Strategies{std::move(strategy)};
}

double costOf(const ShardingCall& call, const Strategy& strategy) {
  if (strategy.cost) return *strategy.cost;
  double cost = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    cost += redistributeCost(call.operands[i].spec, strategy.inputs[i], call.mesh);
  return cost;
}

const Strategy& cheapest(const ShardingCall& call, const Strategies& strategies) {
  const Strategy *negative = nullptr, *nothingToDo = nullptr, *free = nullptr, *least = nullptr;
  double negativeCost = 0, leastCost = 0;
  for (const Strategy& strategy : strategies) {
    const double cost = costOf(call, strategy);
    if (cost < 0 && (negative == nullptr || cost < negativeCost)) {
      negative = &strategy;
      negativeCost = cost;
    }
    if (cost == 0) {
      bool same = true;
      for (std::size_t i = 0; i < call.operands.size(); ++i)
        same = same && strategy.inputs[i] == call.operands[i].spec.placements;
      if (same)
        nothingToDo = &strategy;
      else if (free == nullptr)
        free = &strategy;
    }
    if (least == nullptr || cost < leastCost) {
      least = &strategy;
      leastCost = cost;
    }
  }
  for (const Strategy* first : {negative, nothingToDo, free})
    if (first != nullptr) return *first;
  return *least;
}

Placements withoutShardOf(Placements placements, std::int64_t dim) {
  return mapped(std::move(placements), [&](Placement& p) { p = p.isShardOf(dim) ? Placement::replicate() : p; });
}

Placements withoutPartials(Placements placements) {
  return mapped(std::move(placements), [](Placement& p) { p = p.isPartial() ? Placement::replicate() : p; });
}

Placements replicatedOn(Placements placements, const Sizes& dims) {
  return mapped(std::move(placements), [&](Placement& p) {
    if (p.isPartial() || (p.isShard() && std::ranges::find(dims, p.dim) != dims.end())) p = Placement::replicate();
  });
}

Placements replicatedFrom(Placements placements, std::int64_t dim) {
  return mapped(std::move(placements), [&](Placement& p) {
    if (p.isPartial() || (p.isShard() && p.dim >= dim)) p = Placement::replicate();
  });
}

Placements shiftedAfterInsert(Placements placements, std::int64_t dim) {
  return mapped(std::move(placements), [&](Placement& p) { p.dim += p.isShard() && p.dim >= dim ? 1 : 0; });
}

Placements shiftedAfterRemove(Placements placements, std::int64_t dim) {
  return mapped(std::move(placements), [&](Placement& p) { p.dim -= p.isShard() && p.dim > dim ? 1 : 0; });
}

}  // namespace kerf::inline distributed::inline sharding
