#include "engine/ir/python_expression.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/ir/python_string.h"

namespace kerf::inline ir {
namespace {

struct BinaryOperator {
  std::string_view text;
  int precedence;
};
constexpr int notPrecedence = 3;
constexpr int comparison = 4;
constexpr std::array<BinaryOperator, 22> binaryOperators = {
    {{"or", 1}, {"and", 2}, {"<", 4},   {">", 4},  {"<=", 4},  {">=", 4}, {"==", 4}, {"!=", 4},
     {"in", 4}, {"is", 4},  {"not", 4}, {"|", 5},  {"^", 6},   {"&", 7},  {"<<", 8}, {">>", 8},
     {"+", 9},  {"-", 9},   {"*", 10},  {"/", 10}, {"//", 10}, {"%", 10}}};

const std::unordered_set<std::string_view>& reservedWords() {
  static const std::unordered_set<std::string_view> words = {
      "and",      "as",     "assert",  "async", "await", "break",  "class", "continue", "def",  "del",  "elif",
      "else",     "except", "finally", "for",   "from",  "global", "if",    "import",   "in",   "is",   "lambda",
      "nonlocal", "not",    "or",      "pass",  "raise", "return", "try",   "while",    "with", "yield"};
  return words;
}

using Parsed = Result<PythonExpression>;

/// Recursive descent over one expression; heights bound both the recursion here and that of every later walk.
class Grammar {
 public:
  Grammar(PythonLexer& lexer, const PythonLimits& limits, std::size_t& count)
      : m_lexer(lexer), m_limits(limits), m_count(count) {}

  Parsed list() {
    KERF_TRY(auto first, starred());
    if (!m_lexer.peek().is(",")) return first;
    PythonExpression tuple = node(PythonKind::Tuple, first.line);
    KERF_CHECK(add(tuple, std::move(first)));
    while (m_lexer.accept(",")) {
      if (endsList()) break;
      KERF_TRY(auto item, starred());
      KERF_CHECK(add(tuple, std::move(item)));
    }
    return tuple;
  }

  Parsed ternary() {
    if (++m_depth > m_limits.nesting) return tooDeep(m_lexer.peek().line);
    auto result = conditional();
    --m_depth;
    return result;
  }

 private:
  static PythonExpression node(PythonKind kind, int line, std::string text = {}) {
    return PythonExpression{kind, line, 0, std::move(text), {}, {}};
  }

  std::unexpected<Error> tooDeep(int line) const {
    auto error = fail(ErrorCode::TooLarge, "expressions nest deeper than {}", m_limits.nesting);
    error.error().line = line;
    return error;
  }

  Result<void> add(PythonExpression& parent, PythonExpression child) {
    parent.height = std::max(parent.height, child.height + 1);
    if (parent.height > m_limits.nesting) return tooDeep(child.line);
    if (++m_count > m_limits.expressions) {
      auto error = fail(ErrorCode::TooLarge, "more than {} expressions in one statement", m_limits.expressions);
      error.error().line = child.line;
      return error;
    }
    parent.items.push_back(std::move(child));
    return {};
  }

  bool endsList() const {
    const PythonToken& next = m_lexer.peek();
    return next.kind == PythonTokenKind::Newline || next.kind == PythonTokenKind::End ||
           next.kind == PythonTokenKind::Comment || next.is("=") || next.is(")") || next.is("]") || next.is("}") ||
           next.is(";") || next.is(":");
  }

  Result<void> expect(std::string_view op) {
    if (m_lexer.accept(op)) return {};
    return fail(m_lexer.errorHere(fmt::format("'{}'", op)));
  }

  Parsed starred() {
    if (!m_lexer.peek().is("*")) return ternary();
    PythonExpression out = node(PythonKind::Unary, m_lexer.take().line, "*");
    KERF_TRY(auto operand, ternary());
    KERF_CHECK(add(out, std::move(operand)));
    return out;
  }

