// The list of sections, and what their rows share.
#include "app/workbench/logs/log_tables.h"

#include <algorithm>

namespace kerf::workbench {

namespace {

constexpr LogSection sections[] = {
    {"ranks", "Ranks", "id|Id", "the log has one rank", fillRanks},
    {"divergences", "Where ranks diverge", "kind|What id|Id ranks|Ranks has|Has", "ranks did the same",
     fillDivergences},
    {"compiles", "Compilations",
     "id|Id #rank|Rank status|Status frame|Frame #seconds|s #dynamo|Dynamo #inductor|Inductor #codegen|Codegen "
     "#ops|Ops #guards|Guards #graphs|Graphs #recompiled|Recompiled #breaks|Breaks #restarts|Restarts caches|Caches",
     "the log has no compile ids", fillCompiles},
    {"stacks", "Where compilations began", "frame|Frame ids|Compile_ids", "the log has no stacks", fillStacks},
    {"recompiles", "Why it recompiled",
     "id|Id #rank|Rank changed|Changed before|Before after|After from|Guard_of guard|Guard_that_failed "
     "where|Guard_from",
     "nothing was compiled again", fillRecompiles},
    {"breaks", "Graph breaks", "id|Id #rank|Rank where|Where code|Code reason|Reason", "no graph breaks", fillBreaks},
    {"restarts", "Restarts", "id|Id #rank|Rank because|Because reason|Reason", "no attempt was given up", fillRestarts},
    {"failures", "Failures", "id|Id #rank|Rank type|Type reason|Reason where|Where", "nothing failed", fillFailures},
    {"export", "Export", "id|Id #rank|Rank kind|Problem subject|Of reason|What_happened where|Where",
     "no export, or nothing that it did not know", fillExport},
    {"caches", "Caches",
     "id|Id #rank|Rank #run|Run cache|Cache direction|Graph result|Result key|Key reason|Reason #saved|Saved_s",
     "no look into a cache is logged", fillCaches},
    {"symbols", "Symbolic sizes",
     "id|Id #rank|Rank kind|Kind subject|Symbol_or_guard value|Value range|Range source|Source reason|Reason "
     "where|Where",
     "every size is a number", fillSymbols},
    {"dynamo-guards", "Guards of the compiled frame",
     "id|Id #rank|Rank kind|Kind code|Guard source|On where|From failed|Failed_for", "no guards are logged",
     fillGuards},
    {"kernels", "Kernels back to source",
     "id|Id #rank|Rank direction|Graph kernel|Kernel post|Post-grad_nodes pre|Pre-grad_nodes lines|Source_lines "
     "defined|Defined_at called|Called_at",
     "no provenance is logged (TORCH_COMPILE_DEBUG=1 or INDUCTOR_PROVENANCE=1 log it)", fillKernels},
    {"triton", "Triton kernels",
     "id|Id kernel|Kernel hash|Hash #warps|Warps #stages|Stages #shared|Shared_bytes arch|Arch #launches|Launches "
     "grids|Grids arguments|Arguments where|Called_at source|Source",
     "the log is none of tritonparse", fillTriton},
    {"triton-lines", "Triton source to kernel",
     "kernel|Kernel source|Source_line ttir|TTIR_lines ttgir|TTGIR_lines machine|PTX_lines",
     "the log has no texts of Triton kernels", fillTritonLines},
    {"output-code", "Graphs and code", "id|Id #rank|Rank direction|Graph name|Name #bytes|Bytes",
     "no graphs are logged", fillCode},
    {"collectives", "Collective schedules",
     "id|Id #rank|Rank direction|Graph #ops|Scheduled #waits|Waits #called|Called #waited|Waited schedule|In_order",
     "no collectives", fillCollectives},
    {"estimates", "Estimated run times", "id|Id #rank|Rank #ops|Ops #total|Total_ms slowest|Slowest",
     "no estimates are logged", fillEstimates},
    {"metrics", "Compilation metrics", "id|Id #rank|Rank #run|Run record|Record field|Field value|Value",
     "no metrics are logged", fillMetrics},
    {"timeline", "Where the time went",
     "name|Event category|Category #count|Count #self|Self_ms #total|Total_ms #longest|Longest_ms",
     "no chromium events are logged", fillTimeline},
    {"links", "Links", "id|Id #rank|Rank name|Name address|Address", "no links are logged", fillLinks}};

std::string spaced(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '_', ' ');
  return plain;
}

std::vector<LogColumn> columnsOf(std::string_view text) {
  std::vector<LogColumn> columns;
  while (!text.empty()) {
    std::string_view column = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), column.size() + 1));
    const bool number = column.starts_with('#');
    if (number) column.remove_prefix(1);
    const std::size_t bar = column.find('|');
    columns.push_back({std::string(column.substr(0, bar)), spaced(column.substr(bar + 1)), number});
  }
  return columns;
}

}  // namespace

std::span<const LogSection> logSections() { return sections; }

LogTable logTable(const LogView& view, const LogSection& section) {
  LogTable table{
      std::string(section.name), std::string(section.title), columnsOf(section.columns), {}, std::string(section.none)};
  section.fill(view, table);
  return table;
}

LogRow compileRow(const LogView& view, std::size_t compile, std::vector<std::string> cells, int line) {
  const CompileEntry& entry = view.details.compiles[compile];
  LogRow row;
  row.cells = {entry.id, entry.rank < 0 ? std::string() : std::to_string(entry.rank)};
  row.cells.insert(row.cells.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
  row.compile = int(compile);
  if (line == 0) return row;
  const auto at = std::ranges::lower_bound(entry.records, line, {},
                                           [&](std::size_t index) { return view.details.records[index].origin.line; });
  if (at != entry.records.end() && view.details.records[*at].origin.line == line) row.record = int(*at);
  return row;
}

std::string secondsText(double seconds) {
  if (seconds < 0) return {};
  return seconds < 0.0005 ? "0" : fmt::format("{:.3f}", seconds);
}

}  // namespace kerf::workbench
