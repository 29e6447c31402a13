#include "engine/capture/repro/auditor.h"

#include <algorithm>
#include <array>

#include "engine/capture/repro/audit_expressions.h"
#include "engine/capture/repro/audit_header.h"
#include "engine/ir/graph.h"

namespace kerf::inline capture {
namespace {

/// FX names calls of aten.__and__ and the like so, with a number where there are several ("__and__", "__and___1").
bool isOperatorName(std::string_view name) {
  static constexpr std::string_view operators[] = {"__and__",    "__or__",     "__xor__",  "__lshift__",
                                                   "__rshift__", "__iand__",   "__ior__",  "__ixor__",
                                                   "__ilshift__", "__irshift__"};
  return std::ranges::any_of(operators, [&](std::string_view op) {
    return name == op ||
           (name.starts_with(op) && name.substr(op.size()).find_first_not_of("_0123456789") == std::string_view::npos);
  });
}

/// Names that no file may give another meaning: expressions are judged by them.
bool isReserved(std::string_view name) {
  static const AuditNames names = {"torch",     "device",    "tensor",  "math",  "os",      "operator",    "_operator",
                                   "fx",        "fx_pytree", "pytree",  "inf",   "nan",     "self",        "reader",
                                   "run_repro", "load_args", "globals", "super", "getattr", "rand_strided"};
  return names.contains(std::string(name)) || (name.starts_with("__") && !isOperatorName(name));
}

class Auditor {
 public:
  Auditor(const std::vector<AuditToken>& tokens, const ExtraCalls& extra) : m_in(tokens, extra) {}

  Result<void> module() {
    while (m_in.peek().kind != AuditKind::End) KERF_CHECK(topLevel());
    return {};
  }

  Result<void> moduleRepr() {
    m_in.place = AuditPlace::Init;
    KERF_CHECK(m_in.value());
    KERF_CHECK(m_in.expectKind(AuditKind::Newline, "the end of the line"));
    return m_in.expectKind(AuditKind::End, "the end of the text");
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

  /// The tokens up to the end of the line, with single blanks: how import lines are compared.
  std::string wholeLine() {
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

  Result<void> import() {
    const int line = m_in.peek().line;
    const std::string text = wholeLine();
    if (!isAllowedImport(text)) return auditError(line, fmt::format("'{}'", text));
    const std::string names = importedNames(text);
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(' ', at), names.size());
      m_imported.insert(names.substr(at, end - at));
      at = end + 1;
    }
    return endOfLine();
  }

  Result<void> topLevel() {
    const AuditToken& first = m_in.peek();
    m_in.place = AuditPlace::Module;
    m_in.locals.clear();
    if (first.isName("import") || first.isName("from")) return import();
    if (first.isName("class")) return classDefinition();
    if (first.isName("def")) return loader();
    if (first.isName("if")) return mainBlock();
    if (first.isName("os")) return environment();
    if (first.isName("torch")) return config();
    return assignment();
  }

  /// os.environ['NAME'] = 'text'
  Result<void> environment() {
    const int line = m_in.peek().line;
    for (const std::string_view word : {"os", ".", "environ", "["})
      if (m_in.take().text != word) return auditError(line, "this use of os");
    const AuditToken name = m_in.take();
    if (!m_in.accept("]") || !m_in.accept("=")) return auditError(line, "this use of os");
    const AuditToken value = m_in.take();
    const auto key = plainString(name), text = plainString(value);
    if (!key || !text || !isAllowedEnvironment(*key, *text))
      return auditError(line, fmt::format("the environment variable {}", name.text));
    return endOfLine();
  }

  /// torch._inductor.config.x.y = literal
  Result<void> config() {
    const int line = m_in.peek().line;
    std::string path(m_in.take().text);
    while (m_in.accept(".")) path += "." + std::string(m_in.take().text);
    if (!m_in.accept("=")) return auditError(line, fmt::format("'{}' as a statement", path));
    std::string literal;
    while (m_in.peek().kind != AuditKind::Newline) {
      const AuditToken token = m_in.take();
      const bool isWord = token.isName("None") || token.isName("True") || token.isName("False");
      const bool isMark = token.kind == AuditKind::Operator &&
                          std::string_view("()[]{},:-+").find(token.text) != std::string_view::npos;
      const bool isValue = token.kind == AuditKind::Number || plainString(token);
      if (!isWord && !isMark && !isValue)
        return auditError(line, fmt::format("a value of {} that is no literal", path));
      literal += token.text;
    }
    if (!isAllowedConfig(path, literal)) return auditError(line, fmt::format("an assignment to {}", path));
    return endOfLine();
  }

