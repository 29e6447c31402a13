#include "engine/audit/kernels/constant_products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace kerf::inline audit {
namespace {

constexpr double mostInt32 = 2147483647;

/// What is known of an expression: its value, and whether it is an int32 of the kernel or a constant of Python.
struct ConstantValue {
  double number = 0;
  bool isInt32 = false;
};

struct Comparison {
  std::string_view sign;
  bool (*holds)(double a, double b);
};
constexpr std::array<Comparison, 6> signs = {{{"==", [](double a, double b) { return a == b; }},
                                              {"!=", [](double a, double b) { return a != b; }},
                                              {"<", [](double a, double b) { return a < b; }},
                                              {"<=", [](double a, double b) { return a <= b; }},
                                              {">", [](double a, double b) { return a > b; }},
                                              {">=", [](double a, double b) { return a >= b; }}}};

class ProductReader {
 public:
  ProductReader(const SyntaxNode& definition, KernelModel& model) : m_model(model) {
    for (const SyntaxNode& each : definition.items[0].items) m_changed.insert(each.text);
    collect(definition.items[1]);
    visit(definition.items[1]);
  }

 private:
  /// Names that stand for one whole number wherever they are used.
  void collect(const SyntaxNode& node) {
    for (const SyntaxNode& each : node.items) collect(each);
    if (node.is(SyntaxKind::Update) && node.items[0].is(SyntaxKind::Name)) m_changed.insert(node.items[0].text);
    if (node.is(SyntaxKind::For) && node.items[0].is(SyntaxKind::Tuple))
      for (const SyntaxNode& each : node.items[0].items) m_changed.insert(each.text);
    if (!node.is(SyntaxKind::Assign) || !node.items[0].is(SyntaxKind::Name)) return;
    const std::string& name = node.items[0].text;
    const auto number = node.items[1].integer();
    const bool isFirst = m_values.emplace(name, ConstantValue{double(number.value_or(0)), node.text.empty()}).second;
    if (!number || !isFirst || std::abs(double(*number)) > mostInt32) m_changed.insert(name);
  }

  std::optional<ConstantValue> valueOf(const SyntaxNode& node) const {
    if (const auto number = node.integer()) {
      if (std::abs(double(*number)) > mostInt32) return std::nullopt;
      return ConstantValue{double(*number), false};
    }
    if (node.is(SyntaxKind::Name)) {
      const auto found = m_values.find(node.text);
      return found == m_values.end() || m_changed.contains(node.text) ? std::nullopt : std::optional(found->second);
    }
    if (!node.is(SyntaxKind::Binary) || (node.text != "*" && node.text != "+" && node.text != "-")) return std::nullopt;
    const auto a = valueOf(node.items[0]), b = valueOf(node.items[1]);
    if (!a || !b) return std::nullopt;
    const double number = node.text == "*"   ? a->number * b->number
                          : node.text == "+" ? a->number + b->number
                                             : a->number - b->number;
    return ConstantValue{number, a->isInt32 || b->isInt32};
  }

  static double wrapped(const ConstantValue& value) {
    if (!value.isInt32) return value.number;
    const double range = 2 * (mostInt32 + 1), rest = value.number - range * std::floor(value.number / range);
    return rest > mostInt32 ? rest - range : rest;
  }

  /// What is compared must compare as its exact values do.
  void visit(const SyntaxNode& node) {
    for (const SyntaxNode& each : node.items) visit(each);
    if (!node.is(SyntaxKind::Binary) || node.items.size() != 2) return;
    const auto sign = std::ranges::find(signs, std::string_view(node.text), &Comparison::sign);
    if (sign == signs.end()) return;
    const auto a = valueOf(node.items[0]), b = valueOf(node.items[1]);
    if (!a || !b || (!a->isInt32 && !b->isInt32)) return;
    const bool isRight = sign->holds(a->number, b->number) == sign->holds(wrapped(*a), wrapped(*b));
    m_model.remarks.push_back(
        {KernelRemark::About::Range, isRight, node.line,
         isRight ? std::string()
                 : fmt::format("it compares {:.0f} with {:.0f}, and computes in int32: {:.0f} with {:.0f}", a->number,
                               b->number, wrapped(*a), wrapped(*b))});
  }

  KernelModel& m_model;
  std::map<std::string, ConstantValue, std::less<>> m_values;
  std::set<std::string, std::less<>> m_changed;
};

}  // namespace

void remarkProducts(const SyntaxNode& definition, KernelModel& model) { ProductReader(definition, model); }

}  // namespace kerf::inline audit
