#include "engine/capture/audit/audit_module_lines.h"

#include <algorithm>
#include <array>

#include "engine/capture/audit/audit_header.h"
#include "engine/ir/graph.h"

namespace kerf::inline capture {
namespace {

/// FX names calls of aten.__and__ and the like so, with a number where there are several ("__and__", "__and___1").
bool isOperatorName(std::string_view name) {
  static constexpr std::string_view operators[] = {"__and__",  "__or__",  "__xor__",  "__lshift__",  "__rshift__",
                                                   "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"};
  return std::ranges::any_of(operators, [&](std::string_view op) {
    return name == op ||
           (name.starts_with(op) && name.substr(op.size()).find_first_not_of("_0123456789") == std::string_view::npos);
  });
}

/// What the code of a graph is written with: FX gives no value such a name either.
constexpr std::array<std::string_view, 10> usedInForward = {"torch", "device",  "inf",     "nan",       "self",
                                                            "super", "getattr", "globals", "fx_pytree", "pytree"};
constexpr std::array<std::string_view, 10> usedInModule = {
    "tensor", "math", "os", "operator", "_operator", "fx", "reader", "run_repro", "load_args", "rand_strided"};

}  // namespace

bool isReservedLocal(std::string_view name) {
  return std::ranges::find(usedInForward, name) != usedInForward.end() ||
         (name.starts_with("__") && name.ends_with("__") && !isOperatorName(name));
}

bool isReservedGlobal(std::string_view name) {
  return isReservedLocal(name) || std::ranges::find(usedInModule, name) != usedInModule.end();
}

Result<void> AuditModuleLines::endOfLine() { return m_in.expectKind(AuditKind::Newline, "the end of the line"); }

/// The tokens up to the end of the line, with single blanks: how import lines are compared.
std::string AuditModuleLines::wholeLine() {
  std::string line;
  std::string_view before = ".";
  while (m_in.peek().kind != AuditKind::Newline && m_in.peek().kind != AuditKind::End) {
    const AuditToken token = m_in.take();
    const bool glued = before == "." || token.text == "." || token.text == ",";
    line += (glued && before != "import" ? "" : " ") + std::string(token.text);
    before = token.text;
  }
  return line;
}

Result<void> AuditModuleLines::import() {
  const int line = m_in.peek().line;
  const std::string text = wholeLine();
  if (!isAllowedImport(text)) return auditError(line, fmt::format("'{}'", text));
  const std::string names = importedNames(text);
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    const std::string name = names.substr(at, end - at);
    if (m_in.classes.contains(name) || m_in.globals.contains(name)) return auditError(line, fmt::format("'{}'", text));
    m_imported.insert(name);
    at = end + 1;
  }
  return endOfLine();
}

/// os.environ['NAME'] = 'text', os.environ.pop('NAME', None)
Result<void> AuditModuleLines::environment() {
  const int line = m_in.peek().line;
  for (const std::string_view word : {"os", ".", "environ"})
    if (m_in.take().text != word) return auditError(line, "this use of os");
  if (m_in.accept(".")) return environmentPop();
  if (!m_in.accept("[")) return auditError(line, "this use of os");
  const AuditToken name = m_in.take();
  if (!m_in.accept("]") || !m_in.accept("=")) return auditError(line, "this use of os");
  const AuditToken value = m_in.take();
  const auto key = plainString(name), text = plainString(value);
  if (!key || !text || !isAllowedEnvironment(*key, *text))
    return auditError(line, fmt::format("the environment variable {}", name.text));
  return endOfLine();
}

/// Minified repros do not dump others: behind "os.environ.".
Result<void> AuditModuleLines::environmentPop() {
  const int line = m_in.peek().line;
  const bool isPop = m_in.acceptName("pop") && m_in.accept("(");
  const auto name = plainString(m_in.take());
  if (!isPop || !name || !isAllowedEnvironment(*name, "")) return auditError(line, "this use of os");
  for (const std::string_view word : {",", "None", ")"})
    if (m_in.take().text != word) return auditError(line, "this use of os");
  return endOfLine();
}

