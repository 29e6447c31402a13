// Symbolic::parse: sympy's str() and Python expressions over sizes, by precedence climbing.
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

constexpr int maximumDepth = 600;  // a parenthesis counts three: about 200 of them
constexpr std::size_t maximumText = 64 << 10;

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c) || c == '.'; }

struct Comparison {
  std::string_view op, function;
};
constexpr Comparison comparisons[] = {{"==", "Eq"}, {"!=", "Ne"}, {"<=", "Le"}, {">=", "Ge"}, {"<", "Lt"}, {">", "Gt"}};

class Parser {
 public:
  explicit Parser(std::string_view text) : m_text(text) {}

  Result<Symbolic> parse() {
    KERF_TRY(Symbolic result, ternary());
    skipBlanks();
    if (m_at != m_text.size()) return unexpected("an operator");
    return result;
  }

 private:
  std::unexpected<Error> unexpected(std::string_view expected) const {
    return fail(ErrorCode::BadInput, "expected {} at position {} of the symbolic expression '{}'", expected, m_at + 1,
                m_text.substr(0, 200));
  }

  void skipBlanks() {
    while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t' || m_text[m_at] == '\n')) ++m_at;
  }
  bool accept(std::string_view op) {
    skipBlanks();
    if (!m_text.substr(m_at).starts_with(op)) return false;
    m_at += op.size();
    return true;
  }
  /// `op` where the longer operator `longer` is not meant.
  bool acceptUnless(std::string_view op, std::string_view longer) {
    skipBlanks();
    return !m_text.substr(m_at).starts_with(longer) && accept(op);
  }
  bool acceptWord(std::string_view word) {
    skipBlanks();
    const std::size_t end = m_at + word.size();
    if (!m_text.substr(m_at).starts_with(word) || (end < m_text.size() && isNamePart(m_text[end]))) return false;
    m_at = end;
    return true;
  }

  Result<Symbolic> ternary() {
    if (++m_depth > maximumDepth) return fail(ErrorCode::TooLarge, "a symbolic expression is nested too deep");
    KERF_TRY(Symbolic value, either());
    if (acceptWord("if")) {
      KERF_TRY(const Symbolic condition, either());
      if (!acceptWord("else")) return unexpected("'else'");
      KERF_TRY(const Symbolic other, ternary());
      KERF_TRY(value, Symbolic::call("Where", {condition, value, other}));
    }
    --m_depth;
    return value;
  }

  using Rule = Result<Symbolic> (Parser::*)();

  Result<Symbolic> joined(Rule next, std::string_view op, std::string_view word, std::string_view function) {
    KERF_TRY(Symbolic first, (this->*next)());
    std::vector<Symbolic> items{std::move(first)};
    while ((!op.empty() && accept(op)) || (!word.empty() && acceptWord(word))) {
      KERF_TRY(Symbolic item, (this->*next)());
      items.push_back(std::move(item));
    }
    if (items.size() == 1) return items[0];
    if (items.size() > 64) return fail(ErrorCode::TooLarge, "more than 64 operands of '{}'", op.empty() ? word : op);
    return Symbolic::call(function, std::move(items));
  }
  Result<Symbolic> either() { return joined(&Parser::both, {}, "or", "Or"); }
  Result<Symbolic> both() { return joined(&Parser::negation, {}, "and", "And"); }

  Result<Symbolic> negation() {
    if (++m_depth > maximumDepth) return fail(ErrorCode::TooLarge, "a symbolic expression is nested too deep");
    const bool negated = acceptWord("not");
    KERF_TRY(Symbolic value, negated ? negation() : relation());
    --m_depth;
    return negated ? Symbolic::call("Not", {value}) : Result<Symbolic>(value);
  }

