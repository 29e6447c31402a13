#include "app/cli/compile_log_report.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "app/cli/text_table.h"
#include "engine/support/log.h"
#include "engine/support/printable.h"

namespace kerf::cli {

namespace {

constexpr std::size_t widestCell = 100;  ///< characters, in text
/// Tables whose details are explanations for people, not only places for those who dig.
constexpr std::array<std::string_view, 4> explained{"breaks", "restarts", "failures", "export"};

std::string onOneLine(std::string text) {
  std::ranges::replace(text, '\n', ';');
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80 || characters++ < widestCell) continue;
    return text.substr(0, i) + "…";
  }
  return text;
}

std::vector<std::size_t> usedColumns(const LogTable& table) {
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (std::ranges::any_of(table.rows,
                            [&](const LogRow& row) { return c < row.cells.size() && !row.cells[c].empty(); }))
      used.push_back(c);
  return used;
}

std::string treeText(const LogTable& table) {
  std::string text;
  for (const LogRow& row : table.rows) {
    const std::string ids = row.cells.size() > 1 && !row.cells[1].empty() ? "  <- " + row.cells[1] : "";
    text += std::string(std::size_t(row.depth) * 2, ' ') + escapedText(row.cells[0] + ids) + "\n";
  }
  return text;
}

std::string explanations(const LogTable& table) {
  std::string text;
  for (const LogRow& row : table.rows) {
    if (row.detail.empty()) continue;
    text += "\n" + escapedText(row.cells[0]) + "\n";
    std::string detail = printableText(row.detail);
    if (detail.ends_with('\n')) detail.pop_back();
    std::string indented = "  ";
    for (const char c : detail) indented += c == '\n' ? std::string("\n  ") : std::string(1, c);
    text += indented + "\n";
  }
  return text;
}

/// "c3".
bool isStoreId(const std::string& name) {
  return name.size() > 1 && name[0] == 'c' && name.find_first_not_of("0123456789", 1) == std::string::npos;
}

Json cellJson(const LogColumn& column, const std::string& cell) {
  if (cell.empty()) return {};
  double number = 0;
  const auto [end, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (!column.isNumber || problem != std::errc() || end != cell.data() + cell.size()) return cell;
  const bool whole = cell.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? Json(std::int64_t(number)) : Json(number);
}

}  // namespace

std::string answerText(const CompileLogDoc& doc) {
  std::string text;
  for (const LogSentence& sentence : doc.answer)
    text += fmt::format("{} {}\n",
                        sentence.weight == "problem" ? "!"
                        : sentence.weight == "note"  ? "-"
                                                     : " ",
                        escapedText(sentence.text));
  return text;
}

std::string logTableText(const LogTable& table) {
  if (table.rows.empty()) return table.none + "\n";
  if (table.name == "stacks") return treeText(table);
  const auto used = usedColumns(table);
  std::vector<std::string> headings;
  for (const std::size_t c : used) headings.push_back(table.columns[c].key);
  TextTable text(headings);
  for (const LogRow& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::size_t c : used) cells.push_back(c < row.cells.size() ? onOneLine(row.cells[c]) : "");
    text.add(std::move(cells));
  }
  const bool explains = std::ranges::find(explained, table.name) != explained.end();
  return text.text() + (explains ? explanations(table) : "");
}

Json logTableJson(const CompileLogDoc& doc, const LogTable& table) {
  Json rows = Json::array();
  for (const LogRow& row : table.rows) {
    Json object = Json::object();
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      object[table.columns[c].key] = c < row.cells.size() ? cellJson(table.columns[c], row.cells[c]) : Json();
    if (!row.detail.empty()) object["detail"] = row.detail;
    if (table.name == "stacks") object["depth"] = row.depth;
    if (row.record >= 0)
      object["record_id"] = fmt::format("{}{}r{}", doc.name, isStoreId(doc.name) ? "/" : "#", row.record + 1);
    rows.push_back(std::move(object));
  }
  return {{"capture", doc.name}, {"table", table.name}, {"rows", std::move(rows)}, {"notes", doc.notes}};
}

}  // namespace kerf::cli
