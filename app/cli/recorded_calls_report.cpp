#include "app/cli/recorded_calls_report.h"

#include "app/cli/text_table.h"
#include "engine/ops/core/recorded_calls.h"

namespace kerf::cli {

namespace {

Json reportJson(const OpConformanceReport& report, std::chrono::nanoseconds time) {
  Json overloads = Json::array();
  for (const auto& row : report.overloads) {
    overloads.push_back({{"op", row.op},
                         {"passed", row.passed},
                         {"failed", row.failed},
                         {"unsupported", row.unsupported},
                         {"failures", row.failures}});
  }
  return {{"kind", "calls"},
          {"cases", report.passed + report.failed + report.unsupported},
          {"agreed", report.passed},
          {"failed", report.failed},
          {"unsupported", report.unsupported},
          {"complete_overloads", report.completeOverloads()},
          {"overloads", std::move(overloads)},
          {"elapsed_ms", double(time.count()) / 1e6}};
}

void print(const OpConformanceReport& report, std::chrono::nanoseconds time, bool verbose) {
  TextTable table({"op", "passed", "failed", "unsupported"});
  for (const auto& row : report.overloads) {
    if (row.complete() && !verbose) continue;
    table.add({row.op, std::to_string(row.passed), std::to_string(row.failed), std::to_string(row.unsupported)});
  }
  fmt::print("{}", table.text());
  for (const auto& row : report.overloads) {
    for (const auto& failure : row.failures) fmt::print("{}: {}\n", row.op, failure);
  }
  fmt::print("{} calls agree, {} differ, {} are of unsupported ops; {} of {} overloads complete, {}\n", report.passed,
             report.failed, report.unsupported, report.completeOverloads(), report.overloads.size(),
             durationText(time));
}

}  // namespace

Result<int> replayRecordedCalls(Context& context, const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  KERF_TRY(const auto report, checkRecordedCalls(path));
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
  if (context.json)
    printJson(reportJson(report, time));
  else
    print(report, time, context.verbose);
  return report.failed + report.unsupported == 0 ? 0 : 1;
}

}  // namespace kerf::cli
