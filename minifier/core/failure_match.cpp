// FailureMatch: the C library's matcher, which does not go back and forth as long as no group is referred to.
#include "minifier/core/failure_match.h"

#include <regex.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace kerf::inline minifier::inline core {

namespace {

constexpr std::size_t longestExpression = 1000, longestText = 64u << 10;

/// What people write after Python's `re` and POSIX does not have, in brackets and outside of them. Nothing where a
/// group is referred to.
std::optional<std::string> asPosix(const std::string& expression) {
  std::string posix;
  bool inBrackets = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if (c == '\\' && next != '\0') {
      if (!inBrackets && std::isdigit(static_cast<unsigned char>(next))) return std::nullopt;
      ++i;
      if (next == 'd')
        posix += inBrackets ? "0-9" : "[0-9]";
      else if (next == 'D' && !inBrackets)
        posix += "[^0-9]";
      else if (inBrackets)
        posix += next;
      else
        posix += {c, next};
      continue;
    }
    if (c == '[' && !inBrackets)
      inBrackets = true;
    else if (c == ']' && inBrackets)
      inBrackets = false;
    posix += c;
  }
  return posix;
}

}  // namespace

class FailureMatch::Expression {
 public:
  static Result<std::shared_ptr<const Expression>> compile(const std::string& text) {
    if (text.size() > longestExpression)
      return fail(ErrorCode::BadUsage, "a pattern of failures has at most {} characters", longestExpression);
    const auto posix = asPosix(text);
    if (!posix) return fail(ErrorCode::BadUsage, "pattern \"{}\": references to groups are not supported", text);
    auto compiled = std::make_shared<Expression>();
    const int code = ::regcomp(&compiled->m_compiled, posix->c_str(), REG_EXTENDED | REG_NOSUB);
    compiled->m_valid = code == 0;
    if (compiled->m_valid) return std::shared_ptr<const Expression>(std::move(compiled));
    char why[128];
    ::regerror(code, &compiled->m_compiled, why, sizeof why);
    return fail(ErrorCode::BadUsage, "\"{}\" is not a regular expression: {}", text, why);
  }

  Expression() = default;
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() {
    if (m_valid) ::regfree(&m_compiled);
  }

  bool isIn(std::string_view text) const {
    std::string bounded(text.substr(0, longestText));
    std::ranges::replace(bounded, '\0', ' ');  // else the text would end there
    return ::regexec(&m_compiled, bounded.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t m_compiled{};
  bool m_valid = false;
};

Result<FailureMatch> FailureMatch::pattern(const std::string& expression) {
  FailureMatch match;
  match.m_kind = Kind::Pattern;
  match.m_text = expression;
  KERF_TRY(match.m_expression, Expression::compile(expression));
  return match;
}

FailureMatch FailureMatch::any() {
  FailureMatch match;
  match.m_kind = Kind::Any;
  return match;
}

bool FailureMatch::acceptsAsStart(std::string_view fingerprint, std::string_view detail) const {
  return m_kind != Kind::Pattern || m_expression->isIn(fingerprint) || m_expression->isIn(detail);
}

bool FailureMatch::accepts(std::string_view fingerprint, std::string_view detail, const WantedFailure& wanted) const {
  if (m_kind != Kind::Same) return acceptsAsStart(fingerprint, detail);
  const auto found = AccuracyIdentity::parse(fingerprint);
  return found ? isSameWrongValue(*found, wanted) : fingerprint == wanted.fingerprint;
}

std::string FailureMatch::rule(std::string_view wanted) const {
  if (m_kind == Kind::Any) return "any failure";
  if (m_kind == Kind::Pattern) return fmt::format("fingerprint or detail matches /{}/", m_text);
  if (!AccuracyIdentity::parse(wanted)) return "the same fingerprint";
  return fmt::format(
      "the same kind of difference in the same op; or in an op that leads to it, with a ratio to the limit at most "
      "{} powers of ten below that of the start graph; or in another op, with a ratio within {} powers of ten of the "
      "last one",
      mostFall, mostAway);
}

std::string FailureMatch::text() const {
  if (m_kind == Kind::Same) return {};
  return m_kind == Kind::Any ? std::string(" match=any") : " match=/" + m_text + "/";
}

}  // namespace kerf::inline minifier::inline core
