#include "engine/ir/graph_text_value.h"

#include <algorithm>
#include <charconv>

#include "engine/ir/graph.h"
#include "engine/ir/python_constants.h"
#include "engine/ir/python_expression.h"
#include "engine/ir/sympy_text.h"

namespace kerf::inline ir {
namespace {

constexpr int maxDepth = 200;
constexpr std::size_t maxValues = 1'000'000;

std::optional<Argument> numberFromText(std::string_view text) {
  const char* end = text.data() + text.size();
  if (text == "inf" || text == "-inf" || text == "nan") {
    double value = 0;
    std::from_chars(text.data(), end, value);
    return Argument(value);
  }
  const bool numeric = !text.empty() && text.find_first_not_of("0123456789+-.e") == std::string_view::npos &&
                       text.find_first_of("0123456789") != std::string_view::npos && text[0] != 'e';
  if (!numeric) return std::nullopt;
  std::int64_t whole = 0;
  if (const auto parsed = std::from_chars(text.data(), end, whole); parsed.ptr == end && parsed.ec == std::errc())
    return Argument(whole);
  double real = 0;
  const auto parsed = std::from_chars(text.data(), end, real);
  if (parsed.ptr != end || text.find_first_of(".e") == std::string_view::npos) return std::nullopt;
  if (parsed.ec != std::errc()) return std::nullopt;
  return Argument(real);
}

}  // namespace

std::unexpected<Error> GraphTextValue::error(std::string message) const {
  return pythonError(m_line, std::move(message));
}

Result<void> GraphTextValue::expect(std::string_view literal) {
  if (!startsWith(literal)) return error(fmt::format("expected '{}', found '{}'", literal, m_text.substr(m_at, 40)));
  m_at += literal.size();
  return {};
}

Result<Argument> GraphTextValue::read(int depth) {
  if (depth > maxDepth)
    return fail(Error{ErrorCode::TooLarge, fmt::format("brackets nest deeper than {}", maxDepth), {}, m_line, {}, {}});
  if (++m_count > maxValues)
    return fail(
        Error{ErrorCode::TooLarge, fmt::format("more than {} values in one node", maxValues), {}, m_line, {}, {}});
  if (startsWith("[")) return sequence(false, depth);
  if (startsWith("(")) return sequence(true, depth);
  if (startsWith("{")) return dict(depth);
  if (startsWith("%")) return node();
  KERF_TRY(const auto raw, rawText());
  return classify(raw);
}

Result<Argument> GraphTextValue::sequence(bool isTuple, int depth) {
  const std::size_t start = m_at++;
  const std::string_view close = isTuple ? ")" : "]";
  ArgumentList items;
  bool comma = false;
  while (!startsWith(close)) {
    KERF_TRY(auto item, read(depth + 1));
    items.push_back(std::move(item));
    comma = startsWith(",");
    if (!comma) break;
    m_at += startsWith(", ") ? 2 : 1;
  }
  KERF_CHECK(expect(close));
  // "(1+2j)": parentheses without a comma are no tuple
  if (isTuple && items.size() == 1 && !comma) return quoted(m_text.substr(start, m_at - start));
  return Argument(ListArgument{std::move(items), isTuple});
}

Result<Argument> GraphTextValue::dict(int depth) {
  ++m_at;
  DictArgument out;
  while (!startsWith("}")) {
    const std::size_t colon = m_text.find(": ", m_at);
    if (colon == std::string_view::npos) return error("a dict entry has no ': '");
    std::string key(m_text.substr(m_at, colon - m_at));
    m_at = colon + 2;
    KERF_TRY(auto value, read(depth + 1));
    out.items.emplace_back(std::move(key), std::move(value));
    if (!startsWith(", ")) break;
    m_at += 2;
  }
  KERF_CHECK(expect("}"));
  return Argument(std::move(out));
}

Result<Argument> GraphTextValue::node() {
  const std::size_t start = ++m_at;
  while (m_at < m_text.size() && std::string_view(",)]}: ").find(m_text[m_at]) == std::string_view::npos) ++m_at;
  return m_nodes(m_text.substr(start, m_at - start));
}

/// Everything up to ", ", ",)" or a bracket that was not opened here.
Result<std::string_view> GraphTextValue::rawText() {
  const std::size_t start = m_at;
  int open = 0;
  for (; m_at < m_text.size(); ++m_at) {
    const char c = m_text[m_at];
    const char next = m_at + 1 < m_text.size() ? m_text[m_at + 1] : '\0';
    if (c == '(' || c == '[' || c == '{') ++open;
    const bool closes = c == ')' || c == ']' || c == '}';
    if (open == 0 && (closes || (c == ',' && (next == ' ' || next == ')')))) break;
    if (closes) --open;
  }
  return m_text.substr(start, m_at - start);
}

Result<Argument> GraphTextValue::classify(std::string_view raw) const {
  if (raw == "None") return Argument();
  if (raw == "True" || raw == "False") return Argument(raw == "True");
  if (raw == "Ellipsis") return Argument(Ellipsis{});
  if (raw == "...") return fail(ErrorCode::BadInput, "arguments are left out here ('...')");
  if (auto number = numberFromText(raw)) return std::move(*number);
  if (raw.starts_with("slice(") && raw.ends_with(")")) return quoted(raw);
  if (raw.starts_with("torch.")) {
    if (auto constant = pythonConstant(raw)) return std::move(*constant);
    if (raw.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == raw.npos &&
        raw.find("..") == raw.npos && !raw.ends_with('.'))
      return Argument(PythonName{std::string(raw)});
  }
  if (auto device = deviceFromText(raw)) return Argument(std::move(*device));
  if (raw.find_first_of("su") != raw.npos) {
    const auto expression = parsePythonExpression(raw, m_line);
    const auto isLocal = [](std::string_view) { return false; };
    if (expression)
      if (std::string symbols = sympyText(*expression, isLocal); !symbols.empty())
        return Argument(SymExpr{std::move(symbols), {}});
  }
  return Argument(std::string(raw));
}

/// Parts that str() leaves to repr(): slices and complex numbers. What is neither stays a string.
Result<Argument> GraphTextValue::quoted(std::string_view raw) const {
  const auto expression = parsePythonExpression(raw, m_line);
  if (!expression) return Argument(std::string(raw));
  auto value = pythonToArgument(*expression, [&](std::string_view name, int) { return m_nodes(name); });
  if (value || raw.starts_with("slice(")) return value;
  return Argument(std::string(raw));
}

}  // namespace kerf::inline ir
