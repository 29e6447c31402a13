#include "app/workbench/logs/log_html.h"

#include <algorithm>
#include <array>

#include "app/workbench/captures/capture_index.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t mostRows = 2000;         ///< of one table on one page
constexpr std::size_t longestDetail = 20'000;  ///< bytes of one row's
constexpr std::array<std::string_view, 9> codeColumns{"guard", "code", "subject", "key",  "schedule",
                                                      "lines", "post", "pre",     "frame"};

constexpr std::array<std::string_view, 11> barColours{"#f4a6a6", "#f4c9a6", "#f0e3a0", "#cfe8a2", "#a9e0b0", "#a3e0d4",
                                                      "#a6cff4", "#b4b8f2", "#d0b0ee", "#eeb0dc", "#d9cfc4"};

std::vector<std::size_t> usedColumns(const LogTable& table, const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (std::ranges::any_of(
            rows, [&](std::size_t r) { return c < table.rows[r].cells.size() && !table.rows[r].cells[c].empty(); }))
      used.push_back(c);
  return used;
}

/// What may be clicked of an address that a log gives.
bool isWebAddress(std::string_view address) {
  return address.starts_with("https://") || address.starts_with("http://");
}

std::string cellHtml(const LogPages& pages, const LogTable& table, const LogRow& row, std::size_t column,
                     std::string_view up) {
  const LogColumn& heading = table.columns[column];
  const std::string& cell = row.cells[column];
  if (heading.key == "id" && row.compile >= 0) return compileLink(pages, std::size_t(row.compile), up);
  if (heading.key == "address" && isWebAddress(cell)) return fmt::format("<a href=\"{0}\">{0}</a>", htmlText(cell));
  const bool names =
      heading.key == "name" || heading.key == "result" || heading.key == "record" || heading.key == "where";
  const std::string page = names && row.record >= 0 ? pages.recordPage(std::size_t(row.record)) : std::string();
  return page.empty() ? htmlText(cell) : fmt::format("<a href=\"{}{}\">{}</a>", up, page, htmlText(cell));
}

std::string_view classOf(const LogColumn& column) {
  if (column.isNumber) return " class=\"num\"";
  return std::ranges::find(codeColumns, column.key) != codeColumns.end() ? " class=\"code\"" : "";
}

std::string treeHtml(const LogPages& pages, const LogTable& table, const std::vector<std::size_t>& rows) {
  std::map<std::string, std::size_t> compiles;
  for (std::size_t i = 0; i < pages.view().details.compiles.size(); ++i) {
    const CompileEntry& entry = pages.view().details.compiles[i];
    compiles.try_emplace(entry.id, i);
    compiles.try_emplace(fmt::format("{}@rank{}", entry.id, entry.rank), i);
  }
  std::string out = "<div class=\"tree\">";
  for (const std::size_t r : rows) {
    const LogRow& row = table.rows[r];
    out += std::string(std::size_t(std::min(row.depth, 60)) * 2, ' ') + htmlText(row.cells[0]);
    if (!row.detail.empty()) out += fmt::format(" <span class=\"dim\">{}</span>", htmlText(row.detail));
    for (std::string_view rest = row.cells[1]; !rest.empty();) {
      const std::string_view label = rest.substr(0, rest.starts_with('(') ? rest.size() : rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), label.size() + 1));
      const auto found = compiles.find(std::string(label));
      out += " <b>" +
             (found == compiles.end()
                  ? htmlText(label)
                  : fmt::format("<a href=\"{}\">{}</a>", pages.compilePage(found->second), htmlText(label))) +
             "</b>";
    }
    out += "\n";
  }
  return out + "</div>\n";
}

}  // namespace

std::string compileLink(const LogPages& pages, std::size_t compile, std::string_view up) {
  return fmt::format("<a href=\"{}{}\">{}</a>", up, pages.compilePage(compile),
                     htmlText(pages.view().details.compiles[compile].id));
}

