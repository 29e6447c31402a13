// The tables of a trace: everything that its log tells beside the graphs, one row in the list of sections for each.
#pragma once

#include <span>

#include "app/workbench/captures/capture_source.h"
#include "engine/capture/trace/compile_answer.h"

namespace kerf::workbench {

/// What tables are made of.
struct LogView {
  const CaptureSource& source;
  const CaptureDetails& details;
  const CompileLog& log;
  RankTable ranks;
};

struct LogSection {
  std::string_view name, title;
  /// "key|Title" a column, with "#" before the key of a number; blanks between columns.
  std::string_view columns;
  std::string_view none;
  void (*fill)(const LogView& view, LogTable& table);
};

std::span<const LogSection> logSections();
/// All columns with their rows.
LogTable logTable(const LogView& view, const LogSection& section);

/// Rows of the sections, by topic.
void fillCompiles(const LogView& view, LogTable& table);
void fillStacks(const LogView& view, LogTable& table);
void fillRecompiles(const LogView& view, LogTable& table);
void fillBreaks(const LogView& view, LogTable& table);
void fillRestarts(const LogView& view, LogTable& table);
void fillFailures(const LogView& view, LogTable& table);
void fillMetrics(const LogView& view, LogTable& table);
void fillGuards(const LogView& view, LogTable& table);
void fillSymbols(const LogView& view, LogTable& table);
void fillCaches(const LogView& view, LogTable& table);
void fillExport(const LogView& view, LogTable& table);
void fillKernels(const LogView& view, LogTable& table);
void fillCode(const LogView& view, LogTable& table);
void fillCollectives(const LogView& view, LogTable& table);
void fillEstimates(const LogView& view, LogTable& table);
void fillTimeline(const LogView& view, LogTable& table);
void fillLinks(const LogView& view, LogTable& table);
void fillTriton(const LogView& view, LogTable& table);
void fillTritonLines(const LogView& view, LogTable& table);
void fillRanks(const LogView& view, LogTable& table);
void fillDivergences(const LogView& view, LogTable& table);

/// A row of compilation `compile`, whose id and rank are its first two cells.
LogRow compileRow(const LogView& view, std::size_t compile, std::vector<std::string> cells, int line = 0);
/// "12.3" for seconds; empty below 0.
std::string secondsText(double seconds);

// The document of a trace's compilations, made of its log.

/// Everything but the tables.
CompileLogDoc compileLogDoc(const LogView& view);
/// Short lines that belong beside a compile id.
std::vector<std::string> compileRemarks(const CompileStory& story);
/// Whether the capture has such a log at all: debug folders have records, and none of this.
bool isTrace(const Capture& capture);
/// Reads the log of an opened capture.
Result<CompileLog> compileLogOf(const CaptureSource& source, const Job& job);

}  // namespace kerf::workbench
