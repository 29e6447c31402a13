#include "engine/capture/audit/auditor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/capture/audit/audit_expressions.h"
#include "engine/capture/audit/audit_header.h"
#include "engine/capture/audit/audit_module_lines.h"
#include "engine/ir/graph.h"

namespace kerf::inline capture {
namespace {

class Auditor {
 public:
  Auditor(const std::vector<AuditToken>& tokens, const ExtraCalls& extra) : m_in(tokens, extra) {}

  Result<void> module() {
    while (m_in.peek().kind != AuditKind::End) KERF_CHECK(topLevel());
    return {};
  }

  /// One expression and nothing else.
  Result<void> expression(AuditPlace place, AuditNames locals = {}) {
    m_in.place = place;
    m_in.locals = std::move(locals);
    KERF_CHECK(m_in.value());
    KERF_CHECK(endOfLine());
    return m_in.expectKind(AuditKind::End, "the end of the text");
  }

  /// Classes, which may hold others.
  Result<void> graphCode() {
    m_isReadable = m_in.anyTypeText = true;
    while (m_in.peek().kind != AuditKind::End) KERF_CHECK(graphClass());
    return {};
  }

 private:
  using Body = Result<void> (Auditor::*)();

  Result<void> endOfLine() { return m_in.expectKind(AuditKind::Newline, "the end of the line"); }

  Result<std::string> name() {
    const AuditToken token = m_in.take();
    if (token.kind == AuditKind::Name && isPythonIdentifier(token.text)) return std::string(token.text);
    return auditError(token.line, fmt::format("'{}' as a name", token.text));
  }

  /// ':' and the lines indented below.
  Result<void> block(Body statement) {
    KERF_CHECK(m_in.expect(":"));
    KERF_CHECK(endOfLine());
    KERF_CHECK(m_in.expectKind(AuditKind::Indent, "an indented block"));
    while (m_in.peek().kind != AuditKind::Dedent) KERF_CHECK((this->*statement)());
    m_in.take();
    return {};
  }

  Result<void> topLevel() {
    const AuditToken& first = m_in.peek();
    m_in.place = AuditPlace::Module;
    m_in.locals.clear();
    if (first.isName("class")) return classDefinition();
    if (first.isName("def")) return loader();
    if (first.isName("if")) return mainBlock();
    return m_lines.line();
  }

  Result<void> classDefinition() {
    m_in.take();
    KERF_TRY(const std::string className, name());
    const bool isTaken =
        m_lines.imported(className) || m_in.globals.contains(className) || m_in.classes.contains(className);
    if (isTaken || isReservedGlobal(className) || isCalledByName(className))
      return auditError(m_in.peek().line, fmt::format("a class '{}', which is another thing already", className));
    KERF_CHECK(moduleBase());
    KERF_CHECK(classBlock());
    m_in.classes.insert(className);
    return {};
  }

  /// A class binds each of its methods once: Python would take the last, and readers the first.
  Result<void> classBlock() {
    m_in.bound.clear();
    m_hasForward = m_hasInit = false;
    return block(&Auditor::method);
  }

  /// print_readable gives a class any name, also one that is none to Python ("<lambda>", "layers.0").
  Result<void> graphClass() {
    if (!m_in.acceptName("class")) return m_in.refuse("a class");
    while (!m_in.peek().is("(")) {
      const AuditToken part = m_in.take();
      const bool isPart = part.kind == AuditKind::Name || part.kind == AuditKind::Number || part.is(".") ||
                          part.is("<") || part.is(">");
      if (!isPart) return auditError(part.line, "this name of a class");
    }
    KERF_CHECK(moduleBase());
    return classBlock();
  }

  Result<void> moduleBase() {
    for (const std::string_view word : {"(", "torch", ".", "nn", ".", "Module", ")"})
      if (m_in.take().text != word) return auditError(m_in.peek().line, "a class that is not a torch.nn.Module");
    return {};
  }

