#include "engine/ir/expression_lowering.h"

#include <algorithm>
#include <array>

#include "engine/ir/partial_reading.h"
#include "engine/ir/python_operators.h"
#include "engine/ir/symbol_text.h"
#include "engine/ir/sympy_text.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline ir {
namespace {

constexpr std::size_t maxUnfolded = 4'000'000;
constexpr int maxDepth = 200;

std::string_view rootOf(std::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

/// Number of values in an argument; 0 if it nests deeper than printing and hashing may recurse.
std::size_t valueCount(const Argument& argument, int depth = 0) {
  const auto* list = argument.asList();
  const auto* slice = argument.asSlice();
  const auto* dict = argument.asDict();
  if (depth > maxDepth) return 0;
  std::size_t total = 1;
  const auto add = [&](const Argument& item) {
    const std::size_t count = total == 0 ? 0 : valueCount(item, depth + 1);
    total = count == 0 ? 0 : total + count;
  };
  if (list != nullptr) std::ranges::for_each(list->items, add);
  if (slice != nullptr) std::ranges::for_each(slice->items, add);
  if (dict != nullptr)
    for (const auto& [key, item] : dict->items) add(item);
  return total;
}

/// Paths join the names of attributes with dots: a name without text has no place in one.
bool hasEmptyName(std::string_view path) {
  return path.empty() || path.starts_with('.') || path.ends_with('.') || path.find("..") != std::string_view::npos;
}

bool isNumber(const Argument& argument) {
  return argument.as<double>() != nullptr || argument.as<std::int64_t>() != nullptr;
}

/// Calls that are literals once their arguments are known: torch.Size([2, 3]), float("inf"), complex(0.0, -2.0).
std::optional<Argument> literalCall(std::string_view target, const ArgumentList& args, bool hasKeywords) {
  if (hasKeywords || args.empty()) return std::nullopt;
  const auto real = [](const Argument& number) {
    const auto* whole = number.as<std::int64_t>();
    return whole != nullptr ? double(*whole) : *number.as<double>();
  };
  if (target == "torch.Size" && args.size() == 1 && args[0].asList() != nullptr)
    return Argument(ListArgument{args[0].asList()->items, true});
  if (target == "complex" && args.size() == 2 && isNumber(args[0]) && isNumber(args[1]))
    return Argument(ComplexNumber{real(args[0]), real(args[1])});
  return std::nullopt;
}

}  // namespace

Result<Argument> ExpressionLowering::lower(const PythonExpression& expression, std::string_view name) {
  const auto names = [this](std::string_view text, int line) { return resolveName(text, line); };
  const bool isOutermost = !name.empty();
  const auto others = [&, this](const PythonExpression& inner) {
    return resolveOther(inner, isOutermost && &inner == &expression ? name : std::string_view());
  };
  if (isOutermost && expression.kind == PythonKind::Name && expression.text.starts_with("self."))
    return Argument(addNode(Opcode::GetAttr, expression.text.substr(5), {}, {}, name));
  if (isOutermost && expression.kind == PythonKind::Name && isBound(rootOf(expression.text)) &&
      expression.text.find('.') != std::string::npos)
    return attributes(m_locals.at(std::string(rootOf(expression.text))),
                      std::string_view(expression.text).substr(rootOf(expression.text).size() + 1), name);
  return pythonToArgument(expression, names, others);
}

NodeId ExpressionLowering::addNode(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs,
                                   std::string_view name) {
  std::string fresh;
  if (name.empty()) {
    fresh = nameFromTarget(op, target);
    for (char& c : fresh)
      if (!isPythonIdentifier(std::string_view(&c, 1)) && (c < '0' || c > '9')) c = '_';
    if (isReservedPythonName(fresh) || isSymbolName(fresh)) fresh += "_1";
    name = fresh;
  }
  if (isMeaningfulName(name) || m_freeSymbols.contains(std::string(name))) {
    std::string other(name);
    int number = 0;
    while (m_graph.find(other) || isBound(other) || other == name) other = fmt::format("{}_{}", name, ++number);
    fresh = std::move(other);
    name = fresh;
  }
  const NodeId id = m_graph.createNamed(op, target, std::move(args), std::move(kwargs), name);
  m_graph.setMeta(id, m_meta);
  return id;
}

Result<void> ExpressionLowering::bind(std::string_view name, Argument value, int line) {
  if (value.as<NodeId>() == nullptr && valueCount(value) == 0)
    return fail(Error{ErrorCode::TooLarge, fmt::format("values nest deeper than {}", maxDepth), {}, line, {}, {}});
  m_locals[std::string(name)] = std::move(value);
  return {};
}

/// A mention of a local; tuples of tuples of locals could otherwise unfold without end.
Result<Argument> ExpressionLowering::local(const Argument& value, int line) {
  if (value.as<NodeId>() != nullptr) return value;
  m_unfolded += valueCount(value);
  if (m_unfolded > maxUnfolded)
    return fail(
        Error{ErrorCode::TooLarge, fmt::format("locals stand for more than {} values", maxUnfolded), {}, line, {}, {}});
  return value;
}

Result<Argument> ExpressionLowering::resolveName(std::string_view name, int line) {
  if (const auto known = m_locals.find(std::string(name)); known != m_locals.end()) return local(known->second, line);
  const std::string_view root = rootOf(name);
  if (root.size() == name.size()) {
    if (isSymbolName(name)) {
      m_freeSymbols.emplace(name);
      return Argument(SymExpr{std::string(name), {}});
    }
    return undefined(name, line);
  }
  const std::string_view path = name.substr(root.size() + 1);
  if (root == "self") return Argument(addNode(Opcode::GetAttr, path, {}, {}, {}));
  const auto local = m_locals.find(std::string(root));
  if (local != m_locals.end()) return attributes(local->second, path, {});
  KERF_TRY(Argument object, undefined(root, line));
  return attributes(std::move(object), path, {});
}

/// An error or, in a text that is read in part, a placeholder; never for the usual names of modules.
Result<Argument> ExpressionLowering::undefined(std::string_view name, int line) {
  constexpr std::array<std::string_view, 12> modules = {"F",    "nn",   "np", "numpy", "tl", "triton",
                                                        "dist", "aten", "fx", "prims", "hl", "self"};
  const bool isModule = std::ranges::find(modules, name) != modules.end();
  if (m_partial == nullptr || isModule || isMeaningfulName(name) || !isPythonIdentifier(name))
    return undefinedPythonName(name, line);
  KERF_TRY(const NodeId node, inventPlaceholder(m_graph, name, *m_partial, line));
  KERF_CHECK(bind(name, node, line));
  return Argument(node);
}

/// `object.a.b`: one getattr per step.
Result<Argument> ExpressionLowering::attributes(Argument object, std::string_view path, std::string_view name) {
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const bool last = dot == std::string_view::npos;
    object = addNode(Opcode::CallFunction, "builtins.getattr", {object, Argument(std::string(path.substr(0, dot)))}, {},
                     last ? name : std::string_view());
    path = last ? std::string_view() : path.substr(dot + 1);
  }
  return object;
}

