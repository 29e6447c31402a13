#include "engine/backend/size_guards.h"

#include <algorithm>

#include "engine/backend/input_symbols.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline backend {
namespace {

std::string rangeText(const ShapeSymbol& symbol) {
  if (!symbol.range.hasUpper()) return fmt::format("{} >= {}", symbol.name, symbol.range.lower);
  if (!symbol.range.hasLower()) return fmt::format("{} <= {}", symbol.name, symbol.range.upper);
  return fmt::format("{} <= {} <= {}", symbol.range.lower, symbol.name, symbol.range.upper);
}

bool isBounded(const ShapeSymbol& symbol) { return symbol.range.hasLower() || symbol.range.hasUpper(); }

}  // namespace

SizeGuards SizeGuards::ofShapes(const GraphModule& module) {
  if (!InputSymbols(module).any()) return SizeGuards(nullptr);
  auto env = std::make_shared<ShapeEnv>();
  GraphModule copy = module;
  return SizeGuards(propagateShapes(copy, *env) ? std::move(env) : nullptr);
}

std::optional<GuardViolation> SizeGuards::violated(const SymbolBindings& values) const {
  if (!m_env) return {};
  if (const ShapeGuard* guard = m_env->violated(values))
    return GuardViolation{guard->expression.text(), guard->node, guard->where, guard->reason, values, guard->deferred};
  for (const ShapeSymbol& symbol : m_env->symbols()) {
    const auto value = values.find(symbol.name);
    if (value == values.end() || symbol.range.contains(value->second)) continue;
    return GuardViolation{rangeText(symbol), {}, {}, "the range of the symbol", values, false};
  }
  return {};
}

void SizeGuards::addTexts(std::vector<std::string>& texts) const {
  if (!m_env) return;
  const auto add = [&](std::string text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  };
  for (const ShapeSymbol& symbol : m_env->symbols())
    if (symbol.hint && isBounded(symbol)) add(rangeText(symbol));
  for (const ShapeGuard& guard : m_env->guards()) add(guard.expression.text());
}

}  // namespace kerf::inline backend