  Parsed conditional() {
    KERF_TRY(auto value, binary(1));
    if (!m_lexer.peek().isName("if")) return value;
    PythonExpression out = node(PythonKind::Binary, m_lexer.take().line, "if");
    KERF_TRY(auto condition, binary(1));
    if (!m_lexer.peek().isName("else")) return fail(m_lexer.errorHere("'else'"));
    m_lexer.take();
    KERF_TRY(auto otherwise, ternary());
    KERF_CHECK(add(out, std::move(value)));
    KERF_CHECK(add(out, std::move(condition)));
    KERF_CHECK(add(out, std::move(otherwise)));
    return out;
  }

  const BinaryOperator* nextOperator() const {
    const PythonToken& next = m_lexer.peek();
    if (next.kind != PythonTokenKind::Operator && next.kind != PythonTokenKind::Name) return nullptr;
    if (next.is("@")) return &matmul;
    const auto found = std::ranges::find(binaryOperators, next.text, &BinaryOperator::text);
    return found == binaryOperators.end() ? nullptr : &*found;
  }

  Parsed binary(int minimum) {
    KERF_TRY(auto left, unary());
    for (const BinaryOperator* op = nextOperator(); op && op->precedence >= minimum; op = nextOperator()) {
      PythonExpression out = node(PythonKind::Binary, m_lexer.take().line, std::string(op->text));
      if (op->precedence == comparison) joinWords(out.text);
      KERF_TRY(auto right, binary(op->precedence + 1));
      KERF_CHECK(add(out, std::move(left)));
      KERF_CHECK(add(out, std::move(right)));
      left = std::move(out);
    }
    return left;
  }

  /// "is not" and "not in" are two words each.
  void joinWords(std::string& op) {
    const std::string_view second = op == "is" ? "not" : op == "not" ? "in" : "";
    if (second.empty() || !m_lexer.peek().isName(second)) return;
    op += " " + std::string(m_lexer.take().text);
  }

  Parsed unary() {
    const PythonToken& next = m_lexer.peek();
    const bool isNot = next.isName("not");
    if (!isNot && !next.is("-") && !next.is("+") && !next.is("~")) return power();
    if (++m_depth > m_limits.nesting) return tooDeep(next.line);
    const PythonToken op = m_lexer.take();
    PythonExpression out = node(PythonKind::Unary, op.line, std::string(op.text));
    auto operand = isNot ? binary(notPrecedence) : unary();
    --m_depth;
    if (!operand) return operand;
    KERF_CHECK(add(out, std::move(*operand)));
    return out;
  }

  Parsed power() {
    KERF_TRY(auto base, postfix());
    if (!m_lexer.peek().is("**")) return base;
    PythonExpression out = node(PythonKind::Binary, m_lexer.take().line, "**");
    if (++m_depth > m_limits.nesting) return tooDeep(out.line);
    KERF_TRY(auto exponent, unary());
    --m_depth;
    KERF_CHECK(add(out, std::move(base)));
    KERF_CHECK(add(out, std::move(exponent)));
    return out;
  }

  Parsed postfix() {
    KERF_TRY(auto value, atom());
    for (;;) {
      const PythonToken next = m_lexer.peek();
      Result<void> step;
      if (next.is("."))
        step = attribute(value);
      else if (next.is("("))
        step = call(value);
      else if (next.is("["))
        step = index(value);
      else
        return value;
      if (!step) return std::unexpected(std::move(step).error());
    }
  }

  Result<void> attribute(PythonExpression& object) {
    m_lexer.take();
    if (m_lexer.peek().kind != PythonTokenKind::Name) return fail(m_lexer.errorHere("an attribute name"));
    const PythonToken name = m_lexer.take();
    if (object.kind == PythonKind::Name) {
      object.text += '.';
      object.text += name.text;
      return {};
    }
    PythonExpression out = node(PythonKind::Attribute, name.line, std::string(name.text));
    KERF_CHECK(add(out, std::move(object)));
    object = std::move(out);
    return {};
  }

