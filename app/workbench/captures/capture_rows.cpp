#include "app/workbench/captures/capture_rows.h"

#include <array>

namespace kerf::workbench {

namespace {

/// Metrics that hold the whole time of a compile, and how many of their units make a second. The first that is there
/// counts.
struct TimeMetric {
  std::string_view name;
  double perSecond;
};
constexpr TimeMetric wholeTimes[] = {{"entire_frame_compile_time_s", 1}, {"duration_us", 1e6}};

}  // namespace

SourceRow sourceRow(const GraphOrigin& origin) {
  return {origin.compileId, origin.rank, origin.stage, origin.file.string(), origin.line};
}

std::string_view formName(CaptureRecord::Form form) {
  constexpr std::array<std::string_view, 4> names{"none", "text", "json", "python"};
  return names.at(std::size_t(form));
}

double secondsOf(const CompileEntry& entry) {
  for (const auto& time : wholeTimes)
    for (const auto& [name, value] : entry.metrics)
      if (name == time.name && value >= 0) return value / time.perSecond;
  return -1;
}

std::vector<RecordRow> recordRows(const CaptureDetails& details) {
  std::vector<RecordRow> rows;
  for (const auto& record : details.records) {
    RecordRow row;
    row.ordinal = int(rows.size()) + 1;
    row.kind = record.kind;
    row.name = record.name;
    row.source = sourceRow(record.origin);
    row.form = formName(record.form);
    row.bytes = record.payload.length;
    if (record.graph >= 0) row.graph = record.graph + 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CompileRow> compileRows(const CaptureDetails& details) {
  std::vector<CompileRow> rows;
  for (const auto& compile : details.compiles) {
    CompileRow row;
    row.ordinal = int(rows.size()) + 1;
    row.id = compile.id;
    row.rank = compile.rank;
    row.status = compileStatusName(compile.status);
    row.failure = compile.failure;
    row.frame = compile.frame;
    row.graphs = int(compile.graphs.size());
    row.records = int(compile.records.size());
    if (const double seconds = secondsOf(compile); seconds >= 0) row.milliseconds = seconds * 1000;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kerf::workbench
