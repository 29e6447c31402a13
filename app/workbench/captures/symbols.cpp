#include "app/workbench/captures/symbols.h"

#include <algorithm>
#include <charconv>

namespace kerf::workbench {

namespace {

std::string listed(const std::vector<SymExpr>& symbols) {
  std::string text;
  for (const auto& symbol : symbols) {
    text += text.empty() ? "" : ", ";
    text += symbol.text;
    if (symbol.hint) text += fmt::format(" ({})", *symbol.hint);
  }
  return text;
}

}  // namespace

Result<SymbolBindings> parseSymbols(const std::vector<std::string>& texts) {
  SymbolBindings symbols;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto read = equals == std::string::npos ? std::from_chars_result{end, std::errc::invalid_argument}
                                                  : std::from_chars(text.data() + equals + 1, end, value);
    if (read.ec == std::errc() && read.ptr == end && value < 0)
      return fail(ErrorCode::BadUsage, "{}: a size cannot be negative", text);
    if (equals == 0 || read.ec != std::errc() || read.ptr != end) {
      return fail(ErrorCode::BadUsage,
                  "\"{}\" does not give a symbol a size; it has the form NAME=VALUE with a whole number, as in s0=8",
                  text);
    }
    if (!symbols.emplace(text.substr(0, equals), value).second)
      return fail(ErrorCode::BadUsage, "{} is given two sizes", text.substr(0, equals));
  }
  return symbols;
}

Result<void> checkSymbols(const CapturedGraph& graph, const SymbolBindings& symbols) {
  if (symbols.empty()) return {};
  const auto known = graph.symbols();
  for (const auto& [name, value] : symbols) {
    if (std::ranges::find(known, name, &SymExpr::text) != known.end()) continue;
    if (known.empty()) return fail(ErrorCode::BadUsage, "{}={}: this graph has no symbolic size", name, value);
    return fail(ErrorCode::BadUsage, "{}={}: the graph's symbols are {}", name, value, listed(known));
  }
  return {};
}

std::vector<std::pair<std::string, std::int64_t>> symbolValues(const CapturedGraph& graph,
                                                               const SymbolBindings& given) {
  std::vector<std::pair<std::string, std::int64_t>> values;
  for (const SymExpr& symbol : graph.symbols()) {
    const auto found = given.find(symbol.text);
    if (found != given.end())
      values.emplace_back(symbol.text, found->second);
    else if (symbol.hint)
      values.emplace_back(symbol.text, *symbol.hint);
  }
  return values;
}

}  // namespace kerf::workbench