  Result<void> call(PythonExpression& callee) {
    PythonExpression out = node(PythonKind::Call, m_lexer.take().line);
    KERF_CHECK(add(out, std::move(callee)));
    while (!m_lexer.peek().is(")")) {
      KERF_CHECK(argument(out));
      if (!m_lexer.accept(",")) break;
    }
    KERF_CHECK(expect(")"));
    callee = std::move(out);
    return {};
  }

  Result<void> argument(PythonExpression& call) {
    if (m_lexer.accept("**")) {
      call.keywords.emplace_back("**");
      KERF_TRY(auto value, ternary());
      return add(call, std::move(value));
    }
    if (reservedWords().contains(m_lexer.peek().text)) return reservedKeyword(call);
    KERF_TRY(auto value, starred());
    const bool isKeyword = value.kind == PythonKind::Name && m_lexer.peek().is("=");
    if (!isKeyword && !call.keywords.empty())
      return pythonError(value.line, "a positional argument follows a keyword argument");
    if (!isKeyword) return add(call, std::move(value));
    m_lexer.take();
    call.keywords.push_back(std::move(value.text));
    KERF_TRY(auto keywordValue, ternary());
    return add(call, std::move(keywordValue));
  }

  /// `from = 1`: ops have such parameters and FX prints them, although Python itself would refuse.
  Result<void> reservedKeyword(PythonExpression& call) {
    PythonLexer ahead = m_lexer;
    const PythonToken word = ahead.take();
    const bool isKeyword = word.kind == PythonTokenKind::Name && ahead.accept("=");
    if (!isKeyword) {
      KERF_TRY(auto value, starred());
      if (!call.keywords.empty()) return pythonError(value.line, "a positional argument follows a keyword argument");
      return add(call, std::move(value));
    }
    m_lexer = ahead;
    call.keywords.emplace_back(word.text);
    KERF_TRY(auto value, ternary());
    return add(call, std::move(value));
  }

  Result<void> index(PythonExpression& object) {
    PythonExpression out = node(PythonKind::Index, m_lexer.take().line);
    KERF_TRY(auto first, subscript());
    if (m_lexer.peek().is(",")) {
      PythonExpression tuple = node(PythonKind::Tuple, first.line);
      KERF_CHECK(add(tuple, std::move(first)));
      while (m_lexer.accept(",") && !m_lexer.peek().is("]")) {
        KERF_TRY(auto next, subscript());
        KERF_CHECK(add(tuple, std::move(next)));
      }
      first = std::move(tuple);
    }
    KERF_CHECK(expect("]"));
    KERF_CHECK(add(out, std::move(object)));
    KERF_CHECK(add(out, std::move(first)));
    object = std::move(out);
    return {};
  }

  Parsed subscript() {
    PythonExpression slice = node(PythonKind::Slice, m_lexer.peek().line);
    bool isSlice = false;
    for (int part = 0; part < 3; ++part) {
      PythonExpression value = node(PythonKind::Constant, slice.line, "None");
      const PythonToken& next = m_lexer.peek();
      if (!next.is(":") && !next.is(",") && !next.is("]")) {
        KERF_TRY(value, ternary());
      }
      if (part == 0 && !m_lexer.peek().is(":")) return value;
      KERF_CHECK(add(slice, std::move(value)));
      isSlice = m_lexer.accept(":");
      if (!isSlice) break;
    }
    while (slice.items.size() < 3) KERF_CHECK(add(slice, node(PythonKind::Constant, slice.line, "None")));
    return slice;
  }

  Parsed atom() {
    const PythonToken next = m_lexer.peek();
    if (next.kind == PythonTokenKind::Name) return name();
    if (next.kind == PythonTokenKind::Number) return number(m_lexer.take());
    if (next.kind == PythonTokenKind::String) return strings();
    if (next.is("(")) return bracketed(PythonKind::Tuple, ")");
    if (next.is("[")) return bracketed(PythonKind::List, "]");
    if (next.is("{")) return braces();
    if (m_lexer.accept("...")) return node(PythonKind::Constant, next.line, "...");
    return fail(m_lexer.errorHere("a value"));
  }

