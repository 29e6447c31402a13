#include "app/workbench/logs/log_pages.h"

#include <algorithm>
#include <array>
#include <set>

#include "app/workbench/logs/log_html.h"

namespace kerf::workbench {

namespace {

/// On the first page; the others are on the pages of the compile ids, with those of them that are theirs.
constexpr std::array<std::string_view, 16> onIndex{
    "ranks",  "divergences", "compiles",     "recompiles", "breaks",    "restarts",    "failures", "export",
    "stacks", "triton",      "triton-lines", "caches",     "estimates", "collectives", "timeline", "links"};
constexpr std::array<std::string_view, 14> onCompile{
    "recompiles",    "breaks",      "restarts", "failures",    "export",    "caches",  "symbols",
    "dynamo-guards", "output-code", "kernels",  "collectives", "estimates", "metrics", "links"};

/// A compile id as a file's name: digits, '-' and '_' alone.
std::string fileName(const CompileEntry& entry) {
  std::string name = entry.rank < 0 ? std::string() : fmt::format("rank{}.", entry.rank);
  for (const char c : entry.id) {
    if (c >= '0' && c <= '9') name += c;
    if (c == '/') name += '-';
    if (c == '_') name += '_';
    if (c == '!') name += 'a';
  }
  return entry.id == "(unknown)" ? name + "unknown" : name;
}

std::string heading(const LogTable& table, std::size_t count) {
  return fmt::format("<h2 id=\"{}\">{}{}</h2>\n", table.name, htmlText(table.title),
                     count == 0 ? std::string() : fmt::format(" <span class=\"dim\">{}</span>", count));
}

const LogTable* tableNamed(const LogTables& tables, std::string_view name) {
  const auto found = std::ranges::find(tables.tables, name, &LogTable::name);
  return found == tables.tables.end() ? nullptr : &*found;
}

std::vector<std::size_t> allRows(const LogTable& table) {
  std::vector<std::size_t> rows(table.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return rows;
}

/// What this Kerf has no table for is still said: which kinds of records, and how many.
std::string kindsHtml(const LogPages& pages) {
  std::map<std::string, int> kinds;
  for (const CaptureRecord& record : pages.view().details.records)
    ++kinds[record.kind == "artifact" ? "artifact " + record.name : record.kind];
  std::string out = "<p>";
  for (const auto& [kind, count] : kinds)
    out += fmt::format("{} <span class=\"dim\">{}</span> &nbsp; ", htmlText(kind), count);
  return out + "</p>\n";
}

}  // namespace

LogPages::LogPages(const LogView& view) : m_view(view), m_isCode(view.details.records.size()) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < view.details.compiles.size(); ++i) {
    const std::string name = fileName(view.details.compiles[i]);
    std::string unique = name.empty() ? "id" : name;
    if (!taken.insert(unique).second) taken.insert(unique = fmt::format("{}.{}", unique, i));
    m_compilePages.push_back(fmt::format("compiles/{}.html", unique));
  }
  for (const CompileStory& story : view.log.compiles)
    for (const LoggedCode& code : story.codes) m_isCode[code.record] = true;
}

std::string LogPages::recordPage(std::size_t record) const {
  const CaptureRecord& known = m_view.details.records[record];
  if (known.payload.length == 0 || known.kind == "chromium_event") return {};
  return fmt::format("records/r{}.{}", record + 1, m_isCode[record] ? "html" : "txt");
}

LogTables logTables(const LogView& view) {
  LogTables made;
  made.rowsOf.resize(view.log.compiles.size());
  for (const LogSection& section : logSections()) {
    made.tables.push_back(logTable(view, section));
    const LogTable& table = made.tables.back();
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      if (table.rows[r].compile >= 0)
        made.rowsOf[std::size_t(table.rows[r].compile)][made.tables.size() - 1].push_back(r);
  }
  return made;
}

std::string recordListName(std::size_t index) { return fmt::format("records-{}.html", index / recordsOnPage + 1); }

std::string indexPage(const LogPages& pages, const LogTables& tables, const CompileLogDoc& doc,
                      const std::string& audit) {
  std::string body =
      fmt::format("<h1>{}</h1>\n<p class=\"dim\">{}{}</p>\n<ul class=\"answer\">\n", "How it compiled",
                  htmlText(doc.path), doc.torchVersion.empty() ? "" : ", torch " + htmlText(doc.torchVersion));
  for (const LogSentence& sentence : doc.answer)
    body += fmt::format(
        "<li class=\"{}\">{}{}</li>\n", sentence.weight, htmlText(sentence.text),
        tableNamed(tables, sentence.section) != nullptr && std::ranges::find(onIndex, sentence.section) != onIndex.end()
            ? fmt::format(" <a href=\"#{}\">…</a>", sentence.section)
            : std::string());
  body += "</ul>\n<nav>";
  std::string sections;
  for (const std::string_view name : onIndex) {
    const LogTable* table = tableNamed(tables, name);
    if (table == nullptr || table->rows.empty()) continue;
    body += fmt::format("<a href=\"#{}\">{}</a>", name, htmlText(table->title));
    sections += heading(*table, name == "stacks" ? 0 : table->rows.size());
    if (name == "timeline") sections += timelineHtml(pages.view());
    if (name == "estimates")
      sections +=
          "<p class=\"dim\"><a href=\"estimates.json\">estimates.json</a> has them as a timeline for "
          "ui.perfetto.dev.</p>\n";
    sections += tableHtml(pages, *table, allRows(*table), "");
  }
  if (!audit.empty()) body += "<a href=\"#audit\">Output code, audited</a>";
  body += "<a href=\"#records\">Records</a></nav>\n" + sections + audit +
          "<h2 id=\"records\">Records as they are</h2>\n" + kindsHtml(pages);
  body += fmt::format(
      "<p><a href=\"{}\">All {} records</a>, <a href=\"records.jsonl\">records.jsonl</a> with file names in the place "
      "of "
      "their numbers.</p>\n",
      recordListName(0), pages.view().details.records.size());
  for (const std::string& note : doc.notes) body += fmt::format("<p class=\"note\">{}</p>\n", htmlText(note));
  return htmlPage({"Kerf report: " + doc.name, body, reportStyle});
}

