// kerf conformance PATH: recorded answers of PyTorch replayed through Kerf.
#include "app/cli/commands.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

Json sameJson(const ConformanceAnswer& answer) {
  Json mismatches = Json::array();
  for (const auto& miss : answer.mismatches)
    mismatches.push_back({{"id", miss.id}, {"expected", miss.expected}, {"got", miss.got}, {"reason", miss.reason}});
  return {{"kind", "same"},
          {"cases", answer.cases},
          {"agreed", answer.agreed},
          {"mismatches", std::move(mismatches)},
          {"elapsed_ms", milliseconds(answer.time)}};
}

void printSame(const ConformanceAnswer& answer, bool) {
  for (const auto& miss : answer.mismatches) {
    fmt::print("{}: recorded {}, Kerf says {}{}\n", miss.id, miss.expected ? "same" : "different",
               miss.got ? "same" : "different", miss.reason.empty() ? "" : " (" + miss.reason + ")");
  }
  fmt::print("same(): {} of {} recorded answers agree, {}\n", answer.agreed, answer.cases, durationText(answer.time));
}

Json callsJson(const ConformanceAnswer& answer) {
  Json overloads = Json::array();
  for (const auto& row : answer.overloads) {
    overloads.push_back({{"op", row.op},
                         {"passed", row.passed},
                         {"failed", row.failed},
                         {"unsupported", row.unsupported},
                         {"failures", row.failures}});
  }
  return {{"kind", "calls"},
          {"cases", answer.cases},
          {"agreed", answer.agreed},
          {"failed", answer.failed},
          {"unsupported", answer.unsupported},
          {"complete_overloads", answer.completeOverloads},
          {"overloads", std::move(overloads)},
          {"elapsed_ms", milliseconds(answer.time)}};
}

void printCalls(const ConformanceAnswer& answer, bool verbose) {
  TextTable table({"op", "passed", "failed", "unsupported"});
  for (const auto& row : answer.overloads) {
    if (row.complete() && !verbose) continue;
    table.add({row.op, std::to_string(row.passed), std::to_string(row.failed), std::to_string(row.unsupported)});
  }
  fmt::print("{}", table.text());
  for (const auto& row : answer.overloads)
    for (const auto& failure : row.failures) fmt::print("{}: {}\n", row.op, failure);
  fmt::print("{} calls agree, {} differ, {} are of unsupported ops; {} of {} overloads complete, {}\n", answer.agreed,
             answer.failed, answer.unsupported, answer.completeOverloads, answer.overloads.size(),
             durationText(answer.time));
}

struct ConformanceReportForm {
  Json (*json)(const ConformanceAnswer&);
  void (*print)(const ConformanceAnswer&, bool verbose);
};
constexpr ConformanceReportForm reportForms[] = {{sameJson, printSame}, {callsJson, printCalls}};  // by Kind

Result<int> runConformance(Context& context, const std::string& path) {
  KERF_TRY(const auto answer, context.perform(ConformanceRequest{path}));
  const auto& form = reportForms[std::size_t(answer.kind)];
  if (context.json)
    printJson(form.json(answer));
  else
    form.print(answer, context.verbose);
  return answer.agreed == answer.cases ? 0 : 1;
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
