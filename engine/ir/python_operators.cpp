#include "engine/ir/python_operators.h"

#include <algorithm>
#include <array>

#include "engine/ir/graph.h"

namespace kerf::inline ir {
namespace {

constexpr std::array<PythonOperator, 38> table = {
    {{"eq", "==", 2, false},       {"ne", "!=", 2, false},      {"lt", "<", 2, false},
     {"gt", ">", 2, false},        {"le", "<=", 2, false},      {"ge", ">=", 2, false},
     {"pos", "+", 1, false},       {"neg", "-", 1, false},      {"invert", "~", 1, false},
     {"add", "+", 2, false},       {"sub", "-", 2, false},      {"mul", "*", 2, false},
     {"floordiv", "//", 2, false}, {"truediv", "/", 2, false},  {"div", "/", 2, false},
     {"mod", "%", 2, false},       {"pow", "**", 2, false},     {"lshift", "<<", 2, false},
     {"rshift", ">>", 2, false},   {"and_", "&", 2, false},     {"or_", "|", 2, false},
     {"xor", "^", 2, false},       {"getitem", "[]", 2, false}, {"matmul", "@", 2, false},
     {"iadd", "+=", 2, true},      {"iand", "&=", 2, true},     {"ifloordiv", "//=", 2, true},
     {"ilshift", "<<=", 2, true},  {"imod", "%=", 2, true},     {"imul", "*=", 2, true},
     {"imatmul", "@=", 2, true},   {"ior", "|=", 2, true},      {"ipow", "**=", 2, true},
     {"irshift", ">>=", 2, true},  {"isub", "-=", 2, true},     {"itruediv", "/=", 2, true},
     {"ixor", "^=", 2, true},      {"setitem", "[]", 3, true}}};

/// Builtins that captured graphs call.
constexpr std::array<std::string_view, 23> calledBuiltins = {
    "abs",  "all", "any", "bool", "divmod", "float", "getattr", "hasattr", "int",     "isinstance", "iter", "len",
    "list", "max", "min", "next", "pow",    "print", "range",   "round",   "setattr", "sum",        "tuple"};

/// Modules whose functions may be called by a dotted name.
constexpr std::array<std::string_view, 5> callableRoots = {"torch", "operator", "math", "builtins", "inductor_prims"};

/// Calls that are read as literals or as parts of the language.
constexpr std::array<std::string_view, 8> literalCalls = {"device",  "torch.device", "slice", "complex",
                                                          "getattr", "globals",      "super", "self"};

/// Other names that generated code gives a meaning of its own.
constexpr std::array<std::string_view, 12> meaningfulNames = {
    "inf", "nan", "Ellipsis", "float", "iter", "next", "args_list", "args_iter", "fx_pytree", "pytree", "True", "None"};

/// FX treats functions under torch as importable by their own name, but not those of _dynamo and _inductor.
bool isImportable(std::string_view target) {
  if (!target.starts_with("torch.")) return false;
  const std::string_view module = target.substr(0, target.rfind('.'));
  return module.find("._dynamo.") == std::string_view::npos && module.find("._inductor.") == std::string_view::npos;
}

bool isDottedIdentifier(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!isPythonIdentifier(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

/// The name that FX's CodeGen gives a function.
std::string fxName(std::string_view target) {
  if (target.starts_with("builtins.")) return std::string(target.substr(9));
  if (isImportable(target) || target.find('.') == std::string_view::npos) return std::string(target);
  std::string out(target.starts_with("operator.") ? "_" : "");
  for (const char c : target) out += c == '.' || c == '<' || c == '>' ? '_' : c;
  return out;
}

bool readsAs(std::string_view name, std::string_view target) {
  return isDottedIdentifier(name) && targetOfCalledName(name) == target;
}

/// `getattr(torch.ops.aten.random, "from")`: an attribute that Python has no dotted form for.
std::optional<std::string> attributeCall(std::string_view target) {
  const std::size_t dot = target.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == target.size()) return std::nullopt;
  const std::string_view owner = target.substr(0, dot);
  const bool known = std::ranges::find(callableRoots, owner.substr(0, owner.find('.'))) != callableRoots.end();
  if (!known || !isDottedIdentifier(owner)) return std::nullopt;
  return "getattr(" + std::string(owner) + ", " + pythonString(target.substr(dot + 1)) + ")";
}

}  // namespace

const PythonOperator* operatorOfTarget(std::string_view target, std::size_t operands) {
  if (!target.starts_with("operator.")) return nullptr;
  const auto row = std::ranges::find(table, target.substr(9), &PythonOperator::name);
  return row != table.end() && std::size_t(row->operands) == operands ? &*row : nullptr;
}

const PythonOperator* operatorOfSymbol(std::string_view symbol, std::size_t operands, bool inplace) {
  const auto row = std::ranges::find_if(table, [&](const PythonOperator& op) {
    return op.symbol == symbol && std::size_t(op.operands) == operands && op.inplace == inplace;
  });
  return row == table.end() ? nullptr : &*row;
}

std::string_view plainOperator(std::string_view name) {
  const auto row = std::ranges::find(table, name, &PythonOperator::name);
  if (row == table.end() || !row->inplace || !row->symbol.ends_with('=')) return name;
  return operatorOfSymbol(row->symbol.substr(0, row->symbol.size() - 1), 2, false)->name;
}

std::string formatOperator(const PythonOperator& op, const std::vector<std::string>& operands) {
  const std::string symbol(op.symbol);
  if (op.operands == 1) return symbol + operands[0];
  if (symbol != "[]") return operands[0] + " " + symbol + " " + operands[1];
  return operands[0] + "[" + operands[1] + "]" + (op.operands == 3 ? " = " + operands[2] : "");
}

std::string calledName(std::string_view target) {
  const bool isLiteral = std::ranges::find(literalCalls, target) != literalCalls.end();
  if (const std::string name = fxName(target); !isLiteral && readsAs(name, target)) return name;
  if (!isLiteral && readsAs(target, target)) return std::string(target);
  if (auto attribute = attributeCall(target); attribute && !isDottedIdentifier(target)) return *attribute;
  return "globals()[" + pythonString(target) + "]";
}

std::optional<std::string> targetOfCalledName(std::string_view name) {
  const std::string_view root = name.substr(0, name.find('.'));
  if (root.size() < name.size()) {
    if (root == "_operator") return "operator" + std::string(name.substr(root.size()));
    if (std::ranges::find(callableRoots, root) == callableRoots.end()) return std::nullopt;
    return std::string(name);
  }
  if (name == "self" || name == "globals" || name == "super") return std::nullopt;
  if (name.starts_with("_operator_")) return "operator." + std::string(name.substr(10));
  if (name.starts_with("math_")) return "math." + std::string(name.substr(5));
  if (std::ranges::find(calledBuiltins, name) != calledBuiltins.end()) return "builtins." + std::string(name);
  return std::string(name);
}

bool isMeaningfulName(std::string_view name) {
  const auto among = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  return among(callableRoots) || among(meaningfulNames) || among(literalCalls) || name == "_operator";
}

}  // namespace kerf::inline ir
