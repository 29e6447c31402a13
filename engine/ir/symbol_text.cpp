#include "engine/ir/symbol_text.h"

#include <algorithm>
#include <charconv>

#include "engine/ir/python_constants.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline ir {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Splits "[2, Max(1, s0)]…" at the commas of its outer level and removes the brackets from `text`.
std::optional<std::vector<std::string_view>> takeBracketList(std::string_view& text) {
  if (!text.starts_with('[')) return std::nullopt;
  std::vector<std::string_view> items;
  int open = 0;
  std::size_t start = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(') ++open;
    if (text[i] == ']' || text[i] == ')') --open;
    const bool ends = open == 0;
    if ((open == 1 && text[i] == ',') || ends) {
      if (!ends || i > start) items.push_back(text.substr(start, i - start));
      start = std::min(i + 2, text.size());
    }
    if (!ends) continue;
    text.remove_prefix(i + 1);
    return items;
  }
  return std::nullopt;
}

/// A number, also one that is written as an expression ("2*3", "--2"): what has no symbols is the same size however it
/// is spelled.
std::optional<std::int64_t> numberIn(std::string_view text) {
  if (const auto value = wholeNumber(text)) return value;
  const auto expression = Symbolic::parse(text);
  return expression ? expression->asInteger() : std::nullopt;
}

std::vector<Dim> toDims(const std::vector<std::string_view>& items) {
  std::vector<Dim> out;
  for (const std::string_view item : items) {
    const auto value = numberIn(item);
    out.push_back(value ? dim(*value) : Dim{std::string(item), {}});
  }
  return out;
}

std::optional<TensorMeta> takeTensor(std::string_view& text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  const auto dtype = dtypeFromShortCode(text.substr(0, bracket));
  if (!dtype) return std::nullopt;
  text.remove_prefix(bracket);
  const auto sizes = takeBracketList(text);
  if (!sizes) return std::nullopt;
  TensorMeta meta;
  meta.dtype = *dtype;
  meta.sizes = toDims(*sizes);
  if (text.starts_with('[')) {
    const auto strides = takeBracketList(text);
    if (!strides || strides->size() != sizes->size()) return std::nullopt;
    meta.strides = toDims(*strides);
  }
  const std::size_t end = std::min(text.find_first_of(",)"), text.size());
  if (auto device = deviceFromText(text.substr(0, end))) {
    meta.device = std::move(*device);
    text.remove_prefix(end);
  }
  return meta;
}

}  // namespace

bool isSymbolName(std::string_view text) {
  const std::size_t letters = text.starts_with("zuf") ? 3 : text.starts_with("zf") ? 2 : 1;
  if (text.size() <= letters || (letters == 1 && text[0] != 's' && text[0] != 'u')) return false;
  return std::ranges::all_of(text.substr(letters), isDigit);
}

ParsedAnnotation parseAnnotation(std::string_view text) {
  ParsedAnnotation out;
  if (text.starts_with("Sym(") && text.ends_with(")")) {
    const std::string_view inner = text.substr(4, text.size() - 5);
    out.value.value = SymMeta{SymExpr{std::string(inner), wholeNumber(inner)}};
    out.complete = true;
    return out;
  }
  std::string_view rest = text;
  const std::size_t paren = text.find('(');
  const bool wrapped = paren != std::string_view::npos && paren < text.find('[');
  if (wrapped) rest.remove_prefix(paren + 1);
  if (auto tensor = takeTensor(rest)) {
    out.value.value = std::move(*tensor);
    out.complete = !wrapped && rest.empty();
  }
  return out;
}

}  // namespace kerf::inline ir
