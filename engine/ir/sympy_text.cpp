#include "engine/ir/sympy_text.h"

#include <algorithm>
#include <array>

#include "engine/ir/symbol_text.h"

namespace kerf::inline ir {
namespace {

enum Strength { Sum = 1, Product, Sign, Power, Atom };

struct Operator {
  std::string_view text;
  Strength result, left, right;
  bool spaced;
};
constexpr std::array<Operator, 7> operators = {{{"+", Sum, Sum, Product, true},
                                                {"-", Sum, Sum, Product, true},
                                                {"*", Product, Product, Power, false},
                                                {"/", Product, Product, Power, false},
                                                {"%", Product, Product, Power, false},
                                                {"//", Atom, Product, Power, false},
                                                {"**", Power, Atom, Power, false}}};

/// Functions that PyTorch's symbolic printer writes (torch.utils._sympy.functions and sympy's own).
constexpr std::array<std::string_view, 31> functions = {"Max",
                                                        "Min",
                                                        "FloorDiv",
                                                        "CeilDiv",
                                                        "CleanDiv",
                                                        "Mod",
                                                        "PythonMod",
                                                        "Eq",
                                                        "Ne",
                                                        "Where",
                                                        "IntTrueDiv",
                                                        "FloatTrueDiv",
                                                        "ToFloat",
                                                        "TruncToInt",
                                                        "TruncToFloat",
                                                        "RoundToInt",
                                                        "RoundDecimal",
                                                        "ModularIndexing",
                                                        "Identity",
                                                        "Abs",
                                                        "floor",
                                                        "ceiling",
                                                        "FloorToInt",
                                                        "CeilToInt",
                                                        "PowByNatural",
                                                        "FloatPow",
                                                        "LShift",
                                                        "RShift",
                                                        "OpaqueUnaryFn_sqrt",
                                                        "OpaqueUnaryFn_log2",
                                                        "IsNonOverlappingAndDenseIndicator"};

struct Text {
  std::string text;  ///< empty: no such expression
  Strength strength = Atom;
};

class Writer {
 public:
  explicit Writer(const std::function<bool(std::string_view)>& isLocal) : m_isLocal(isLocal) {}

  Text write(const PythonExpression& e) {
    switch (e.kind) {
      case PythonKind::Integer:
      case PythonKind::Float:
        return {e.text, Atom};
      case PythonKind::Name:
        return name(e.text);
      case PythonKind::Unary:
        return sign(e);
      case PythonKind::Binary:
        return binary(e);
      case PythonKind::Call:
        return call(e);
      default:
        return {};
    }
  }

  bool hasSymbol() const { return m_hasSymbol; }

 private:
  Text name(const std::string& text) {
    if (!isSymbolName(text) || m_isLocal(text)) return {};
    m_hasSymbol = true;
    return {text, Atom};
  }

  /// The operand, in parentheses if it binds less than it must.
  std::string operand(const PythonExpression& e, Strength least) {
    const Text inner = write(e);
    if (inner.text.empty() || inner.strength >= least) return inner.text;
    return "(" + inner.text + ")";
  }

  Text sign(const PythonExpression& e) {
    if (e.text != "-") return {};
    const std::string inner = operand(e.items.front(), Power);
    return inner.empty() ? Text{} : Text{"-" + inner, Sign};
  }

  Text binary(const PythonExpression& e) {
    const auto op = std::ranges::find(operators, e.text, &Operator::text);
    if (op == operators.end() || e.items.size() != 2) return {};
    const std::string left = operand(e.items[0], op->left);
    const std::string right = left.empty() ? std::string() : operand(e.items[1], op->right);
    if (right.empty()) return {};
    const std::string text = op->spaced ? left + " " + e.text + " " + right : left + e.text + right;
    return {e.text == "//" ? "(" + text + ")" : text, op->result};
  }

  Text call(const PythonExpression& e) {
    const PythonExpression& callee = e.items.front();
    const bool known = callee.kind == PythonKind::Name && std::ranges::find(functions, callee.text) != functions.end();
    if (!known || !e.keywords.empty()) return {};
    std::string text = callee.text + "(";
    for (std::size_t i = 0; i < e.positionalCount(); ++i) {
      const std::string argument = operand(e.positional(i), Sum);
      if (argument.empty()) return {};
      text += (i == 0 ? "" : ", ") + argument;
    }
    return {text + ")", Atom};
  }

  const std::function<bool(std::string_view)>& m_isLocal;
  bool m_hasSymbol = false;
};

}  // namespace

bool isSympyFunction(std::string_view name) { return std::ranges::find(functions, name) != functions.end(); }

std::string sympyText(const PythonExpression& expression, const std::function<bool(std::string_view)>& isLocal) {
  Writer writer(isLocal);
  const Text text = writer.write(expression);
  return writer.hasSymbol() ? text.text : std::string();
}

}  // namespace kerf::inline ir