std::string compilePage(const LogPages& pages, const LogTables& tables, std::size_t compile,
                        const std::vector<std::string>& remarks) {
  const LogView& view = pages.view();
  const CompileEntry& entry = view.details.compiles[compile];
  const CompileStory& story = view.log.compiles[compile];
  const std::string rank = entry.rank < 0 ? std::string() : fmt::format(", rank {}", entry.rank);
  std::string body = fmt::format("<p><a href=\"../index.html\">Report</a></p>\n<h1>{}{}: {}</h1>\n<p>{}</p>\n",
                                 htmlText(entry.id), rank, compileStatusName(entry.status), htmlText(entry.frame));
  if (!entry.failure.empty()) body += fmt::format("<p class=\"problem\">{}</p>\n", htmlText(entry.failure));
  if (!remarks.empty()) body += "<ul class=\"answer\">\n";
  for (const std::string& remark : remarks) body += fmt::format("<li class=\"problem\">{}</li>\n", htmlText(remark));
  if (!remarks.empty()) body += "</ul>\n";
  if (!story.stack.empty())
    body += fmt::format("<details><summary>stack</summary><pre>{}</pre></details>\n",
                        htmlText(view.log.frames.traceback(story.stack)));
  if (story.tensors > 0) body += fmt::format("<p>{} input tensors</p>\n", story.tensors);
  for (const std::string_view name : onCompile) {
    const LogTable* table = tableNamed(tables, name);
    if (table == nullptr) continue;
    const auto found = tables.rowsOf[compile].find(std::size_t(table - tables.tables.data()));
    if (found == tables.rowsOf[compile].end()) continue;
    body += heading(*table, found->second.size());
    body += name == "kernels" ? kernelsHtml(pages, compile) : tableHtml(pages, *table, found->second, "../");
  }
  if (!entry.records.empty())
    body += fmt::format("<p><a href=\"../{}#r{}\">Its records</a></p>\n", recordListName(entry.records.front()),
                        entry.records.front() + 1);
  return htmlPage({entry.id + rank, body, reportStyle});
}

std::string recordListPage(const LogPages& pages, std::size_t first, std::size_t end) {
  const auto& records = pages.view().details.records;
  std::string body = "<p><a href=\"index.html\">Report</a>";
  if (first > 0) body += fmt::format(" <a href=\"{}\">before</a>", recordListName(first - 1));
  if (end < records.size()) body += fmt::format(" <a href=\"{}\">behind</a>", recordListName(end));
  body += fmt::format(
      "</p>\n<h1>Records {} to {}</h1>\n<div "
      "class=\"scroll\"><table><tr><th>Record</th><th>Id</th><th>Kind</th><th>Graph</th>"
      "<th>Line</th><th>Bytes</th></tr>\n",
      first + 1, end);
  for (std::size_t i = first; i < end; ++i) {
    const CaptureRecord& record = records[i];
    const std::string page = pages.recordPage(i);
    const std::string kind = htmlText(record.kind == record.name ? record.kind : record.kind + " " + record.name);
    body += fmt::format(
        "<tr id=\"r{0}\"><td>r{0}</td><td>{1}</td><td>{2}</td><td>{3}</td><td class=\"num\">{4}</td><td "
        "class=\"num\">{5}</td></tr>\n",
        i + 1, htmlText(record.origin.compileId),
        page.empty() ? kind : fmt::format("<a href=\"{}\">{}</a>", page, kind),
        htmlText(pages.view().log.directions[i]), record.origin.line, record.payload.length);
  }
  return htmlPage({"Records", body + "</table></div>\n", reportStyle});
}

std::string codePage(const LogPages& pages, std::size_t record, std::string_view text) {
  const CaptureRecord& known = pages.view().details.records[record];
  const std::string& direction = pages.view().log.directions[record];
  const std::string title =
      fmt::format("{} {}{}{}", known.origin.compileId, known.name, direction.empty() ? "" : ", ", direction);
  std::string body = fmt::format(
      "<p><a href=\"../index.html\">Report</a> <a href=\"../{}#r{}\">Record r{}</a></p>\n<h1>{}</h1>\n<pre "
      "class=\"lines\">",
      recordListName(record), record + 1, record + 1, htmlText(title));
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    body += fmt::format("<span id=\"L{0}\"><i>{0}</i>{1}</span>\n", number, htmlText(text.substr(at, end - at)));
    at = end + 1;
  }
  return htmlPage({title, body + "</pre>\n", reportStyle});
}

}  // namespace kerf::workbench
