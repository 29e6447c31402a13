#include "app/cli/show_parts.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

using Number = std::optional<std::int64_t>;

std::string numberText(const Number& number) { return number ? std::to_string(*number) : "-"; }
std::string orDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string symbolTable(const GuardsDoc& doc) {
  const bool given = std::ranges::any_of(doc.symbols, [](const auto& symbol) { return symbol.given.has_value(); });
  const bool recorded = std::ranges::any_of(doc.symbols, [](const auto& symbol) { return !symbol.recorded.empty(); });
  std::vector<std::string> headings{"symbol", "value", "range", "source"};
  if (given) headings.insert(headings.begin() + 2, "given");
  if (recorded) headings.insert(headings.end(), {"recorded", "recorded range", "recorded source"});
  TextTable table(headings);
  for (const ShapeSymbolDoc& symbol : doc.symbols) {
    std::vector<std::string> row{symbol.name, symbol.unbacked ? "unbacked" : numberText(symbol.value)};
    if (given) row.push_back(numberText(symbol.given) + (symbol.fits ? "" : " (out of range)"));
    row.insert(row.end(), {rangeText(symbol.range), orDash(symbol.source)});
    if (recorded && symbol.recorded.empty()) row.insert(row.end(), {"-", "-", "-"});
    if (recorded && !symbol.recorded.empty()) {
      const RecordedSymbolDoc& last = symbol.recorded.back();
      row.insert(row.end(), {numberText(last.value), rangeText(last.range), orDash(last.source)});
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string guardTable(const GuardsDoc& doc, bool deferred) {
  const bool logged = !doc.recorded.empty();
  const bool broken = std::ranges::any_of(doc.guards, [](const auto& guard) { return !guard.holds; });
  std::vector<std::string> headings{deferred ? "runtime assert" : "guard", "node", "where", "reason"};
  if (logged) headings.insert(headings.begin() + 1, "in the log");
  if (broken) headings.insert(headings.begin() + 1, "holds");
  TextTable table(headings);
  bool any = false;
  for (const ShapeGuardDoc& guard : doc.guards) {
    if (guard.deferred != deferred) continue;
    any = true;
    std::vector<std::string> row{guard.expression};
    if (broken) row.push_back(guard.holds ? "yes" : "no");
    if (logged) row.push_back(guard.recorded ? "yes" : "no");
    row.insert(row.end(), {orDash(guard.node), orDash(guard.where), orDash(guard.reason)});
    table.add(std::move(row));
  }
  return any ? table.text() : std::string();
}

std::string recordedTable(const GuardsDoc& doc) {
  if (doc.recorded.empty()) return {};
  TextTable table({"recorded guard", "here", "record", "line", "where"});
  for (const RecordedGuardDoc& guard : doc.recorded)
    table.add({guard.expression, std::string(matchName(guard.match)),
               guard.kind + (guard.reason.empty() ? "" : ": " + guard.reason),
               guard.line > 0 ? std::to_string(guard.line) : "-", orDash(guard.where)});
  return table.text();
}

/// "s0 = 8, by node view_3 (model.py:12)"
std::string replacementLine(const ReplacementDoc& replacement) {
  auto line = fmt::format("{} = {}", replacement.symbol, replacement.value);
  if (!replacement.node.empty()) line += ", by node " + replacement.node;
  if (!replacement.where.empty()) line += fmt::format(" ({})", replacement.where);
  return line + "\n";
}

std::string listed(std::string_view title, const std::vector<ReplacementDoc>& replacements) {
  std::string text;
  for (const ReplacementDoc& replacement : replacements) text += "  " + replacementLine(replacement);
  return text.empty() ? text : fmt::format("{}\n{}", title, text);
}

std::string duplicateLines(const GuardsDoc& doc) {
  std::string text;
  for (const DuplicateShapeDoc& duplicate : doc.duplicates)
    text += fmt::format("  {}: {}\n", duplicate.expression, fmt::join(duplicate.places, ", "));
  return text.empty() ? text : "equal shapes\n" + text;
}

}  // namespace

std::string guardsText(const GuardsDoc& doc) {
  std::string text = doc.title + (doc.compileId.empty() ? "" : "  " + doc.compileId) + "\n";
  if (doc.symbols.empty() && doc.recorded.empty()) text += "every size is a number, so there are no guards\n";
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  if (!doc.symbols.empty()) add(symbolTable(doc));
  add(guardTable(doc, false));
  add(guardTable(doc, true));
  add(listed("specialised", doc.specialisations));
  add(listed("replaced", doc.replacements));
  add(duplicateLines(doc));
  add(recordedTable(doc));
  for (const std::string& note : doc.notes) text += "note: " + note + "\n";
  return text;
}

Json guardsJson(const std::string& graph, const GuardsDoc& doc) {
  Json json{{"graph", graph}};
  json.update(jsonOf(doc));
  return json;
}

}  // namespace kerf::cli
