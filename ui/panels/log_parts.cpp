#include "ui/panels/log_parts.h"

#include <algorithm>

#include <QCoreApplication>

#include "ui/models/format.h"
#include "ui/models/overview_rows.h"

namespace kerf::ui::inline panels {
namespace {

using workbench::LogColumn, workbench::LogRow, workbench::LogTable;

QString sayOfLog(const char* words) { return QCoreApplication::translate("OverviewPanel", words); }

QString escapedOfLog(const std::string& value) { return text(value).toHtmlEscaped().replace('\n', "<br>"); }

std::string logCell(const LogTable& table, const LogRow& row, std::string_view key) {
  const auto column = std::ranges::find(table.columns, key, &LogColumn::key);
  const auto place = std::size_t(column - table.columns.begin());
  return place < row.cells.size() ? row.cells[place] : std::string();
}

QString recordLink(const LogRow& row) {
  return row.record < 0 ? QString()
                        : QString("<br><a href='record:%1'>%2</a>").arg(row.record).arg(sayOfLog("Show the record"));
}

QString recompileHtml(const LogTable& table, const LogRow& row, const TraceLogDoc&) {
  const auto before = logCell(table, row, "before"), after = logCell(table, row, "after"),
             guard = logCell(table, row, "guard");
  auto html = "<p><b>" + escapedOfLog(logCell(table, row, "changed")) + "</b>";
  if (!after.empty()) html += ": " + escapedOfLog(before) + " → " + escapedOfLog(after);
  if (after.empty() && !before.empty()) html += sayOfLog(", was %1").arg(escapedOfLog(before));
  if (!guard.empty()) html += "<br><code>" + escapedOfLog(guard) + "</code>";
  const auto from = logCell(table, row, "from"), where = logCell(table, row, "where");
  if (!from.empty()) html += "<br><span class='quiet'>" + sayOfLog("guard of %1").arg(escapedOfLog(from));
  if (!from.empty()) html += (where.empty() ? QString() : ", " + escapedOfLog(where)) + "</span>";
  if (const auto advice = adviceFor(text(guard)); !advice.isEmpty())
    html += "<br>" + sayOfLog("What to do: %1").arg(advice.toHtmlEscaped());
  return html + "</p>";
}

/// Which lines of the kernel's texts a line of its source became.
QString kernelLinesHtml(const TraceLogDoc& log, int record) {
  const auto* table = log.table("triton-lines");
  const auto found = log.kernelLines.find(record);
  if (table == nullptr || found == log.kernelLines.end()) return {};
  QString rows;
  const auto& places = found->second;
  const auto told = std::min(places.size(), std::size_t(mostToldRows));
  for (std::size_t i = 0; i < told; ++i) {
    rows += "<tr>";
    for (const char* key : {"source", "ttir", "ttgir", "machine"})
      rows += "<td style='padding-right: 12px'>" +
              text(logCell(*table, table->rows[std::size_t(places[i])], key)).section('/', -1).toHtmlEscaped() +
              "</td>";
    rows += "</tr>";
  }
  const auto more = told < places.size()
                        ? "<p class='quiet'>" + sayOfLog("and %1 more lines").arg(places.size() - told) + "</p>"
                        : QString();
  return "<table><tr class='quiet'><td>" + sayOfLog("Source line") +
         "</td><td>TTIR</td><td>TTGIR</td><td>PTX</td></tr>" + rows + "</table>" + more;
}

/// "launched 3 times, grids [8] ×2, [4] ×1" and what else is told of a kernel.
QString launchedKernelHtml(const LogTable& table, const LogRow& row, const TraceLogDoc& log) {
  const auto told = [&](const char* key) { return logCell(table, row, key); };
  auto html =
      "<p><b>" + escapedOfLog(told("kernel")) + "</b> <span class='quiet'>" + escapedOfLog(told("hash")) + "</span>";
  QStringList about;
  for (const auto& [key, what] :
       {std::pair("warps", sayOfLog("%1 warps")), std::pair("stages", sayOfLog("%1 stages")),
        std::pair("shared", sayOfLog("%1 bytes of shared memory")), std::pair("arch", QString("%1"))})
    if (const auto value = told(key); !value.empty()) about << what.arg(escapedOfLog(value));
  if (!about.isEmpty()) html += "<br>" + about.join(", ");
  const auto launches = text(told("launches")).toLongLong();
  html += "<br>" + sayOfLog("launched %1").arg(launches == 1 ? sayOfLog("once") : plural(launches, sayOfLog("time")));
  if (!told("grids").empty()) html += sayOfLog(", grids %1").arg(escapedOfLog(told("grids")));
  if (!told("arguments").empty()) html += "<br><code>" + escapedOfLog(told("arguments")) + "</code>";
  if (!told("where").empty())
    html += "<br><span class='quiet'>" + sayOfLog("called at %1").arg(escapedOfLog(told("where"))) + "</span>";
  if (!row.detail.empty()) html += "<br><span class='quiet'>" + escapedOfLog(row.detail) + "</span>";
  return html + recordLink(row) + "</p>" + kernelLinesHtml(log, row.record);
}

QString columnsHtml(const LogPart& part, const LogTable& table, const LogRow& row) {
  QString html = "<p>";
  for (const char* key : part.columns) {
    const auto value = logCell(table, row, key);
    if (value.empty()) continue;
    const bool first = key == part.columns.front();
    const bool code = std::string_view(key) == "code";
    html += first ? "<b>" + escapedOfLog(value) + "</b>"
                  : "<br>" + (code ? "<code>" + escapedOfLog(value) + "</code>" : escapedOfLog(value));
  }
  if (!row.detail.empty()) html += "<br><span class='quiet'>" + escapedOfLog(row.detail) + "</span>";
  return html + recordLink(row) + "</p>";
}

}  // namespace

const std::vector<LogPart>& logParts() {
  static const std::vector<LogPart> all{{"failures", "Why it failed", {"type", "reason", "where"}},
                                        {"breaks", "Where it broke", {"where", "code", "reason"}},
                                        {"recompiles", "Why it was compiled again", {}, recompileHtml},
                                        {"restarts", "Why it was begun anew", {"because", "reason"}},
                                        {"triton", "Triton kernels", {}, launchedKernelHtml}};
  return all;
}

QString logRowHtml(const LogPart& part, const LogTable& table, const LogRow& row, const TraceLogDoc& log) {
  return part.html ? part.html(table, row, log) : columnsHtml(part, table, row);
}

}  // namespace kerf::ui::inline panels