/// torch._inductor.config.x.y = literal
Result<void> AuditModuleLines::config() {
  const int line = m_in.peek().line;
  std::string path(m_in.take().text);
  while (m_in.accept(".")) path += "." + std::string(m_in.take().text);
  if (path == "torch.manual_seed") return seed();
  if (!m_in.accept("=")) return auditError(line, fmt::format("'{}' as a statement", path));
  std::string literal;
  while (m_in.peek().kind != AuditKind::Newline) {
    const AuditToken token = m_in.take();
    const bool isWord = token.isName("None") || token.isName("True") || token.isName("False");
    const bool isMark =
        token.kind == AuditKind::Operator && std::string_view("()[]{},:-+").find(token.text) != std::string_view::npos;
    const bool isValue = token.kind == AuditKind::Number || plainString(token);
    if (!isWord && !isMark && !isValue)
      return auditError(line, fmt::format("a value of {} that is not a literal", path));
    literal += token.text;
  }
  if (!isAllowedConfig(path, literal)) return auditError(line, fmt::format("an assignment to {}", path));
  return endOfLine();
}

/// torch.manual_seed(0): behind the name.
Result<void> AuditModuleLines::seed() {
  KERF_CHECK(m_in.expect("("));
  KERF_CHECK(m_in.expectKind(AuditKind::Number, "a number"));
  KERF_CHECK(m_in.expect(")"));
  return endOfLine();
}

/// load_args._version = 0: behind the name.
Result<void> AuditModuleLines::version(int line) {
  if (!m_in.acceptName("_version")) return auditError(line, "an attribute of load_args");
  KERF_CHECK(m_in.expect("="));
  KERF_CHECK(m_in.expectKind(AuditKind::Number, "a number"));
  return endOfLine();
}

/// s0 = 8; math_floor = math.floor; mod = Repro()
Result<void> AuditModuleLines::assignment() {
  const int line = m_in.peek().line;
  const AuditToken target = m_in.take();
  if (target.isName("load_args") && m_in.accept(".")) return version(line);
  if (target.kind != AuditKind::Name || !isPythonIdentifier(target.text) || isReservedGlobal(target.text))
    return auditError(line, fmt::format("'{}' at the start of a line", target.text.substr(0, 60)));
  KERF_CHECK(m_in.expect("="));
  const std::string name(target.text);
  if (m_in.peek().isName("math") && name.starts_with("math_")) return mathFunction(name.substr(5));
  if (isCalledByName(name) || m_in.classes.contains(name) || m_imported.contains(name))
    return auditError(line, fmt::format("an assignment to '{}'", name));
  if (m_in.acceptName("None")) return assigned(name, "None", line);
  const std::string sign = m_in.accept("-") ? "-" : "";
  const AuditToken last = m_in.take();
  const std::string value = sign + std::string(last.text);
  if (last.kind == AuditKind::Number) return assigned(name, value, line);
  const bool isClass = last.kind == AuditKind::Name && m_in.classes.contains(value);
  if (!isClass || !m_in.accept("(") || !m_in.accept(")"))
    return auditError(line, fmt::format("the value of '{}'", name));
  return assigned(name, value, line);
}

/// A name has one value in the whole file: readers take the first, Python the last.
Result<void> AuditModuleLines::assigned(const std::string& name, const std::string& value, int line) {
  const auto [known, isNew] = m_in.globals.emplace(name, value);
  if (!isNew && known->second != value) return auditError(line, fmt::format("another value of '{}'", name));
  return endOfLine();
}

/// math_floor = math.floor, how FX's code calls it.
Result<void> AuditModuleLines::mathFunction(std::string_view name) {
  const int line = m_in.peek().line;
  m_in.take();
  if (!m_in.accept(".") || m_in.peek().text != name || !isAllowedFunction(fmt::format("math.{}", name)))
    return auditError(line, fmt::format("the value of 'math_{}'", name));
  m_in.take();
  return endOfLine();
}

Result<void> AuditModuleLines::line() {
  const AuditToken& first = m_in.peek();
  if (first.isName("import") || first.isName("from")) return import();
  if (first.isName("os")) return environment();
  if (first.isName("torch")) return config();
  return assignment();
}

}  // namespace kerf::inline capture