  /// a < b <= c is (a < b) and (b <= c), as in Python.
  Result<Symbolic> relation() {
    KERF_TRY(Symbolic left, bitOr());
    std::vector<Symbolic> parts;
    while (const Comparison* comparison = acceptComparison()) {
      KERF_TRY(Symbolic right, bitOr());
      KERF_TRY(Symbolic part, Symbolic::call(comparison->function, {left, right}));
      parts.push_back(std::move(part));
      left = std::move(right);
    }
    if (parts.empty()) return left;
    if (parts.size() > 64) return fail(ErrorCode::TooLarge, "more than 64 comparisons in one chain");
    return parts.size() == 1 ? Result<Symbolic>(parts[0]) : Symbolic::call("And", std::move(parts));
  }
  const Comparison* acceptComparison() {
    skipBlanks();
    if (m_text.substr(m_at).starts_with("<<") || m_text.substr(m_at).starts_with(">>")) return nullptr;
    for (const Comparison& comparison : comparisons)
      if (accept(comparison.op)) return &comparison;
    return nullptr;
  }

  Result<Symbolic> bitOr() { return joined(&Parser::bitXor, "|", {}, "BitwiseOr"); }
  Result<Symbolic> bitXor() { return joined(&Parser::bitAnd, "^", {}, "BitwiseXor"); }
  Result<Symbolic> bitAnd() { return joined(&Parser::shift, "&", {}, "BitwiseAnd"); }

  Result<Symbolic> shift() {
    KERF_TRY(Symbolic value, sum());
    for (;;) {
      const bool left = accept("<<");
      if (!left && !accept(">>")) return value;
      KERF_TRY(const Symbolic by, sum());
      KERF_TRY(value, Symbolic::call(left ? "LShift" : "RShift", {value, by}));
    }
  }

  Result<Symbolic> sum() {
    KERF_TRY(Symbolic first, product());
    std::vector<Symbolic> terms{std::move(first)};
    for (;;) {
      const bool minus = accept("-");
      if (!minus && !accept("+")) break;
      KERF_TRY(Symbolic term, product());
      terms.push_back(minus ? Symbolic::integer(-1) * term : term);
    }
    return terms.size() == 1 ? terms[0] : Symbolic::add(std::move(terms));
  }

  Result<Symbolic> product() {
    std::vector<Symbolic> factors;
    while (accept("-")) {
      factors.push_back(Symbolic::integer(-1));  // a factor of its own: -(a + b)*c keeps its sum
      if (factors.size() > maximumDepth) return fail(ErrorCode::TooLarge, "a symbolic expression is nested too deep");
    }
    KERF_TRY(Symbolic first, unary());
    factors.push_back(std::move(first));
    for (;;) {
      std::string_view function;
      bool divides = false;
      if (accept("//"))
        function = "FloorDiv";
      else if (accept("%"))
        function = "PythonMod";
      else if (accept("/"))
        divides = true;
      else if (!acceptUnless("*", "**"))
        break;
      KERF_TRY(Symbolic factor, unary());
      if (divides) factor = Symbolic::pow(factor, Symbolic::integer(-1));
      if (function.empty()) {
        factors.push_back(std::move(factor));
        continue;
      }
      KERF_TRY(Symbolic value, Symbolic::call(function, {Symbolic::mul(std::move(factors)), factor}));
      factors = {std::move(value)};
    }
    return factors.size() == 1 ? factors[0] : Symbolic::mul(std::move(factors));
  }

  Result<Symbolic> unary() {
    if (++m_depth > maximumDepth) return fail(ErrorCode::TooLarge, "a symbolic expression is nested too deep");
    auto value = signedOperand();
    --m_depth;
    return value;
  }
  Result<Symbolic> signedOperand() {
    if (accept("-")) {
      KERF_TRY(const Symbolic value, unary());
      return Symbolic::integer(-1) * value;
    }
    if (accept("+")) return unary();
    if (accept("~")) {
      KERF_TRY(const Symbolic value, unary());
      return Symbolic::call("Not", {value});
    }
    KERF_TRY(Symbolic base, atom());
    if (!accept("**")) return base;
    KERF_TRY(const Symbolic exponent, unary());
    return Symbolic::pow(base, exponent);
  }

  Result<Symbolic> atom() {
    skipBlanks();
    if (m_at >= m_text.size()) return unexpected("a symbol, number or '('");
    if (isDigit(m_text[m_at]) || m_text[m_at] == '.') return number();
    if (isNameStart(m_text[m_at])) return nameOrCall();
    if (!accept("(")) return unexpected("a symbol, number or '('");
    KERF_TRY(Symbolic inner, ternary());
    if (!accept(")")) return unexpected("')'");
    return inner;
  }

