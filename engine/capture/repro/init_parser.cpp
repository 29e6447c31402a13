#include "engine/capture/repro/init_parser.h"

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/common/tensor_literal.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view bufferCall = "self.register_buffer(";
constexpr std::string_view dictionaryItem = "self.__dict__[";
constexpr std::string_view parameterCall = "self.register_parameter(";

bool isDottedName(std::string_view path) {
  for (;;) {
    const std::size_t dot = path.find('.');
    if (!isPythonIdentifier(path.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    path.remove_prefix(dot + 1);
  }
}

class InitParser {
 public:
  InitParser(const NestedModules& nested, const ImportLimits& limits, GraphModule& module, std::size_t& lost)
      : m_nested(nested), m_limits(limits), m_module(module), m_lost(lost) {}

  Result<void> statement(std::string_view text, int line) {
    text = trimmed(text);
    if (text.starts_with("super()") || text.starts_with("super(") || text == "pass") return {};
    if (text.starts_with(bufferCall) || text.starts_with(parameterCall)) return registered(text, line);
    if (text.starts_with("self.")) return assigned(text, line);
    return failAtLine(line, "this line of __init__ is not understood");
  }

 private:
  Result<void> registered(std::string_view text, int line) {
    PythonLexer lexer(text, line);
    KERF_TRY(const CallSyntax call, parseCall(lexer));
    KERF_CHECK(expectEnd(lexer));
    const CallArgument* name = call.find(0, "name");
    const CallArgument* value = call.find(1, call.function.ends_with("buffer") ? "tensor" : "param");
    if (name == nullptr || value == nullptr)
      return failAtLine(line, fmt::format("{} needs a name and a tensor", call.function));
    KERF_TRY(const std::string path, stringOf(name->value));
    if (value->value.isNone()) return {};
    return add(path, value->value, value->text, !text.starts_with(bufferCall));
  }

  /// Nothing but a comment stands behind a statement.
  static Result<void> expectEnd(const PythonLexer& lexer) {
    const PythonTokenKind next = lexer.peek().kind;
    if (next == PythonTokenKind::End || next == PythonTokenKind::Newline || next == PythonTokenKind::Comment) return {};
    return fail(lexer.errorHere("the end of the line"));
  }

  Result<void> assigned(std::string_view text, int line) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return failAtLine(line, "this line of __init__ is not understood");
    if (text.starts_with(dictionaryItem)) return item(text, line);
    const std::string_view target = text.substr(5, equals - 5);
    const std::string path(trimmed(target.substr(0, target.find(':'))));  // `self.w: Tensor = …`
    if (!isDottedName(path))
      return failAtLine(line, fmt::format("'self.{}' is not an attribute that __init__ can set", path.substr(0, 60)));
    return assign(path, trimmed(text.substr(equals + 1)), line);
  }

  /// `self.__dict__['0'] = …`: attributes whose names are no identifiers.
  Result<void> item(std::string_view text, int line) {
    const std::string_view key = text.substr(dictionaryItem.size() - 1);  // from the bracket
    PythonLexer lexer(key, line);
    KERF_TRY(const PythonExpression names, PythonParser(lexer).expression());
    if (names.kind != PythonKind::List || names.items.size() != 1 || !lexer.peek().is("="))
      return failAtLine(line, "this line of __init__ is not understood");
    KERF_TRY(const std::string path, stringOf(names.items[0]));
    return assign(path, trimmed(key.substr(lexer.offset() + 1)), line);
  }

  Result<void> assign(const std::string& path, std::string_view value, int line) {
    if (value.empty()) return failAtLine(line, fmt::format("nothing is assigned to 'self.{}'", path));
    const auto known = m_nested.find(value.substr(0, value.find('(')));
    if (known == m_nested.end() && looksLikeTensor(value)) {  // a class of the file may be called Parameter
      PythonLexer lexer(value, line);
      KERF_TRY(const PythonExpression expression, PythonParser(lexer).expressionList());
      KERF_CHECK(expectEnd(lexer));
      return add(path, expression, value.substr(0, lexer.lastEnd()), false);  // without a comment behind it
    }
    Submodule submodule;
    submodule.repr = value;
    if (value.starts_with(noPythonValue)) {
      KERF_TRY(const PythonExpression text, parsePythonExpression(value.substr(noPythonValue.size()), line));
      KERF_TRY(submodule.repr, stringOf(text));
    }
    if (known != m_nested.end()) submodule.graph = known->second;
    m_module.submodules.add(path, std::move(submodule));
    return {};
  }

  Result<void> add(const std::string& path, const PythonExpression& expression, std::string_view text,
                   bool isParameter) {
    KERF_TRY(TensorSource source, readTensorSource(expression, hashText(path).low, m_limits));
    if (source.lostData) ++m_lost;
    TensorAttribute attribute;
    attribute.tensor = std::move(source.tensor);
    attribute.isParameter = source.isParameter || isParameter;
    attribute.text =
        isParameter && !source.isParameter ? fmt::format("torch.nn.Parameter({})", text) : std::string(text);
    m_module.attributes.add(path, std::move(attribute));
    return {};
  }

  const NestedModules& m_nested;
  const ImportLimits& m_limits;
  GraphModule& m_module;
  std::size_t& m_lost;
};

}  // namespace

Result<void> parseInit(const SourceText& source, LineRange lines, const NestedModules& nested,
                       const ImportLimits& limits, GraphModule& module, std::size_t& lost) {
  InitParser parser(nested, limits, module, lost);
  for (std::size_t line = lines.first + 1; line < lines.last;) {
    std::size_t next = line + 1;
    if (source.startsStatement(line)) {
      next = source.statementEnd(line, lines.last);
      std::size_t end = next;  // without blank lines and comments behind it
      while (end > line + 1 && !source.inBracket[end - 1] && !source.inString[end - 1]) --end;
      KERF_CHECK(parser.statement(source.slice({line, end}), int(line + 1)));
    }
    line = next;
  }
  return {};
}

}  // namespace kerf::inline capture
