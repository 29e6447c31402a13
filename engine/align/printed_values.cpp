#include "engine/align/printed_values.h"

#include <charconv>
#include <cmath>

namespace kerf::inline align {

namespace {

constexpr std::size_t longestSizes = 1024;  // characters between the brackets of a shape

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_'; }

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A place in text; every take* moves it only when it finds what it looks for.
struct Place {
  std::string_view text;
  std::size_t at = 0;

  bool take(std::string_view wanted) {
    if (text.substr(at, wanted.size()) != wanted) return false;
    at += wanted.size();
    return true;
  }
  std::string_view takeWhile(bool (*holds)(char)) {
    const std::size_t start = at;
    while (at < text.size() && holds(text[at])) ++at;
    return text.substr(start, at - start);
  }
};

/// The sizes up to the bracket; a size that is a symbol makes the value one of unknown shape.
bool takeSizes(Place& place, StepValue& value) {
  const std::size_t close = place.text.substr(place.at, longestSizes).find(']');
  if (close == std::string_view::npos) return false;
  std::string_view sizes = place.text.substr(place.at, close);
  value.shaped = true;
  while (!sizes.empty()) {
    const std::size_t comma = sizes.find(", ");
    const auto size = wholeNumber(sizes.substr(0, comma));
    if (!size || *size < 0) value.shaped = false;
    value.shape.push_back(size.value_or(-1));
    sizes = comma == std::string_view::npos ? std::string_view() : sizes.substr(comma + 2);
  }
  place.at += close + 1;
  return true;
}

/// `t$2: f32[32]{stride=(1,)}| S(0)` at the place.
std::optional<StepValue> takeTensor(Place& place) {
  Place next = place;
  if (!next.take("dt") && !next.take("ft") && !next.take("t")) return std::nullopt;
  StepValue value;
  if (next.take("$")) value.id = wholeNumber(next.takeWhile(isDigit)).value_or(-1);
  if (!next.take(": ")) return std::nullopt;
  value.dtype = next.takeWhile(isWord);
  if (value.dtype.empty() || !next.take("[") || !takeSizes(next, value)) return std::nullopt;
  place = next;
  return value;
}

std::size_t behindString(std::string_view text, std::size_t quote) {
  for (std::size_t at = quote + 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == text[quote])
      return at + 1;
  }
  return text.size();
}

bool isChecksum(std::string_view leaf) {
  const std::string_view digits = leaf.starts_with('-') ? leaf.substr(1) : leaf;
  return !digits.empty() && std::ranges::all_of(digits, isDigit);
}

void giveLeaf(StepValue& value, const std::string& leaf) {
  if (leaf.starts_with('"')) {
    value.hash += (value.hash.empty() ? "text:" : "/") + leaf;
  } else if (isChecksum(leaf)) {
    value.hash = "hash_tensor:" + leaf;
  } else {
    char* end = nullptr;
    const double number = std::strtod(leaf.c_str(), &end);
    if (end == leaf.c_str() + leaf.size() && !leaf.empty()) value.l1 = number;
  }
}

/// Collects leaves of a literal until a comma or bracket that belongs to what surrounds it.
class LiteralWalk {
 public:
  explicit LiteralWalk(std::string_view text) : m_text(text) {}

  std::vector<std::pair<std::string, HashLeaves>> run() {
    std::vector<std::pair<std::string, HashLeaves>> members;
    m_at = m_text.find('{');
    if (m_at == std::string_view::npos) return members;
    for (++m_at; m_at < m_text.size() && m_text[m_at] != '}';) {
      std::string key = token();
      if (m_at >= m_text.size()) break;
      if (m_text[m_at] == ':') {
        ++m_at;
        members.emplace_back(std::move(key), leaves());
      } else {
        ++m_at;
      }
    }
    return members;
  }

 private:
  /// A word, number or string, blanks before it left out; empty at punctuation.
  std::string token() {
    while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
    const std::size_t start = m_at;
    if (m_at < m_text.size() && (m_text[m_at] == '\'' || m_text[m_at] == '"')) {
      m_at = behindString(m_text, m_at);
      return std::string(m_text.substr(start + 1, m_at > start + 1 ? m_at - start - 2 : 0));
    }
    while (m_at < m_text.size() && std::string_view(" ,:()[]{}'\"").find(m_text[m_at]) == std::string_view::npos)
      ++m_at;
    return std::string(m_text.substr(start, m_at - start));
  }

  void leaf(HashLeaves& found) {
    const bool quoted = m_text[m_at] == '\'' || m_text[m_at] == '"';
    std::string word = token();
    const bool isKey = m_at < m_text.size() && m_text[m_at] == ':';
    if (isKey || word.empty() || word == "None" || word == "True" || word == "False") return;
    if (quoted)
      found.push_back('"' + word);
    else if (isDigit(word.front()) || word.front() == '-' || word == "inf" || word == "nan")
      found.push_back(std::move(word));
  }

  HashLeaves leaves() {
    HashLeaves found;
    for (int depth = 0; m_at < m_text.size();) {
      const char c = m_text[m_at];
      if (depth == 0 && (c == ',' || c == '}')) {
        if (c == ',') ++m_at;
        break;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (std::string_view(" ,:()[]{}").find(c) != std::string_view::npos)
        ++m_at;
      else
        leaf(found);
    }
    return found;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
};

}  // namespace

PrintedValues printedValues(std::string_view text) {
  PrintedValues printed;
  Place place{text};
  while (place.at < text.size()) {
    const bool starts = place.at == 0 || !isWord(text[place.at - 1]);
    if (starts) {
      if (auto tensor = takeTensor(place)) {
        printed.tensors.push_back(std::move(*tensor));
        printed.constants += "·";
        continue;
      }
    }
    printed.constants += text[place.at++];
  }
  return printed;
}

void giveHashes(std::vector<StepValue>& tensors, const HashLeaves& leaves) {
  if (tensors.empty() || leaves.empty() || leaves.size() % tensors.size() != 0) return;
  const std::size_t each = leaves.size() / tensors.size();
  for (std::size_t i = 0; i < leaves.size(); ++i) giveLeaf(tensors[i / each], leaves[i]);
}

std::vector<std::pair<std::string, HashLeaves>> literalLeaves(std::string_view dict) { return LiteralWalk(dict).run(); }

std::size_t closingBracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      at = behindString(text, at) - 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace kerf::inline align