Result<Argument> ExpressionLowering::resolveOther(const PythonExpression& expression, std::string_view name) {
  if (const std::string path = modulePath(expression); !path.empty())
    return Argument(addNode(Opcode::GetAttr, path, {}, {}, name));
  if (expression.kind == PythonKind::Attribute) {
    KERF_TRY(auto object, lower(expression.items.front()));
    return attributes(std::move(object), expression.text, name);
  }
  if (std::string symbols = sympyText(expression, [this](std::string_view text) { return isBound(text); });
      !symbols.empty()) {
    collectSymbols(symbols, m_freeSymbols);
    return Argument(SymExpr{std::move(symbols), {}});
  }
  if (expression.kind == PythonKind::Call) return call(expression, name);
  return operation(expression, name);
}

Result<Argument> ExpressionLowering::operation(const PythonExpression& expression, std::string_view name) {
  const bool isIndex = expression.kind == PythonKind::Index;
  const bool isOperator = expression.kind == PythonKind::Unary || expression.kind == PythonKind::Binary;
  const PythonOperator* op = isIndex || isOperator
                                 ? operatorOfSymbol(isIndex ? "[]" : expression.text, expression.items.size(), false)
                                 : nullptr;
  if (op == nullptr) return unsupportedPythonExpression(expression);
  ArgumentList args;
  for (const PythonExpression& item : expression.items) {
    KERF_TRY(auto value, lower(item));
    args.push_back(std::move(value));
  }
  return Argument(addNode(Opcode::CallFunction, "operator." + std::string(op->name), std::move(args), {}, name));
}

