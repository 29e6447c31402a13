#include "app/workbench/protocol/query_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace kerf::workbench {

namespace {

constexpr std::string_view space = " \t\n\r";
constexpr std::string_view relationMarks = ":<>=!";

bool isFieldName(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

/// The marks of a relation at the front of `text`; empty where there is none ("!" alone is a letter).
std::string_view relationAt(std::string_view text) {
  static constexpr std::string_view relations[] = {"<=", ">=", "==", "!=", ":", "<", ">", "="};
  for (const auto relation : relations)
    if (text.starts_with(relation)) return relation;
  return {};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : m_rest(text) {}

  Result<std::vector<QueryToken>> tokens() {
    std::vector<QueryToken> found;
    for (skipSpace(); !m_rest.empty(); skipSpace()) {
      KERF_TRY(auto token, next());
      found.push_back(std::move(token));
    }
    return found;
  }

 private:
  void skipSpace() { m_rest.remove_prefix(std::min(m_rest.find_first_not_of(space), m_rest.size())); }

  Result<QueryToken> next() {
    QueryToken token;
    while (negation()) token.negated = !token.negated;
    const auto mark = m_rest.find_first_of(relationMarks);
    const auto field = m_rest.substr(0, mark);
    if (mark != std::string_view::npos && isFieldName(field)) {
      token.relation = relationAt(m_rest.substr(mark));
      if (!token.relation.empty()) {
        token.field = field;
        m_rest.remove_prefix(mark + token.relation.size());
      }
    }
    KERF_TRY(token.value, value(token.quoted));
    if (token.negated && token.field.empty() && token.value.empty())
      return fail(ErrorCode::BadUsage, "nothing stands behind not:");
    return token;
  }

  bool negation() {
    for (const std::string_view mark : {"not:", "NOT:", "-"})
      if (m_rest.starts_with(mark)) {
        m_rest.remove_prefix(mark.size());
        return true;
      }
    return false;
  }

  /// Up to the next space, or what stands between quotation marks.
  Result<std::string> value(bool& quoted) {
    std::string text;
    while (!m_rest.empty() && space.find(m_rest.front()) == std::string_view::npos) {
      const char c = take();
      if (c != '"') {
        text += c;
        continue;
      }
      quoted = true;
      KERF_CHECK(quotedPart(text));
    }
    return text;
  }

  Result<void> quotedPart(std::string& text) {
    while (!m_rest.empty()) {
      char c = take();
      if (c == '"') return {};
      if (c == '\\' && !m_rest.empty()) c = take();
      text += c;
    }
    return fail(ErrorCode::BadUsage, "a quotation mark is not closed: \"{}", text);
  }

  char take() {
    const char c = m_rest.front();
    m_rest.remove_prefix(1);
    return c;
  }

  std::string_view m_rest;
};

}  // namespace

Result<std::vector<QueryToken>> queryTokens(std::string_view text) { return Reader(text).tokens(); }

std::string lowered(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = char(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

std::vector<std::string> splitAt(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + separator.size());
  }
  return parts;
}

/// Where a star fits too little, the last one takes a letter more: linear in both but for unlucky texts.
bool globMatches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, star = std::string_view::npos, taken = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::optional<double> parseFigure(std::string_view text, double thousand) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || !std::isfinite(number)) return std::nullopt;
  const auto unit = lowered(text.substr(std::size_t(end - text.data())));
  if (unit.empty() || unit == "b") return number;
  static constexpr std::string_view prefixes = "kmgt";
  const auto power = prefixes.find(unit.front());
  const auto behind = std::string_view(unit).substr(1);
  if (power == std::string_view::npos || (behind != "" && behind != "b" && behind != "ib" && behind != "i"))
    return std::nullopt;
  return number * std::pow(thousand, double(power + 1));
}

std::string crossed(std::string_view shape) {
  std::string text;
  for (const char c : shape)
    if (c != '[' && c != ']' && c != ' ') text += c == ',' ? 'x' : c;
  return text.empty() ? "scalar" : text;
}

std::optional<std::int64_t> product(std::string_view shape) {
  std::int64_t elements = 1;
  if (crossed(shape) == "scalar") return elements;
  for (const auto& size : splitAt(crossed(shape), "x")) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(size.data(), size.data() + size.size(), number);
    if (problem != std::errc() || end != size.data() + size.size()) return std::nullopt;
    if (number < 0 || __builtin_mul_overflow(elements, number, &elements)) return std::nullopt;
  }
  return elements;
}

std::string longDtype(std::string_view code) {
  static constexpr std::pair<std::string_view, std::string_view> families[] = {
      {"bf", "bfloat"}, {"f", "float"}, {"i", "int"}, {"u", "uint"}, {"c", "complex"}};
  if (code == "b8") return "bool";
  for (const auto& [letters, family] : families) {
    if (!code.starts_with(letters)) continue;
    const auto digits = code.substr(letters.size());
    const auto behind = std::min(digits.find_first_not_of("0123456789"), digits.size());
    return fmt::format("{}{}{}{}", family, digits.substr(0, behind), behind == digits.size() ? "" : "_",
                       digits.substr(behind));
  }
  return std::string(code);
}

int dtypeBytes(std::string_view code) {
  const auto digits = code.find_first_of("0123456789");
  if (digits == std::string_view::npos || digits == 0) return 0;
  int bits = 0;
  std::from_chars(code.data() + digits, code.data() + code.size(), bits);
  return bits / 8;
}

}  // namespace kerf::workbench