  Parsed name() {
    const PythonToken token = m_lexer.peek();
    if (reservedWords().contains(token.text)) return fail(m_lexer.errorHere("a value"));
    m_lexer.take();
    const bool constant = token.text == "None" || token.text == "True" || token.text == "False";
    return node(constant ? PythonKind::Constant : PythonKind::Name, token.line, std::string(token.text));
  }

  static Parsed number(const PythonToken& token) {
    const std::string_view text = token.text;
    PythonKind kind = PythonKind::Integer;
    const bool radix = text.size() > 1 && text[0] == '0' && std::string_view("xXoObB").find(text[1]) != text.npos;
    if (!radix && text.find_first_of(".eE") != text.npos) kind = PythonKind::Float;
    if (!radix && (text.ends_with('j') || text.ends_with('J'))) kind = PythonKind::Imaginary;
    return node(kind, token.line, std::string(text));
  }

  Parsed strings() {
    PythonExpression out = node(PythonKind::String, m_lexer.peek().line);
    while (m_lexer.peek().kind == PythonTokenKind::String) {
      const PythonToken token = m_lexer.take();
      KERF_CHECK(appendPythonString(out.text, token.text, token.line));
    }
    return out;
  }

  /// `( … )` or `[ … ]`; one parenthesised expression without a comma is that expression.
  Parsed bracketed(PythonKind kind, std::string_view close) {
    PythonExpression out = node(kind, m_lexer.take().line);
    bool comma = false;
    while (!m_lexer.peek().is(close)) {
      KERF_TRY(auto item, starred());
      if (m_lexer.peek().isName("for")) return pythonError(item.line, "comprehensions are not supported");
      KERF_CHECK(add(out, std::move(item)));
      comma = m_lexer.accept(",");
      if (!comma) break;
    }
    KERF_CHECK(expect(close));
    if (kind == PythonKind::Tuple && out.items.size() == 1 && !comma) {
      PythonExpression inner = std::move(out.items.front());
      return inner;
    }
    return out;
  }

  Parsed braces() {
    PythonExpression out = node(PythonKind::Dict, m_lexer.take().line);
    while (!m_lexer.peek().is("}")) {
      KERF_TRY(auto key, starred());
      KERF_CHECK(add(out, std::move(key)));
      if (out.items.size() == 1 && !m_lexer.peek().is(":")) out.kind = PythonKind::Set;
      if (out.kind == PythonKind::Dict) {
        KERF_CHECK(expect(":"));
        KERF_TRY(auto value, ternary());
        KERF_CHECK(add(out, std::move(value)));
      }
      if (!m_lexer.accept(",")) break;
    }
    KERF_CHECK(expect("}"));
    return out;
  }

  static constexpr BinaryOperator matmul{"@", 10};
  PythonLexer& m_lexer;
  const PythonLimits& m_limits;
  std::size_t& m_count;
  int m_depth = 0;
};

}  // namespace

const PythonExpression* PythonExpression::keyword(std::string_view name) const {
  const auto found = std::ranges::find(keywords, name);
  if (found == keywords.end()) return nullptr;
  return &items[1 + positionalCount() + std::size_t(found - keywords.begin())];
}

std::unexpected<Error> pythonError(int line, std::string message) {
  return std::unexpected(Error{ErrorCode::BadInput, std::move(message), {}, line, {}, {}});
}

Result<PythonExpression> PythonParser::expression() { return Grammar(m_lexer, m_limits, m_count).ternary(); }

Result<PythonExpression> PythonParser::expressionList() { return Grammar(m_lexer, m_limits, m_count).list(); }

Result<PythonExpression> parsePythonExpression(std::string_view text, int firstLine) {
  KERF_CHECK(checkPythonText(text, firstLine));
  PythonLexer lexer(text, firstLine);
  KERF_TRY(auto expression, PythonParser(lexer).expressionList());
  while (lexer.peek().kind == PythonTokenKind::Newline || lexer.peek().kind == PythonTokenKind::Comment) lexer.take();
  if (lexer.peek().kind != PythonTokenKind::End) return fail(lexer.errorHere("the end of the expression"));
  return expression;
}

}  // namespace kerf::inline ir