std::string tableHtml(const LogPages& pages, const LogTable& table, const std::vector<std::size_t>& rows,
                      std::string_view up) {
  if (rows.empty()) return fmt::format("<p class=\"dim\">{}</p>\n", htmlText(table.none));
  const std::vector<std::size_t> shown(rows.begin(), rows.begin() + std::ptrdiff_t(std::min(rows.size(), mostRows)));
  std::string left;
  if (shown.size() < rows.size())
    left = fmt::format("<p class=\"dim\">{} more rows: the capture's table \"{}\" has all of them.</p>\n",
                       rows.size() - shown.size(), table.name);
  if (table.name == "stacks") return treeHtml(pages, table, shown) + left;
  auto used = usedColumns(table, shown);
  if (!up.empty())  // a page of one compile id
    std::erase_if(used, [&](std::size_t c) { return table.columns[c].key == "id" || table.columns[c].key == "rank"; });
  std::string out = "<div class=\"scroll\"><table><tr>";
  for (const std::size_t c : used) out += fmt::format("<th>{}</th>", htmlText(table.columns[c].title));
  out += "</tr>\n";
  for (const std::size_t r : shown) {
    const LogRow& row = table.rows[r];
    out += "<tr>";
    for (const std::size_t c : used)
      out += fmt::format("<td{}>{}</td>", classOf(table.columns[c]),
                         c < row.cells.size() ? cellHtml(pages, table, row, c, up) : std::string());
    out += "</tr>\n";
    if (!row.detail.empty())
      out += fmt::format("<tr><td colspan=\"{}\"><details><summary>more</summary><pre>{}{}</pre></details></td></tr>\n",
                         used.size(), htmlText(std::string_view(row.detail).substr(0, longestDetail)),
                         row.detail.size() > longestDetail ? "\n…" : "");
  }
  return out + "</table></div>\n" + left;
}

std::string timelineHtml(const LogView& view) {
  constexpr std::size_t mostBars = 3000;
  constexpr double width = 1200, rowHeight = 16, laneGap = 18;
  const auto doc = timelineDoc(view.details.timeline);
  if (!doc || doc->length <= 0) return {};
  std::vector<const TimelineSpan*> spans;
  for (const TimelineSpan& span : doc->spans) spans.push_back(&span);
  std::ranges::stable_sort(spans, std::ranges::greater(), [](const TimelineSpan* span) { return span->duration; });
  if (spans.size() > mostBars) spans.resize(mostBars);
  std::ranges::stable_sort(spans, {}, [](const TimelineSpan* span) { return std::pair(span->row, span->begin); });
  std::vector<double> top;  // of each row
  std::string bars;
  double y = 0;
  for (const TimelineLane& lane : doc->lanes) {
    bars += fmt::format("<text x=\"0\" y=\"{}\" class=\"lane\">{}</text>\n", y + laneGap - 5, htmlText(lane.title));
    y += laneGap;
    for (int row = 0; row < lane.rows; ++row, y += rowHeight) top.push_back(y);
  }
  for (const TimelineSpan* span : spans) {
    if (std::size_t(span->row) >= top.size()) continue;
    const double x = double(span->begin) / double(doc->length) * width;
    const double w = std::max(0.5, double(span->duration) / double(doc->length) * width);
    std::size_t colour = 0;
    for (const char c : span->name) colour = (colour * 31 + static_cast<unsigned char>(c)) % barColours.size();
    bars += fmt::format(
        "<g><title>{} {} {:.3f} ms</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"14\" fill=\"{}\"/>",
        htmlText(span->name), htmlText(span->compileId), double(span->duration) / 1e3, x, top[std::size_t(span->row)],
        w, barColours[colour]);
    const std::size_t fitting = std::size_t(w / 6.5);
    if (fitting >= 6)
      bars += fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + 2, top[std::size_t(span->row)] + 11,
                          htmlText(std::string_view(span->name).substr(0, fitting)));
    bars += "</g>\n";
  }
  std::string note;
  if (doc->spans.size() > spans.size())
    note = fmt::format("The longest {} of {} events; ", spans.size(), doc->spans.size());
  return fmt::format(
      "<p class=\"dim\">{}{:.3f} s in all. <a href=\"timeline.json\">timeline.json</a> opens in ui.perfetto.dev and "
      "chrome://tracing.</p>\n<div class=\"scroll\"><svg viewBox=\"0 0 {} {}\" width=\"100%\" role=\"img\">\n"
      "<style>text{{font:11px sans-serif;fill:#111}}.lane{{fill:#888}}</style>\n{}</svg></div>\n",
      note, double(doc->length) / 1e6, width, y + 4, bars);
}

}  // namespace kerf::workbench
