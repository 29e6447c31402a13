// What a name may be used for, and which may be called.
#include <algorithm>
#include <array>

#include "engine/capture/repro/audit_expressions.h"
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

template <std::size_t count>
bool has(const std::array<std::string_view, count>& names, std::string_view name) {
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

bool AuditExpressions::mayCallLocal(std::string_view path) const {
  const std::string_view root = rootOf(path), last = lastOf(path);
  if (root.size() == path.size()) return false;
  if (path.substr(0, path.size() - last.size()).find(".__") != std::string_view::npos) return false;
  if (place == AuditPlace::Loader && root == "reader") return has(readerMethods, last) || last == "opaque";
  if (root == "self") return !isForbiddenCall(last);
  return isAllowedMethod(last) || isExtra(std::string(last));
}

bool AuditExpressions::mayCallGlobal(const std::string& path) const {
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
  const bool isMethod =
      callee.kind == AuditValue::Kind::Method && (isAllowedMethod(callee.path) || isExtra(callee.path));
  if (isMethod) return {};
  if (callee.kind != AuditValue::Kind::Path)
    return auditError(callee.line,
                      callee.path.empty() ? "a call of a value" : fmt::format("the method '{}'", callee.path));
  const bool isLocal = locals.contains(std::string(rootOf(callee.path)));
  if (isLocal ? mayCallLocal(callee.path) : mayCallGlobal(callee.path) || isExtra(callee.path)) return {};
  return auditError(callee.line, fmt::format("a call of '{}'", callee.path));
}

Result<void> AuditExpressions::use(const AuditValue& value) const {
  if (value.kind == AuditValue::Kind::Method && !isAllowedAttribute(value.path))
    return auditError(value.line, fmt::format("the attribute '{}'", value.path));
  if (value.kind != AuditValue::Kind::Path) return {};
  const std::string& path = value.path;
  const bool isPlain = path.find('.') == std::string::npos;
  if (locals.contains(std::string(rootOf(path)))) {
    if (path.find(".__") == std::string::npos) return {};
    return auditError(value.line, fmt::format("the attribute '{}'", path));
  }
  if (isPlain && isSizeSymbol(path)) return {};  // one that nothing defines is a NameError, as in the capture
  if (isPlain && (globals.contains(path) || has(plainValues, path) || isAllowedFunction("builtins." + path))) return {};
  if (pythonConstant(path) || has(torchValues, path) || isAllowedType(path) || isAllowedFunction(path)) return {};
  return auditError(value.line, fmt::format("the name '{}'", path));
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

bool isAllowedType(std::string_view name) { return isAnnotationType(name); }

}  // namespace kerf::inline capture
