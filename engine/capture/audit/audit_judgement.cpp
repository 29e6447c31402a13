// What a name may be used for, and which may be called.
#include <algorithm>
#include <array>
#include <span>

#include "engine/capture/audit/audit_expressions.h"
#include "engine/capture/audit/audit_module_lines.h"
#include "engine/ir/annotation_type.h"
#include "engine/ir/python_expression.h"
#include "engine/ir/sympy_functions.h"

namespace kerf::inline capture {
namespace {

constexpr std::array<std::string_view, 6> readerMethods = {"storage", "tensor",      "symint",
                                                           "const",   "unsupported", "generator"};
constexpr std::array<std::string_view, 14> plainValues = {
    "inf",     "nan", "Ellipsis", "NotImplemented", "int",  "bool",   "float",
    "complex", "str", "list",     "tuple",          "dict", "device", "slice"};
constexpr std::array<std::string_view, 12> torchValues = {"torch.quint8",
                                                          "torch.qint8",
                                                          "torch.qint32",
                                                          "torch.quint4x2",
                                                          "torch.quint2x4",
                                                          "torch.bits8",
                                                          "torch.bits16",
                                                          "torch.per_tensor_affine",
                                                          "torch.per_channel_affine",
                                                          "torch.default_generator",
                                                          "torch.Generator",
                                                          "torch.nn.Module"};

/// Functions that a guard of an exported program calls.
constexpr auto guardFunctions =
    std::to_array<std::string_view>({"abs", "bool", "float", "int", "len", "max", "min", "round"});

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// "s0", "u12", "zf3": how PyTorch calls symbolic sizes and floats.
bool isSizeSymbol(std::string_view name) {
  for (const std::string_view prefix : {"zuf", "zf", "s", "u"})
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos)
      return true;
  return false;
}

std::string_view rootOf(std::string_view path) { return path.substr(0, path.find('.')); }
std::string_view lastOf(std::string_view path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

bool AuditExpressions::isExtra(const std::string& path) const {
  return std::ranges::any_of(m_extra, [&](std::string target) {
    if (isForbiddenCall(target)) return false;
    if (target == path) return true;
    std::ranges::replace(target, '.', '_');
    return target == path;
  });
}

bool AuditExpressions::mayReadAttribute(std::string_view name) const {
  return isAllowedAttribute(name) || (!isForbiddenCall(name) && isExtra(std::string(name)));
}

/// Whether a local's attributes, `path` from its root on, hold data.
bool AuditExpressions::mayRead(std::string_view path) const {
  const std::string_view root = rootOf(path);
  if (root.size() == path.size()) return true;
  path.remove_prefix(root.size() + 1);
  if (root == "self") return isAllowedSelfPath(path);
  for (;; path.remove_prefix(rootOf(path).size() + 1)) {
    if (!mayReadAttribute(rootOf(path))) return false;
    if (path.find('.') == std::string_view::npos) return true;
  }
}

/// `path` from "self" on. What __init__ made is called if it is a module; in text without __init__ that is not known.
bool AuditExpressions::mayCallSelf(std::string_view path) const {
  path.remove_prefix(std::min(path.size(), std::string_view("self.").size()));
  if (place == AuditPlace::Init) return path == "register_buffer" || path == "register_parameter";
  for (std::size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
    const auto made = bound.find(std::string(path.substr(0, dot)));
    if (made != bound.end() && !made->second) return false;
    if (dot == std::string_view::npos) return isAllowedSelfCall(path);
  }
}

bool AuditExpressions::mayCallLocal(std::string_view path) const {
  const std::string_view root = rootOf(path), last = lastOf(path);
  if (root.size() == path.size()) return false;
  if (place == AuditPlace::Loader && root == "reader")
    return path.size() == root.size() + 1 + last.size() && (has(readerMethods, last) || last == "opaque");
  if (root == "self") return mayCallSelf(path);
  if (!mayRead(path.substr(0, path.size() - last.size() - 1))) return false;
  if (place == AuditPlace::Guard) return isGuardMethod(last);
  return isAllowedMethod(last) || isExtra(std::string(last));
}

bool AuditExpressions::mayCallInGuard(std::string_view path) const {
  return has(guardFunctions, path) || (path.starts_with("math.") && isAllowedFunction(path)) || isSympyFunction(path);
}

/// Whether what calls it finds a graph, or something that cannot be called.
bool AuditExpressions::isSubgraph(const AuditValue& value) const {
  if (value.kind == AuditValue::Kind::Literal) return true;
  return value.kind == AuditValue::Kind::Path && (value.path.starts_with("self.") || subgraphs.contains(value.path));
}

bool AuditExpressions::mayCallGlobal(const std::string& path) const {
  if (place == AuditPlace::Guard) return mayCallInGuard(path);
  if (path.find('.') == std::string::npos && (classes.contains(path) || isSympyFunction(path))) return true;
  if (place == AuditPlace::Init && isAllowedModule(path)) return true;
  if (place == AuditPlace::Main && path == "run_repro") return true;
  if (place == AuditPlace::Forward &&
      (path == "fx_pytree.tree_flatten_spec" || path == "pytree.tree_leaves" || path == "pytree.tree_unflatten"))
    return true;
  if (isAllowedFunction(path)) return true;
  if (path.starts_with("_operator_")) return isAllowedFunction("operator." + path.substr(10));
  if (path.starts_with("_operator.")) return isAllowedFunction(path.substr(1));
  if (path.starts_with("math_")) return isAllowedFunction("math." + path.substr(5));
  return path.find('.') == std::string::npos && isAllowedFunction("builtins." + path);
}

Result<void> AuditExpressions::checkCallee(const AuditValue& callee) const {
  const bool isKnown =
      place == AuditPlace::Guard ? isGuardMethod(callee.path) : isAllowedMethod(callee.path) || isExtra(callee.path);
  const bool isMethod = callee.kind == AuditValue::Kind::Method && isKnown;
  if (isMethod) return {};
  if (callee.kind != AuditValue::Kind::Path)
    return auditError(callee.line, callee.kind == AuditValue::Kind::Method ? fmt::format("the method '{}'", callee.path)
                                                                           : "a call of a value");
  const bool isLocal = locals.contains(std::string(rootOf(callee.path)));
  if (isLocal ? mayCallLocal(callee.path) : mayCallGlobal(callee.path) || isExtra(callee.path)) return {};
  return auditError(callee.line, fmt::format("a call of '{}'", callee.path));
}

Result<void> AuditExpressions::use(const AuditValue& value) const {
  if (value.kind == AuditValue::Kind::Method && !mayReadAttribute(value.path))
    return auditError(value.line, fmt::format("the attribute '{}'", value.path));
  if (value.kind != AuditValue::Kind::Path) return {};
  const std::string& path = value.path;
  const bool isPlain = path.find('.') == std::string::npos;
  if (locals.contains(std::string(rootOf(path)))) {
    if (mayRead(path)) return {};
    return auditError(value.line, fmt::format("the attribute '{}'", path));
  }
  if (isPlain && isSizeSymbol(path)) return {};  // one that nothing defines is a NameError, as in the capture
  if (place == AuditPlace::Guard && !pythonConstant(path))
    return auditError(value.line, fmt::format("the name '{}'", path));
  if (isPlain && (globals.contains(path) || has(plainValues, path) || isAllowedFunction("builtins." + path))) return {};
  if (pythonConstant(path) || has(torchValues, path) || isAnnotationType(path) || isAllowedFunction(path)) return {};
  return auditError(value.line, fmt::format("the name '{}'", path));
}

Result<void> AuditExpressions::change(const std::vector<AuditValue>& targets) const {
  using Kind = AuditValue::Kind;
  const AuditValue& target = targets[0];
  const bool isLocal =
      target.kind == Kind::Path && locals.contains(std::string(rootOf(target.path))) && place == AuditPlace::Forward;
  if (targets.size() == 1 && (isLocal || target.kind == Kind::Item)) return use(target);
  return auditError(target.line, fmt::format("a change of '{}'", target.path));
}

Result<void> AuditExpressions::bind(const AuditValue& target, const AuditValue* value) {
  using Kind = AuditValue::Kind;
  if (target.kind == Kind::Empty || target.kind == Kind::Item) return {};
  if (target.kind == Kind::Path && target.path.starts_with("self.") && place == AuditPlace::Init)
    return bindAttribute(target, value);
  const bool isName = target.kind == Kind::Path && target.path.find('.') == std::string::npos;
  if (!isName || isReservedLocal(target.path))
    return auditError(target.line, fmt::format("an assignment to '{}'", target.path));
  locals.insert(target.path);
  subgraphs.erase(target.path);
  const bool isAttribute = value != nullptr && value->kind == Kind::Path && value->path.starts_with("self.");
  if (isAttribute) subgraphs.insert(target.path);
  return {};
}

/// __init__ makes modules, tensors and literals; no name of a function or of a module of Python.
Result<void> AuditExpressions::bindAttribute(const AuditValue& target, const AuditValue* value) {
  using Kind = AuditValue::Kind;
  const std::string path = target.path.substr(std::string_view("self.").size());
  const bool isName = value == nullptr || value->kind == Kind::Path || value->kind == Kind::Method;
  if (isName || value->kind == Kind::Item || !isAllowedSelfPath(path))
    return auditError(target.line, fmt::format("this assignment to '{}'", target.path));
  const bool isModule = value->kind == Kind::Result && (classes.contains(value->path) || isAllowedModule(value->path));
  bound[path] = isModule || value->kind == Kind::Literal;
  return {};
}

bool isSymbolText(std::string_view text) {
  if (text.find_first_of("\n#") != std::string_view::npos) return false;
  const auto tokens = auditTokens(text);
  if (!tokens) return false;
  for (std::size_t i = 0; i + 1 < tokens->size(); ++i) {
    const AuditToken& token = (*tokens)[i];
    if (token.kind == AuditKind::String || token.is(".") || token.is("[") || token.is("{") || token.is("="))
      return false;
    if (token.kind == AuditKind::Name && token.text.starts_with("__")) return false;
    const bool isCall = (*tokens)[i + 1].is("(") && (token.kind == AuditKind::Name || token.is(")"));
    const bool isWord = token.isName("and") || token.isName("or") || token.isName("not");
    if (isCall && !isWord && !(token.kind == AuditKind::Name && isSympyFunction(token.text))) return false;
  }
  return true;
}

}  // namespace kerf::inline capture