  /// s0 = 8; math_floor = math.floor; mod = Repro(); load_args._version = 0
  Result<void> assignment() {
    const int line = m_in.peek().line;
    const AuditToken target = m_in.take();
    if (target.isName("load_args") && m_in.accept(".")) {
      if (!m_in.acceptName("_version")) return auditError(line, "an attribute of load_args");
      KERF_CHECK(m_in.expect("="));
      KERF_CHECK(m_in.expectKind(AuditKind::Number, "a number"));
      return endOfLine();
    }
    if (target.kind != AuditKind::Name || !isPythonIdentifier(target.text) || isReserved(target.text))
      return auditError(line, fmt::format("'{}' at the start of a line", target.text.substr(0, 60)));
    KERF_CHECK(m_in.expect("="));
    if (m_in.acceptName("None")) return endOfLine();
    m_in.accept("-");
    if (m_in.peek().kind == AuditKind::Number) {
      m_in.take();
      m_in.globals.insert(std::string(target.text));
      return endOfLine();
    }
    const AuditToken value = m_in.take();
    const bool isMath = value.isName("math") && target.text.starts_with("math_") && m_in.accept(".");
    if (isMath && m_in.peek().text == target.text.substr(5) &&
        isAllowedFunction("math." + std::string(m_in.peek().text))) {
      m_in.take();
      return endOfLine();
    }
    if (!m_in.classes.contains(std::string(value.text)) || !m_in.accept("(") || !m_in.accept(")"))
      return auditError(line, fmt::format("the value of '{}'", target.text));
    m_in.globals.insert(std::string(target.text));
    return endOfLine();
  }

  Result<void> classDefinition() {
    m_in.take();
    KERF_TRY(const std::string className, name());
    if (isReserved(className) || m_imported.contains(className)) return auditError(m_in.peek().line, "this class");
    for (const std::string_view word : {"(", "torch", ".", "nn", ".", "Module", ")"})
      if (m_in.take().text != word) return auditError(m_in.peek().line, "a class that is no torch.nn.Module");
    KERF_CHECK(block(&Auditor::method));
    m_in.classes.insert(className);
    return {};
  }

  Result<void> method() {
    if (m_in.acceptName("pass")) return endOfLine();
    if (!m_in.acceptName("def")) return m_in.refuse("a method");
    const AuditToken which = m_in.take();
    m_in.locals = {"self"};
    const bool isInit = which.isName("__init__");
    if (!isInit && !which.isName("forward")) return auditError(which.line, fmt::format("the method '{}'", which.text));
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
    if (isReserved(parameter))
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
      for (const AuditValue& value : values) KERF_CHECK(m_in.use(value));
      return m_in.value();
    }
    std::vector<AuditValue> targets;
    while (m_in.accept("=")) {
      targets.insert(targets.end(), values.begin(), values.end());
      KERF_TRY(values, m_in.list());
    }
    for (const AuditValue& value : values) KERF_CHECK(m_in.use(value));
    for (const AuditValue& target : targets) KERF_CHECK(bind(target));
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
    if (m_in.accept("=")) KERF_CHECK(m_in.value());
    return bind(targets[0]);
  }

  Result<void> bind(const AuditValue& target) {
    using Kind = AuditValue::Kind;
    if (target.kind == Kind::Empty || target.kind == Kind::Item) return {};
    const bool isSelf = target.path.starts_with("self.") && m_in.place == AuditPlace::Init &&
                        target.path.find(".__") == std::string::npos;
    const bool isName = target.kind == Kind::Path && target.path.find('.') == std::string::npos;
    if (target.kind != Kind::Path || (!isSelf && (!isName || isReserved(target.path))))
      return auditError(target.line, fmt::format("an assignment to '{}'", target.path));
    if (isName) m_in.locals.insert(target.path);
    return {};
  }

  Result<void> loader() {
    for (const std::string_view word : {"def", "load_args", "(", "reader", ")"})
      if (m_in.take().text != word) return auditError(m_in.peek().line, "a function other than load_args(reader)");
    m_in.place = AuditPlace::Loader;
    m_in.locals = {"reader"};
    KERF_CHECK(block(&Auditor::statements));
    m_in.globals.insert("load_args");
    return {};
  }

  /// if __name__ == '__main__': the import of run_repro, with torch.no_grad(): run_repro(…)
  Result<void> mainBlock() {
    m_in.take();
    const bool isMain = m_in.acceptName("__name__") && m_in.accept("==") && plainString(m_in.peek()) == "__main__";
    if (!isMain) return m_in.refuse("__name__ == '__main__'");
    m_in.take();
    m_in.place = AuditPlace::Main;
    return block(&Auditor::mainStatement);
  }

  Result<void> mainStatement() {
    if (m_in.peek().isName("from")) return import();
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
  AuditNames m_imported;
};

}  // namespace

Result<void> auditExport(std::string_view text, const ExtraCalls& extra) {
  const std::string unknown = withoutKnownBlocks(text);
  KERF_TRY(const auto tokens, auditTokens(unknown));
  return Auditor(tokens, extra).module();
}

bool isAllowedBlock(std::string_view block) { return auditExport(block).has_value(); }

bool isAllowedModuleRepr(std::string_view repr) {
  const std::string line = std::string(repr) + "\n";
  const auto tokens = auditTokens(line);
  return tokens && Auditor(*tokens, {}).moduleRepr().has_value();
}

}  // namespace kerf::inline capture
