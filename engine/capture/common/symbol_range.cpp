#include "engine/capture/common/symbol_range.h"

#include <algorithm>
#include <charconv>

#include "engine/symbolic/value_range.h"

namespace kerf::inline capture {
namespace {

std::optional<std::int64_t> numberIn(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

SymbolRange symbolRange(std::string name, std::string_view text) {
  SymbolRange range{.name = std::move(name), .lower = {}, .upper = {}, .source = {}};
  const std::size_t open = text.find('['), comma = text.find(','), close = text.find(']');
  if (close == std::string_view::npos || comma > close || open > comma) return range;
  range.lower = numberIn(text.substr(open + 1, comma - open - 1));
  range.upper = numberIn(text.substr(comma + 1, close - comma - 1));
  return range;
}

std::string rangeText(const SymbolRange& range) {
  return ValueRange{range.lower.value_or(ValueRange::least), range.upper.value_or(ValueRange::greatest)}.text();
}

}  // namespace kerf::inline capture