Result<NodeId> ExpressionLowering::inplace(const PythonExpression& target, std::string_view op,
                                           const PythonExpression& value, std::string_view name) {
  const bool isItem = target.kind == PythonKind::Index && op == "=";
  const PythonOperator* row = operatorOfSymbol(isItem ? "[]" : op, isItem ? 3 : 2, true);
  if (row == nullptr) return pythonError(target.line, fmt::format("'{}' is not supported here", op));
  ArgumentList args;
  const auto add = [&](const PythonExpression& expression) -> Result<void> {
    KERF_TRY(auto lowered, lower(expression));
    args.push_back(std::move(lowered));
    return {};
  };
  KERF_CHECK(add(isItem ? target.items[0] : target));
  if (isItem) KERF_CHECK(add(target.items[1]));
  KERF_CHECK(add(value));
  return addNode(Opcode::CallFunction, "operator." + std::string(row->name), std::move(args), {}, name);
}

std::string ExpressionLowering::modulePath(const PythonExpression& expression) const {
  if (expression.kind == PythonKind::Name && expression.text.starts_with("self.")) return expression.text.substr(5);
  if (expression.kind == PythonKind::Attribute) {
    const std::string owner = modulePath(expression.items.front());
    return owner.empty() ? "" : owner + "." + expression.text;
  }
  const bool isGetattr = expression.kind == PythonKind::Call && expression.items[0].isName("getattr") &&
                         expression.keywords.empty() && expression.positionalCount() == 2 &&
                         expression.positional(1).kind == PythonKind::String;
  if (!isGetattr) return {};
  const std::string& attribute = expression.positional(1).text;
  if (hasEmptyName(attribute)) return {};
  if (expression.positional(0).isName("self")) return attribute;
  const std::string owner = modulePath(expression.positional(0));
  return owner.empty() ? "" : owner + "." + attribute;
}

Result<ArgumentList> ExpressionLowering::positional(const PythonExpression& call) {
  ArgumentList out;
  out.reserve(call.positionalCount());
  for (std::size_t i = 0; i < call.positionalCount(); ++i) {
    KERF_TRY(auto value, lower(call.positional(i)));
    out.push_back(std::move(value));
  }
  return out;
}

Result<void> ExpressionLowering::addKeyword(KeywordArguments& out, const std::string& key,
                                            const PythonExpression& value) {
  if (std::ranges::any_of(out, [&](const auto& known) { return known.first == key; }))
    return pythonError(value.line, fmt::format("the keyword argument '{}' is given twice", key));
  KERF_TRY(auto lowered, lower(value));
  out.emplace_back(key, std::move(lowered));
  return {};
}

/// `**{'from': 1}`: keywords that are no identifiers.
Result<void> ExpressionLowering::unpackKeywords(const PythonExpression& dict, KeywordArguments& out) {
  if (dict.kind != PythonKind::Dict) return pythonError(dict.line, "'**' is supported with a literal dict only");
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (dict.items[i].kind != PythonKind::String) return pythonError(dict.line, "a keyword is not a string");
    KERF_CHECK(addKeyword(out, dict.items[i].text, dict.items[i + 1]));
  }
  return {};
}

Result<KeywordArguments> ExpressionLowering::keywords(const PythonExpression& call) {
  KeywordArguments out;
  for (std::size_t i = 0; i < call.keywords.size(); ++i) {
    const PythonExpression& value = call.items[1 + call.positionalCount() + i];
    if (call.keywords[i] == "**")
      KERF_CHECK(unpackKeywords(value, out));
    else
      KERF_CHECK(addKeyword(out, call.keywords[i], value));
  }
  return out;
}

Result<Argument> ExpressionLowering::functionCall(const PythonExpression& call, std::string target,
                                                  std::string_view name) {
  KERF_TRY(auto args, positional(call));
  KERF_TRY(auto kwargs, keywords(call));
  if (target == "builtins.float" && args.size() == 1 && args[0].as<std::string>() != nullptr)
    return pythonError(call.line, "float() of a text that is not written in its parentheses");
  if (auto literal = literalCall(target, args, !kwargs.empty())) return std::move(*literal);
  return Argument(addNode(Opcode::CallFunction, target, std::move(args), std::move(kwargs), name));
}

