#include "engine/capture/pt2/srepr_audit.h"

#include <algorithm>
#include <array>

#include "engine/capture/audit/audit_expressions.h"
#include "engine/ir/sympy_functions.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::array<std::string_view, 32> classes = {"Symbol",
                                                      "Dummy",
                                                      "Integer",
                                                      "Rational",
                                                      "Float",
                                                      "Add",
                                                      "Mul",
                                                      "Pow",
                                                      "Equality",
                                                      "Unequality",
                                                      "StrictLessThan",
                                                      "LessThan",
                                                      "StrictGreaterThan",
                                                      "GreaterThan",
                                                      "And",
                                                      "Or",
                                                      "Not",
                                                      "Xor",
                                                      "Piecewise",
                                                      "ExprCondPair",
                                                      "Tuple",
                                                      "Abs",
                                                      "Min",
                                                      "Max",
                                                      "floor",
                                                      "ceiling",
                                                      "sqrt",
                                                      "log",
                                                      "exp",
                                                      "sin",
                                                      "cos",
                                                      "tanh"};
constexpr std::array<std::string_view, 14> keywords = {"positive", "integer",  "real",        "nonnegative", "nonzero",
                                                       "finite",   "negative", "nonpositive", "precision",   "evaluate",
                                                       "zero",     "even",     "odd",         "commutative"};

template <std::size_t count>
bool has(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class SreprAudit {
 public:
  explicit SreprAudit(const std::vector<AuditToken>& tokens) : m_tokens(tokens) {}

  bool run() { return term(0) && at().kind == AuditKind::Newline; }

 private:
  const AuditToken& at() const { return m_tokens[std::min(m_at, m_tokens.size() - 1)]; }
  bool accept(std::string_view op) { return at().is(op) && (++m_at, true); }

  /// Class(term, …, keyword=True), -3, true.
  bool term(int depth) {
    if (depth > 200) return false;
    if (accept("-")) return at().kind == AuditKind::Number && (++m_at, true);
    if (at().kind == AuditKind::Number) return ++m_at, true;
    if (at().isName("true") || at().isName("false") || at().isName("oo")) return ++m_at, true;
    if (at().kind != AuditKind::Name || !(has(classes, at().text) || isSympyFunction(at().text))) return false;
    const bool takesText = at().isName("Symbol") || at().isName("Dummy") || at().isName("Float");
    ++m_at;
    if (!accept("(")) return false;
    for (bool first = true; !accept(")"); first = false) {
      if (!first && !accept(",")) return false;
      if (!(takesText && first ? text() : argument(depth))) return false;
    }
    return true;
  }

  bool argument(int depth) {
    if (at().kind != AuditKind::Name || !has(keywords, at().text)) return term(depth + 1);
    ++m_at;
    if (!accept("=")) return false;
    const bool isValue = at().isName("True") || at().isName("False") || at().kind == AuditKind::Number;
    return isValue && (++m_at, true);
  }

  /// A symbol's name, a float's digits.
  bool text() {
    const auto plain = plainString(at());
    constexpr auto isPlain = [](unsigned char c) {
      return std::isalnum(c) != 0 || std::string_view("_.+-").find(char(c)) != std::string_view::npos;
    };
    return plain && std::ranges::all_of(*plain, isPlain) && (++m_at, true);
  }

  const std::vector<AuditToken>& m_tokens;
  std::size_t m_at = 0;
};

}  // namespace

bool isAllowedSrepr(std::string_view text) {
  if (isSymbolText(text)) return true;
  const std::string line = std::string(text) + "\n";
  const auto tokens = auditTokens(line);
  return tokens && SreprAudit(*tokens).run();
}

}  // namespace kerf::inline capture::pt2