  Result<Symbolic> number() {
    const char* const begin = m_text.data() + m_at;
    const char* const end = m_text.data() + m_text.size();
    std::int64_t whole = 0;
    const auto integer = std::from_chars(begin, end, whole);
    double real = 0;
    const auto floating = std::from_chars(begin, end, real);
    if (floating.ec == std::errc() && (integer.ec != std::errc() || floating.ptr > integer.ptr)) {
      m_at = std::size_t(floating.ptr - m_text.data());
      return Symbolic::real(real);
    }
    if (integer.ec != std::errc()) return unexpected("a number");
    m_at = std::size_t(integer.ptr - m_text.data());
    return Symbolic::integer(whole);
  }

  Result<Symbolic> nameOrCall() {
    const std::size_t start = m_at;
    while (m_at < m_text.size() && isNamePart(m_text[m_at])) ++m_at;
    const std::string_view name = m_text.substr(start, m_at - start);
    if (accept("(")) return callOf(name);
    if (name == "True" || name == "true") return Symbolic::boolean(true);
    if (name == "False" || name == "false") return Symbolic::boolean(false);
    if (name == "oo" || name == "int_oo" || name == "inf" || name == "math.inf")
      return Symbolic::real(std::numeric_limits<double>::infinity());
    if (name == "pi" || name == "math.pi") return Symbolic::real(M_PI);
    if (name.find('.') != std::string_view::npos) return unexpected("a symbol instead of a dotted name");
    return Symbolic::symbol(std::string(name));
  }

  /// The rest of srepr's "Symbol('s0', positive=True, integer=True)" and "Float('0.5', precision=53)".
  Result<Symbolic> quotedAtom(bool isSymbol) {
    skipBlanks();
    const char quote = m_at < m_text.size() ? m_text[m_at] : ' ';
    const std::size_t end = m_text.find(quote, m_at + 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) return unexpected("a quoted text");
    const std::string_view inner = m_text.substr(m_at + 1, end - m_at - 1);
    KERF_TRY(Symbolic value, Parser(inner).atomAlone());
    if (isSymbol && value.symbols().size() != 1) return unexpected("the name of a symbol");
    m_at = end + 1;
    while (accept(",")) {
      skipBlanks();
      while (m_at < m_text.size() && (isNamePart(m_text[m_at]) || m_text[m_at] == '=')) ++m_at;
    }
    if (!accept(")")) return unexpected("')'");
    return value;
  }
  Result<Symbolic> atomAlone() {
    KERF_TRY(Symbolic value, atom());
    if (m_at != m_text.size()) return unexpected("nothing else");
    return value;
  }

  Result<Symbolic> callOf(std::string_view name) {
    if ((name == "Symbol" || name == "Float") && m_at < m_text.size() && (m_text[m_at] == '\'' || m_text[m_at] == '"'))
      return quotedAtom(name == "Symbol");
    std::vector<Symbolic> arguments;
    bool first = true;
    while (!accept(")")) {
      if (!first && !accept(",")) return unexpected("',' or ')'");
      first = false;
      if (accept(")")) break;
      KERF_CHECK(name == "Piecewise" ? branch(arguments) : argument(arguments));
      if (arguments.size() > 64) return fail(ErrorCode::TooLarge, "{} has more than 64 arguments", name);
    }
    return Symbolic::call(name, std::move(arguments));
  }
  Result<void> argument(std::vector<Symbolic>& into) {
    KERF_TRY(Symbolic value, ternary());
    into.push_back(std::move(value));
    return {};
  }
  /// Piecewise's "(value, condition)".
  Result<void> branch(std::vector<Symbolic>& into) {
    if (!accept("(")) return unexpected("'('");
    KERF_CHECK(argument(into));
    if (!accept(",")) return unexpected("','");
    KERF_CHECK(argument(into));
    if (!accept(")")) return unexpected("')'");
    return {};
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  int m_depth = 0;
};

}  // namespace

Result<Symbolic> Symbolic::parse(std::string_view text) {
  if (text.size() > maximumText) return fail(ErrorCode::TooLarge, "a symbolic expression of {} bytes", text.size());
  return Parser(text).parse();
}

}  // namespace kerf::inline symbolic