Result<Argument> ExpressionLowering::methodCall(const PythonExpression& call, Argument object,
                                                const std::string& method, std::string_view name) {
  if (object.as<NodeId>() == nullptr && object.as<std::string>() == nullptr)
    return pythonError(call.line, fmt::format("the method '{}' is called on something that no node computes", method));
  KERF_TRY(auto args, positional(call));
  KERF_TRY(auto kwargs, keywords(call));
  args.insert(args.begin(), std::move(object));
  return Argument(addNode(Opcode::CallMethod, method, std::move(args), std::move(kwargs), name));
}

/// `getattr(x, "in")(…)` is a method, `getattr(torch.ops.aten.random, "from")(…)` a function.
Result<Argument> ExpressionLowering::attributeCall(const PythonExpression& call, std::string_view name) {
  const PythonExpression& callee = call.items.front();
  if (callee.kind == PythonKind::Index) {
    const PythonExpression& owner = callee.items[0];
    const bool isGlobal = owner.kind == PythonKind::Call && owner.items.size() == 1 && owner.items[0].isName("globals");
    if (!isGlobal || callee.items[1].kind != PythonKind::String) return unsupportedPythonExpression(call);
    const std::string& target = callee.items[1].text;
    if (!calledName(target).starts_with("globals()") && !isSympyFunction(target))
      return pythonError(call.line, fmt::format("write {}(…) for this call", calledName(target)));
    return functionCall(call, target, name);
  }
  const bool isGetattr = callee.kind == PythonKind::Call && callee.items[0].isName("getattr") &&
                         callee.keywords.empty() && callee.positionalCount() == 2 &&
                         callee.positional(1).kind == PythonKind::String;
  if (!isGetattr) return unsupportedPythonExpression(call);
  const PythonExpression& owner = callee.positional(0);
  const std::string& attribute = callee.positional(1).text;
  if (owner.kind == PythonKind::Name && !isBound(rootOf(owner.text)) && targetOfCalledName(owner.text + ".f")) {
    const std::string target = owner.text + "." + attribute;
    if (!calledName(target).starts_with("getattr("))
      return pythonError(call.line, fmt::format("write {}(…) for this call", calledName(target)));
    return functionCall(call, target, name);
  }
  KERF_TRY(auto object, lower(owner));
  return methodCall(call, std::move(object), attribute, name);
}

Result<Argument> ExpressionLowering::call(const PythonExpression& call, std::string_view name) {
  const PythonExpression& callee = call.items.front();
  if (const std::string path = modulePath(callee); !path.empty()) {
    KERF_TRY(auto args, positional(call));
    KERF_TRY(auto kwargs, keywords(call));
    return Argument(addNode(Opcode::CallModule, path, std::move(args), std::move(kwargs), name));
  }
  if (callee.kind == PythonKind::Name) return callNamed(call, callee.text, name);
  if (callee.kind != PythonKind::Attribute) return attributeCall(call, name);
  KERF_TRY(auto object, lower(callee.items.front()));
  return methodCall(call, std::move(object), callee.text, name);
}

Result<Argument> ExpressionLowering::callNamed(const PythonExpression& call, std::string_view callee,
                                               std::string_view name) {
  const std::string_view root = rootOf(callee);
  if (root.size() < callee.size() && isBound(root)) {
    const std::size_t dot = callee.rfind('.');
    KERF_TRY(Argument object, local(m_locals.at(std::string(root)), call.line));
    if (dot > root.size()) {
      KERF_TRY(object, attributes(object, callee.substr(root.size() + 1, dot - root.size() - 1), {}));
    }
    return methodCall(call, std::move(object), std::string(callee.substr(dot + 1)), name);
  }
  auto target = targetOfCalledName(callee);
  if (!target && root.size() < callee.size()) {
    KERF_CHECK(undefined(root, call.line));
    return callNamed(call, callee, name);
  }
  if (!target) return undefinedPythonName(root, call.line);
  return functionCall(call, std::move(*target), name);
}

}  // namespace kerf::inline ir
