// Requests about how a trace's compilations went: an answer in sentences, tables of everything beside the graphs, and a
// report of all of it for a browser.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/workbench/protocol/job.h"

namespace kerf::workbench {

/// Tables of a trace, in the order of the report.
inline constexpr std::array<std::string_view, 21> logTableNames{
    "ranks",        "divergences", "compiles",    "stacks",    "recompiles",    "breaks",   "restarts",
    "failures",     "export",      "caches",      "symbols",   "dynamo-guards", "kernels",  "triton",
    "triton-lines", "output-code", "collectives", "estimates", "metrics",       "timeline", "links"};

struct LogColumn {
  std::string key, title;
  bool isNumber = false;

  KERF_FIELDS(key, title, isNumber)
};
struct LogRow {
  std::vector<std::string> cells;  ///< one for each column; empty: not told
  std::string detail;              ///< more lines: a traceback, an explanation
  int depth = 0;                   ///< of a tree's rows
  int compile = -1;                ///< index in the capture's compile ids; -1: of none
  int record = -1;                 ///< index in its records: where the row was read; -1: from several

  KERF_FIELDS(cells, detail, depth, compile, record)
};
struct LogTable {
  std::string name, title;  ///< "recompiles", "Why it recompiled"
  std::vector<LogColumn> columns;
  std::vector<LogRow> rows;
  std::string none;  ///< what it means that there are no rows

  KERF_FIELDS(name, title, columns, rows, none)
};
/// A sentence of the answer: "problem", "note" or "fact", and the table that has more of it.
struct LogSentence {
  std::string weight, text, section;

  KERF_FIELDS(weight, text, section)
};
/// A short line that belongs beside a compile id: why it was compiled again, where it broke.
struct LogRemark {
  std::string id;
  int rank = -1;
  std::string text;

  KERF_FIELDS(id, rank, text)
};
/// Which of two graphs of one kind is forward, which backward.
struct GraphDirection {
  std::string name, direction;

  KERF_FIELDS(name, direction)
};
struct CompileLogDoc {
  std::string name, path, torchVersion;
  std::vector<LogSentence> answer;
  std::vector<LogRemark> remarks;
  std::vector<GraphDirection> directions;
  std::vector<LogTable> tables;
  std::vector<std::string> notes;

  KERF_FIELDS(name, path, torchVersion, answer, remarks, directions, tables, notes)
};

/// The answer and the tables of a capture; of one that is no trace they are empty.
struct CompileLogRequest {
  using Answer = CompileLogDoc;
  static constexpr std::string_view name = "compile_log";
  std::string capture;
  std::string section;  ///< "": every table; "answer": none; else those named, "breaks,restarts". BadUsage for others

  KERF_FIELDS(capture, section)
};

struct LogReport {
  std::string path;  ///< of index.html
  std::int64_t files = 0, bytes = 0;
  std::vector<std::string> notes;

  KERF_FIELDS(path, files, bytes, notes)
};
/// Writes the report into a folder, which is made; files of an earlier report there are replaced.
struct LogReportRequest {
  using Answer = LogReport;
  static constexpr std::string_view name = "log_report";
  std::string capture, directory;

  KERF_FIELDS(capture, directory)
};

}  // namespace kerf::workbench
