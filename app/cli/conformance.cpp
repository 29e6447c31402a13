// kerf conformance PATH: recorded answers of PyTorch replayed through Kerf.
#include "app/cli/commands.h"
#include "app/cli/recorded_calls_report.h"
#include "app/cli/text_table.h"
#include "engine/accuracy/same_cases.h"

namespace kerf::cli {

namespace {

Result<int> replaySameCases(Context& context, const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  KERF_TRY(const auto report, checkSameCases(path));
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
  if (context.json) {
    Json mismatches = Json::array();
    for (const auto& miss : report.mismatches)
      mismatches.push_back({{"id", miss.id}, {"expected", miss.expected}, {"got", miss.got}, {"reason", miss.reason}});
    printJson({{"kind", "same"},
               {"cases", report.cases},
               {"agreed", report.agreed},
               {"mismatches", std::move(mismatches)},
               {"elapsed_ms", double(time.count()) / 1e6}});
    return report.agreed == report.cases ? 0 : 1;
  }
  for (const auto& miss : report.mismatches) {
    fmt::print("{}: recorded {}, Kerf says {}{}\n", miss.id, miss.expected ? "same" : "different",
               miss.got ? "same" : "different", miss.reason.empty() ? "" : " (" + miss.reason + ")");
  }
  fmt::print("same(): {} of {} recorded answers agree, {}\n", report.agreed, report.cases, durationText(time));
  return report.agreed == report.cases ? 0 : 1;
}

Result<int> runConformance(Context& context, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return fail(ErrorCode::NotFound, "{} does not exist", path);
  return holdsSameCases(path) ? replaySameCases(context, path) : replayRecordedCalls(context, path);
}

}  // namespace

void addConformance(CommandLine& line) {
  auto& command = line.add("conformance", "Replay recorded PyTorch answers (exit 1 if one disagrees)",
                           "  kerf conformance recordings/same\n"
                           "  kerf conformance recordings/opinfo/public.jsonl --json");
  auto path = std::make_shared<std::string>();
  command.add_option("PATH", *path, "Folder, or one .json or .jsonl file with its .safetensors beside it")->required();
  line.onRun(command, [path](Context& context) { return runConformance(context, *path); });
}

}  // namespace kerf::cli
