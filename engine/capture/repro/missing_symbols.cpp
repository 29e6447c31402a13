#include "engine/capture/repro/missing_symbols.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace kerf::inline capture {
namespace {

constexpr std::int64_t untold = 8;

/// What PyTorch's symbols begin with.
constexpr std::array<std::string_view, 5> symbolStarts = {"s", "u", "ps", "zf", "zuf"};

/// "s0", "u12", "zuf3".
bool isSymbolName(std::string_view text) {
  const std::size_t digits = text.find_first_of("0123456789");
  return digits != std::string_view::npos && text.find_first_not_of("0123456789", digits) == std::string_view::npos &&
         std::ranges::find(symbolStarts, text.substr(0, digits)) != symbolStarts.end();
}

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Walks the tokens of load_args once.
class Walk {
 public:
  explicit Walk(const Symbols& symbols) : m_known(symbols) {}

  void line(std::string_view text, int number) {
    PythonLexer lexer(text, number);
    std::string_view before, function;
    int storage = 0;  // brackets open since "reader.storage("
    for (;;) {
      const PythonToken token = lexer.take();
      if (token.kind == PythonTokenKind::End || token.kind == PythonTokenKind::Error) return;
      if (token.kind == PythonTokenKind::Name && before == ".") function = token.text;
      const bool opens = token.is("(") || token.is("["), closes = token.is(")") || token.is("]");
      if (opens && (storage > 0 || (before == "storage" && function == "storage"))) ++storage;
      if (closes && storage > 0) --storage;
      if (token.kind == PythonTokenKind::Name && before != ".") {
        if (storage > 0)
          m_sized.emplace_back(token.text);
        else
          name(token.text);
      }
      if (token.kind == PythonTokenKind::Number && function == "symint" && before == "(") value(token.text);
      if (token.kind == PythonTokenKind::Operator && token.text == ",") function = {};
      before = token.text;
    }
  }

  std::vector<MissingSymbol> take() {
    for (const std::string& text : m_sized) name(text);
    for (MissingSymbol& symbol : m_found) give(symbol);
    return std::move(m_found);
  }

 private:
  void name(std::string_view text) {
    if (!isSymbolName(text) || m_known.contains(text) || !m_seen.insert(std::string(text)).second) return;
    m_found.push_back({std::string(text), 0, true});
    give(m_found.back());
  }

  /// The next value that no symbol has yet.
  void give(MissingSymbol& symbol) {
    if (!symbol.isGuess) return;
    symbol.isGuess = m_next >= m_values.size();
    symbol.value = symbol.isGuess ? untold : m_values[m_next++];
  }

  void value(std::string_view text) {
    const auto number = wholeNumber(text);
    const auto isThat = [&](const auto& known) { return known.second == *number; };
    if (number && std::ranges::none_of(m_known, isThat)) m_values.push_back(*number);
  }

  const Symbols& m_known;
  std::vector<std::int64_t> m_values;
  std::size_t m_next = 0;
  std::set<std::string> m_seen;
  std::vector<std::string> m_sized;  ///< names in sizes of storages, which sympy has ordered
  std::vector<MissingSymbol> m_found;
};

}  // namespace

std::vector<MissingSymbol> missingSymbols(const SourceText& source, LineRange lines, const Symbols& symbols) {
  Walk walk(symbols);
  for (std::size_t line = lines.first; line < lines.last; ++line)
    if (source.inString[line] == 0) walk.line(source.lines[line], int(line + 1));
  return walk.take();
}

}  // namespace kerf::inline capture
