#include "engine/capture/trace/symbol_records.h"

#include <algorithm>
#include <array>

#include "engine/capture/common/json.h"
#include "engine/capture/common/symbol_range.h"
#include "engine/capture/trace/compiles.h"
#include "engine/capture/trace/scanner.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t maxSymbols = 20'000, maxGuards = 50'000;  ///< of one compile id
constexpr std::size_t longestGuard = 4096;                      ///< bytes of its text

std::string textOf(std::string_view object, std::string_view member) {
  return jsonString(jsonMember(object, member)).value_or("");
}

/// A number, or the text of one.
std::optional<std::int64_t> numberOf(std::string_view object, std::string_view member) {
  const std::string_view value = jsonMember(object, member);
  const auto text = jsonString(value);
  return text ? jsonInteger(*text) : jsonInteger(value);
}

std::string userFrame(std::string_view object, const std::map<std::int64_t, std::string>& files) {
  std::string_view last;
  JsonWalker frames(jsonMember(object, "user_stack"));
  while (frames.nextElement()) last = frames.value();
  return last.empty() ? std::string() : frameText(last, files);
}

void addGuard(CompileEntry& entry, TracedGuard guard) {
  const auto same = [&](const TracedGuard& known) {
    return known.expression == guard.expression && known.kind == guard.kind;
  };
  if (guard.expression.empty() || guard.expression.size() > longestGuard || entry.guards.size() >= maxGuards) return;
  if (entry.guards.size() < 1000 && std::ranges::any_of(entry.guards, same)) return;
  entry.guards.push_back(std::move(guard));
}

void takeSymbol(const SymbolRecord& record, CompileEntry& entry, SymbolHints& symbols) {
  const std::string_view value = record.header.value;
  TracedSymbol symbol{.name = textOf(value, "symbol"),
                      .value = numberOf(value, "val"),
                      .lower = {},
                      .upper = {},
                      .source = textOf(value, "source"),
                      .where = userFrame(value, record.files)};
  if (symbol.name.empty() || entry.tracedSymbols.size() >= maxSymbols) return;
  const std::string text = textOf(value, "vr");
  SymbolRange range = symbolRange(symbol.name, text);
  range.source = symbol.source;
  symbol.lower = range.lower;
  symbol.upper = range.upper;
  const std::lock_guard lock(symbols.mutex);
  if (symbol.value && symbols.values.insert_or_assign(symbol.name, *symbol.value).second)
    entry.symbols.emplace_back(symbol.name, *symbol.value);
  if (!text.empty()) symbols.ranges.insert_or_assign(symbol.name, std::move(range));
  entry.tracedSymbols.push_back(std::move(symbol));
}

void takeGuard(const SymbolRecord& record, CompileEntry& entry, SymbolHints&) {
  const std::string_view value = record.header.value;
  addGuard(entry, {textOf(value, "expr"), record.header.kind, {}, userFrame(value, record.files), record.line});
}

void takeSpecialisation(const SymbolRecord& record, CompileEntry& entry, SymbolHints&) {
  const std::string_view value = record.header.value;
  const std::string symbol = textOf(value, "symbol"), fixed = textOf(value, "value");
  if (symbol.empty() || fixed.empty()) return;
  addGuard(entry, {fmt::format("Eq({}, {})", symbol, fixed), record.header.kind, textOf(value, "reason"),
                   userFrame(value, record.files), record.line});
}

struct Reader {
  std::string_view kind;
  void (*take)(const SymbolRecord&, CompileEntry&, SymbolHints&);
};
constexpr std::array readers{Reader{"create_symbol", takeSymbol},
                             Reader{"create_unbacked_symbol", takeSymbol},
                             Reader{"guard_added", takeGuard},
                             Reader{"guard_added_fast", takeGuard},
                             Reader{"propagate_real_tensors_provenance", takeGuard},
                             Reader{"symbolic_shape_specialization", takeSpecialisation}};

/// "s0", "u12", "zf1": as ShapeEnv names them.
bool isSymbolName(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  const bool known = digits != std::string_view::npos && digits > 0 && std::string_view("suz").contains(name[0]);
  return known && name.find_first_not_of("0123456789", digits) == std::string_view::npos && digits <= 2;
}

/// The text with the symbols in the place of their sources; empty if it is then no condition on symbols.
std::string withSymbols(std::string text, const CompileEntry& entry) {
  std::vector<const TracedSymbol*> symbols;
  for (const TracedSymbol& symbol : entry.tracedSymbols)
    if (!symbol.source.empty() && text.find(symbol.source) != std::string::npos) symbols.push_back(&symbol);
  std::ranges::stable_sort(symbols, std::ranges::greater{}, [](const TracedSymbol* s) { return s->source.size(); });
  for (const TracedSymbol* symbol : symbols)
    for (std::size_t at = text.find(symbol->source); at != std::string::npos; at = text.find(symbol->source, at)) {
      text.replace(at, symbol->source.size(), symbol->name);
      at += symbol->name.size();
    }
  if (text.find('[') != std::string::npos) return {};
  const auto expression = Symbolic::parse(text);
  if (!expression) return {};
  const auto names = expression->symbols();
  return !names.empty() && std::ranges::all_of(names, isSymbolName) ? text : std::string();
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

void takeSymbolRecord(const SymbolRecord& record, CompileEntry& entry, SymbolHints& symbols) {
  for (const Reader& reader : readers)
    if (record.header.kind == reader.kind) reader.take(record, entry, symbols);
}

void takeGuardList(std::string_view rawPayload, int line, CompileEntry& entry) {
  const std::string text = withoutTabs(rawPayload);
  JsonWalker elements(text);
  while (elements.nextElement()) {
    std::string code = textOf(elements.value(), "code");
    if (code.size() > longestGuard) continue;
    addGuard(entry, {withSymbols(std::move(code), entry), "dynamo_guards", {}, {}, line});
  }
}

void takeGuardTree(std::string_view rawPayload, int line, CompileEntry& entry) {
  constexpr std::array marks{std::string_view("LAMBDA_GUARD: "), std::string_view("SYMBOLIC_SHAPE_GUARD: ")};
  for (std::size_t at = 0; at < rawPayload.size();) {
    const std::size_t end = std::min(rawPayload.find('\n', at), rawPayload.size());
    const std::string_view text = rawPayload.substr(at, std::min(end - at, longestGuard));
    at = end + 1;
    for (const std::string_view mark : marks) {
      const std::size_t found = text.find(mark);
      if (found == std::string_view::npos) continue;
      std::string_view code = text.substr(found + mark.size());
      code = trimmed(code.substr(0, code.find("  # ")));
      addGuard(entry, {withSymbols(std::string(code), entry), "dynamo_cpp_guards_str", {}, {}, line});
    }
  }
}

}  // namespace kerf::inline capture::trace
