// Annotations that were derived in symbols against recorded ones: as texts, else by their values for random sizes.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/ir/graph_module.h"
#include "engine/ops/core/op_registry.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::testing_support {

/// Random values of symbols for which all conditions hold.
class Assignments {
 public:
  Assignments(const SymbolBindings& hints, std::vector<Symbolic> conditions, int wanted = 20) {
    for (int draw = 0; draw < 60 * wanted && int(m_values.size()) < wanted; ++draw) {
      SymbolBindings values;
      for (const auto& [name, hint] : hints) values[name] = drawn(draw, hint);
      if (std::ranges::all_of(conditions, [&](const Symbolic& condition) {
            const auto holds = condition.evaluateBool(values);
            return !holds || *holds;  // one over symbols without value says nothing
          }))
        m_values.push_back(std::move(values));
    }
    if (m_values.empty()) m_values.push_back(hints);
  }
  const std::vector<SymbolBindings>& values() const { return m_values; }

 private:
  /// Near the hint, multiples of all hints, anything.
  std::int64_t drawn(int draw, std::int64_t hint) {
    if (draw % 3 == 0) return hint * (2 + draw / 3 % 5);
    if (draw % 3 == 1) return std::max<std::int64_t>(2, hint + std::int64_t(m_random() % 7) - 3);
    return 2 + std::int64_t(m_random() % 50);
  }
  std::mt19937 m_random{11};
  std::vector<SymbolBindings> m_values;
};

/// Counts of compared numbers, and the nodes where they differ.
struct AnnotationReport {
  int equalTexts = 0, equalValues = 0, unknown = 0;
  std::vector<std::string> differences;

  int compared() const { return equalTexts + equalValues + int(differences.size()); }
};

class AnnotationComparison {
 public:
  AnnotationComparison(const Assignments& assignments, AnnotationReport& report)
      : m_assignments(assignments), m_report(report) {}

  void compare(const std::string& node, const ValueMeta& recorded, const ValueMeta& derived) {
    if (!recorded.known()) return;
    if (!derived.known()) return void(++m_report.unknown);
    if (const TensorMeta* a = recorded.tensor()) {
      const TensorMeta* b = derived.tensor();
      if (b == nullptr) return differ(node, "no tensor was derived");
      if (a->dtype != b->dtype) return differ(node, "another dtype");
      compareAll(node, "sizes", a->sizes, b->sizes);
      if (!a->strides.empty()) compareStrides(node, *a, *b);
    } else if (const SymMeta* a = recorded.sym()) {
      const SymMeta* b = derived.sym();
      if (b == nullptr) return differ(node, "no number was derived");
      compareNumbers(node, "number", a->expr, b->expr);
    } else if (const auto* list = recorded.list()) {
      const auto* other = derived.list();
      if (other == nullptr || other->size() != list->size()) return differ(node, "another number of results");
      for (std::size_t i = 0; i < list->size(); ++i) compare(node, (*list)[i], (*other)[i]);
    }
  }

 private:
  void differ(const std::string& node, std::string what) { m_report.differences.push_back(node + ": " + what); }

  static std::string textOf(const Dim& item) { return item.text.empty() ? std::to_string(*item.hint) : item.text; }
  static std::string textOf(const std::vector<Dim>& items) {
    std::string text;
    for (const Dim& item : items) text += (text.empty() ? "" : ", ") + textOf(item);
    return "[" + text + "]";
  }

  void compareAll(const std::string& node, const char* what, const std::vector<Dim>& a, const std::vector<Dim>& b) {
    if (a.size() != b.size()) return differ(node, fmt::format("{} {} instead of {}", what, textOf(b), textOf(a)));
    for (std::size_t i = 0; i < a.size(); ++i) compareNumbers(node, what, a[i], b[i]);
  }

  /// Of dimensions that may have more than one element; the others address nothing.
  void compareStrides(const std::string& node, const TensorMeta& a, const TensorMeta& b) {
    if (a.strides.size() != b.strides.size()) return differ(node, "another number of strides");
    for (std::size_t i = 0; i < a.strides.size(); ++i)
      if (textOf(a.sizes[i]) != "1" && textOf(a.sizes[i]) != "0")
        compareNumbers(node, "stride", a.strides[i], b.strides[i]);
  }

  void compareNumbers(const std::string& node, const char* what, const Dim& a, const Dim& b) {
    const std::string left = textOf(a), right = textOf(b);
    if (left == right) return void(++m_report.equalTexts);
    const auto x = Symbolic::parse(left), y = Symbolic::parse(right);
    if (!x || !y) return differ(node, fmt::format("{} {} cannot be read", what, x ? right : left));
    bool compared = false;
    for (const SymbolBindings& values : m_assignments.values()) {
      const auto v = x->evaluate(values), w = y->evaluate(values);
      if (!v || !w) continue;
      compared = true;
      if (*v != *w) return differ(node, fmt::format("{} {} instead of {}", what, right, left));
    }
    if (!compared) return differ(node, fmt::format("{} {} instead of {}, which has no value", what, right, left));
    ++m_report.equalValues;
  }

  const Assignments& m_assignments;
  AnnotationReport& m_report;
};

/// Takes all annotations away but those of placeholders and attributes; what they were, by node.
inline std::map<std::uint32_t, ValueMeta> stripAnnotations(GraphModule& module) {
  std::map<std::uint32_t, ValueMeta> recorded;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const Node& node = module.graph.node(id);
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr || !node.meta().value.known()) continue;
    recorded.emplace(id.index, node.meta().value);
    module.graph.setValueMeta(id, {});
  }
  return recorded;
}

/// Propagates over a graph without annotations. Nobody can derive which name PyTorch gave to what only running tells: nodes
/// that make such symbols get their recorded annotation back, and it is done again.
inline Result<void> deriveAnnotations(GraphModule& module, const std::map<std::uint32_t, ValueMeta>& recorded,
                                      const std::vector<ShapeSymbol>& symbols, ShapeEnv& env) {
  GraphModule once = module;
  ShapeEnv scratch;
  for (const ShapeSymbol& symbol : symbols) scratch.addSymbol(symbol);
  KERF_CHECK(propagateShapes(once, scratch));
  for (const auto& [index, meta] : recorded) {
    const Node& node = module.graph.node(NodeId{index});
    const auto made = std::ranges::find(scratch.symbols(), node.name(), &ShapeSymbol::source);
    if (made != scratch.symbols().end() && !made->hint) module.graph.setValueMeta(NodeId{index}, meta);
  }
  for (const ShapeSymbol& symbol : symbols) env.addSymbol(symbol);
  return propagateShapes(module, env);
}

inline std::vector<Symbolic> conditionsOf(const ShapeEnv& env) {
  std::vector<Symbolic> conditions;
  for (const ShapeGuard& guard : env.guards()) conditions.push_back(guard.expression);
  return conditions;
}

}  // namespace kerf::testing_support
