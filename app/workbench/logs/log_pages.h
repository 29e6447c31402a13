// The pages of a trace's report: the first one, one for each compile id, and lists of records.
#pragma once

#include <iosfwd>
#include <map>

#include "app/workbench/logs/log_tables.h"

namespace kerf::workbench {

/// Which page has what; names are made of numbers alone, whatever a log says.
class LogPages {
 public:
  explicit LogPages(const LogView& view);

  const LogView& view() const { return m_view; }
  /// "compiles/0-1_2.html" of [0/1_2], with the rank before it where there are several.
  const std::string& compilePage(std::size_t compile) const { return m_compilePages[compile]; }
  /// "records/r17.html" of graphs and code, "records/r18.txt" of other payloads; empty: the record has no page.
  std::string recordPage(std::size_t record) const;
  bool isCode(std::size_t record) const { return m_isCode[record]; }

 private:
  const LogView& m_view;
  std::vector<std::string> m_compilePages;
  std::vector<bool> m_isCode;
};

/// Tables of the report by name, and each compile id's rows of them.
struct LogTables {
  std::vector<LogTable> tables;
  /// Of each compile id: of each table the rows that are its own.
  std::vector<std::map<std::size_t, std::vector<std::size_t>>> rowsOf;
};
LogTables logTables(const LogView& view);

/// `audit`: its part about output code, as auditHtml() makes it.
std::string indexPage(const LogPages& pages, const LogTables& tables, const CompileLogDoc& doc,
                      const std::string& audit);
/// `remarks`: why it was compiled again, where it broke.
std::string compilePage(const LogPages& pages, const LogTables& tables, std::size_t compile,
                        const std::vector<std::string>& remarks);
/// Records `first` to `end` of the capture, with links to the lists before and behind.
std::string recordListPage(const LogPages& pages, std::size_t first, std::size_t end);
/// Graph or code with numbered lines (#L12).
std::string codePage(const LogPages& pages, std::size_t record, std::string_view text);

inline constexpr std::size_t recordsOnPage = 2000;
/// "records-1.html" for the list that holds record `index`.
std::string recordListName(std::size_t index);

// The records of a trace for other programs: JSON lines with resolved file names, and the timeline for Perfetto.

/// One JSON object a line: {"record": "r17", "log": "…", "line": 12, "direction": …, "payload": "records/r17.txt",
/// "header": {…}}; in the header, numbers of file names are replaced by the names.
void writeRecordLines(const LogPages& pages, std::ostream& out);

/// The chromium events as they were logged, in Chrome's JSON format; of several ranks, each is a process.
void writeTimeline(const LogView& view, std::ostream& out);

/// Inductor's estimates as such a timeline: a process for each rank, a thread for each graph, its ops one behind the
/// other.
void writeEstimates(const LogView& view, std::ostream& out);

/// "filename": 3 as "filename": "train.py", everywhere in the object.
std::string withFileNames(std::string_view json, const std::map<std::int64_t, std::string>& files);

}  // namespace kerf::workbench