  Result<void> method() {
    if (m_isReadable && m_in.peek().isName("class")) return graphClass();
    if (m_in.acceptName("pass")) return endOfLine();
    if (!m_in.acceptName("def")) return m_in.refuse("a method");
    const AuditToken which = m_in.take();
    m_in.locals = {"self"};
    m_in.subgraphs.clear();
    const bool isInit = which.isName("__init__");
    if (!isInit && !which.isName("forward")) return auditError(which.line, fmt::format("the method '{}'", which.text));
    if (m_hasForward || (isInit && m_hasInit)) return auditError(which.line, fmt::format("'{}' again", which.text));
    (isInit ? m_hasInit : m_hasForward) = true;
    m_in.place = isInit ? AuditPlace::Init : AuditPlace::Forward;
    KERF_CHECK(m_in.expect("("));
    if (!m_in.acceptName("self")) return m_in.refuse("'self'");
    while (m_in.accept(",") && !m_in.peek().is(")")) KERF_CHECK(parameter());
    KERF_CHECK(m_in.expect(")"));
    if (m_in.accept("->")) KERF_CHECK(m_in.annotation());
    m_in.place = isInit ? AuditPlace::Init : AuditPlace::Forward;
    return block(&Auditor::statements);
  }

  Result<void> parameter() {
    if (!m_in.accept("**")) m_in.accept("*");
    KERF_TRY(std::string parameter, name());
    if (isReservedLocal(parameter))
      return auditError(m_in.peek().line, fmt::format("the name '{}' for an input", parameter));
    if (m_in.accept(":")) KERF_CHECK(m_in.annotation());
    if (m_in.accept("=")) KERF_CHECK(m_in.value());
    m_in.locals.insert(std::move(parameter));
    return {};
  }

  Result<void> statements() {
    do {
      if (m_in.peek().kind == AuditKind::Newline) break;
      KERF_CHECK(statement());
    } while (m_in.accept(";"));
    return endOfLine();
  }

  Result<void> statement() {
    if (m_in.acceptName("pass")) return {};
    if (m_in.acceptName("return")) return returned();
    if (m_in.place == AuditPlace::Init && m_in.peek().isName("super")) {
      for (const std::string_view word : {"super", "(", ")", ".", "__init__", "(", ")"})
        if (m_in.take().text != word) return m_in.refuse("super().__init__()");
      return {};
    }
    KERF_TRY(std::vector<AuditValue> values, m_in.list());
    if (m_in.accept(":")) return annotated(values);
    if (m_in.peek().kind == AuditKind::Operator && m_in.peek().text.size() >= 2 && m_in.peek().text.ends_with('=') &&
        !m_in.peek().is("==")) {
      m_in.take();
      KERF_CHECK(m_in.change(values));
      return m_in.value();
    }
    std::vector<AuditValue> targets;
    while (m_in.accept("=")) {
      targets.insert(targets.end(), values.begin(), values.end());
      KERF_TRY(values, m_in.list());
    }
    for (const AuditValue& value : values) KERF_CHECK(m_in.use(value));
    const AuditValue* alone = values.size() == 1 ? &values[0] : nullptr;
    for (const AuditValue& target : targets) KERF_CHECK(m_in.bind(target, alone));
    return {};
  }

  Result<void> returned() {
    if (m_in.place == AuditPlace::Loader || m_in.peek().kind == AuditKind::Newline) return {};
    KERF_TRY(const std::vector<AuditValue> values, m_in.list());
    for (const AuditValue& value : values) KERF_CHECK(m_in.use(value));
    return {};
  }

  Result<void> annotated(const std::vector<AuditValue>& targets) {
    KERF_CHECK(m_in.annotation());
    if (targets.size() != 1) return m_in.refuse("one name");
    if (!m_in.accept("=")) return m_in.bind(targets[0], nullptr);
    KERF_TRY(const std::vector<AuditValue> values, m_in.list());
    for (const AuditValue& value : values) KERF_CHECK(m_in.use(value));
    return m_in.bind(targets[0], values.size() == 1 ? &values[0] : nullptr);
  }

  Result<void> loader() {
    if (m_in.globals.contains("load_args")) return auditError(m_in.peek().line, "load_args again");
    for (const std::string_view word : {"def", "load_args", "(", "reader", ")"})
      if (m_in.take().text != word) return auditError(m_in.peek().line, "a function other than load_args(reader)");
    m_in.place = AuditPlace::Loader;
    m_in.locals = {"reader"};
    KERF_CHECK(block(&Auditor::statements));
    m_in.globals.emplace("load_args", std::string());
    return {};
  }

  /// if __name__ == '__main__': the import of run_repro, with torch.no_grad(): run_repro(…)
  Result<void> mainBlock() {
    m_in.take();
    if (std::exchange(m_hasMain, true)) return auditError(m_in.peek().line, "a second main block");
    const bool isMain = m_in.acceptName("__name__") && m_in.accept("==") && plainString(m_in.peek()) == "__main__";
    if (!isMain) return m_in.refuse("__name__ == '__main__'");
    m_in.take();
    m_in.place = AuditPlace::Main;
    return block(&Auditor::mainStatement);
  }

  Result<void> mainStatement() {
    if (m_in.peek().isName("from")) return m_lines.import();
    if (m_in.acceptName("with")) {
      for (const std::string_view word : {"torch", ".", "no_grad", "(", ")"})
        if (m_in.take().text != word) return m_in.refuse("torch.no_grad()");
      return block(&Auditor::mainStatement);
    }
    if (!m_in.peek().isName("run_repro") || !m_in.peek(1).is("(")) return m_in.refuse("run_repro(…)");
    KERF_CHECK(m_in.value());
    return endOfLine();
  }

  AuditExpressions m_in;
  AuditModuleLines m_lines{m_in};
  bool m_isReadable = false, m_hasMain = false;
  bool m_hasForward = false, m_hasInit = false;  ///< the class that is read
};

}  // namespace

Result<void> auditExport(std::string_view text, const ExtraCalls& extra) {
  const std::string unknown = withoutKnownBlocks(text);
  KERF_TRY(const auto tokens, auditTokens(unknown));
  return Auditor(tokens, extra).module();
}

bool isAllowedBlock(std::string_view block) { return auditExport(block).has_value(); }

Result<void> auditGraphCode(std::string_view text, const ExtraCalls& extra) {
  // What print_readable calls a graph without a name; no Python, so nothing runs it.
  constexpr std::string_view unnamed = "class <lambda>(", named = "class _lambda_(";
  std::string known(text);
  for (std::size_t at = known.find(unnamed); at != std::string::npos; at = known.find(unnamed, at))
    known.replace(at, unnamed.size(), named);
  KERF_TRY(const auto tokens, auditTokens(known));
  return Auditor(tokens, extra).graphCode();
}

namespace {

bool isExpression(std::string_view text, AuditPlace place, AuditNames locals = {}) {
  const std::string line = std::string(text) + "\n";
  const auto tokens = auditTokens(line);
  return tokens && Auditor(*tokens, {}).expression(place, std::move(locals)).has_value();
}

}  // namespace

bool isAllowedName(std::string_view text) { return isExpression(text, AuditPlace::Forward); }

bool isAllowedCondition(std::string_view text, const std::vector<std::string>& names) {
  return isExpression(text, AuditPlace::Guard, {names.begin(), names.end()});
}

bool isAllowedModuleRepr(std::string_view repr) {
  const std::string text =
      fmt::format("class A(torch.nn.Module):\n    def __init__(self):\n        self.a = {}\n", repr);
  return repr.find('\n') == std::string_view::npos && auditExport(text).has_value();
}

}  // namespace kerf::inline capture
