// kerf conformance PATH: recorded answers of PyTorch replayed through Kerf.
#include <map>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

Json sameJson(const ConformanceAnswer& answer) {
  return {{"kind", "same"},
          {"cases", answer.cases},
          {"agreed", answer.agreed},
          {"mismatches", jsonOf(answer.mismatches)},
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
  return {{"kind", "calls"},
          {"cases", answer.cases},
          {"agreed", answer.agreed},
          {"failed", answer.failed},
          {"unsupported", answer.unsupported},
          {"complete_overloads", answer.completeOverloads},
          {"overloads", jsonOf(answer.overloads)},
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

Json tallyJson(const std::vector<CallTally>& tallies) {
  Json result = Json::object();
  for (const auto& tally : tallies) result[tally.what] = tally.calls;
  return result;
}

Json gradientsJson(const ConformanceAnswer& answer) {
  return {{"kind", "gradients"},
          {"cases", answer.cases},
          {"agreed", answer.agreed},
          {"failed", answer.failed},
          {"skipped", tallyJson(answer.skipped)},
          {"missing", tallyJson(answer.missing)},
          {"overloads", jsonOf(answer.gradients)},
          {"elapsed_ms", milliseconds(answer.time)}};
}

/// Overloads as one line of a table.
std::vector<std::string> gradientLine(const std::string& name, const std::vector<const GradientRow*>& rows) {
  GradientRow sum;
  for (const GradientRow* row : rows) {
    sum.checked += row->checked;
    sum.complexChecked += row->complexChecked;
    sum.constant += row->constant;
    sum.failed += row->failed;
    sum.missing += row->missing;
    sum.skipped += row->skipped;
    sum.gradientError = std::max(sum.gradientError, row->gradientError);
    sum.jvpError = std::max(sum.jvpError, row->jvpError);
    sum.dualError = std::max(sum.dualError, row->dualError);
  }
  return {name,
          std::to_string(rows.size()),
          std::to_string(sum.checked),
          std::to_string(sum.complexChecked),
          std::to_string(sum.constant),
          std::to_string(sum.failed),
          std::to_string(sum.missing),
          std::to_string(sum.skipped),
          fmt::format("{:.1e}", sum.gradientError),
          fmt::format("{:.1e}", sum.jvpError),
          fmt::format("{:.1e}", sum.dualError)};
}

void printGradients(const ConformanceAnswer& answer, bool verbose) {
  TextTable table({verbose ? "op" : "family", "overloads", "checked", "complex", "constant", "failed", "no rule",
                   "not checked", "worst gradient", "worst jvp", "worst dot"});
  std::map<std::string, std::vector<const GradientRow*>> lines;
  for (const auto& row : answer.gradients) lines[verbose ? row.family + " " + row.op : row.family].push_back(&row);
  for (const auto& [name, rows] : lines) table.add(gradientLine(name, rows));
  fmt::print("{}", table.text());
  for (const auto& row : answer.gradients)
    for (const auto& failure : row.failures) fmt::print("{}: {}\n", row.op, failure);
  for (const auto& tally : answer.missing) fmt::print("no rule for {}: {} calls\n", tally.what, tally.calls);
  for (const auto& tally : answer.skipped) fmt::print("not checked, {}: {} calls\n", tally.what, tally.calls);
  std::int64_t checked = 0, constant = 0, missing = 0;
  for (const auto& row : answer.gradients) {
    checked += row.checked;
    constant += row.constant;
    missing += row.missing;
  }
  fmt::print(
      "of {} calls {} agree with finite differences, {} have a constant result, {} differ, {} have no rule, "
      "{}\n",
      answer.cases, checked, constant, answer.failed, missing, durationText(answer.time));
}

Json ranksJson(const ConformanceAnswer& answer) {
  Json result = {{"kind", "ranks"}, {"cases", answer.cases}, {"agreed", answer.agreed}};
  for (const auto& row : answer.fields) result[row.field] = {{"asked", row.asked}, {"equal", row.equal}};
  result["differences"] = jsonOf(answer.differences);
  result["elapsed_ms"] = milliseconds(answer.time);
  return result;
}

void printRanks(const ConformanceAnswer& answer, bool) {
  for (const auto& row : answer.differences) fmt::print("{} {}: {}\n", row.id, row.field, row.difference);
  TextTable table({"what", "asked", "equal"});
  for (const auto& row : answer.fields) table.add({row.field, std::to_string(row.asked), std::to_string(row.equal)});
  fmt::print("{}{} of {} cases of several ranks agree in everything, {}\n", table.text(), answer.agreed, answer.cases,
             durationText(answer.time));
}

/// Each field as how many were asked and how many are equal, and what differs.
Json programsJson(const ConformanceAnswer& answer) {
  Json result{{"kind", "programs"}, {"cases", answer.cases}, {"agreed", answer.agreed}};
  for (const auto& field : answer.fields) result[field.field] = {{"asked", field.asked}, {"equal", field.equal}};
  result["differences"] = jsonOf(answer.differences);
  result["elapsed_ms"] = milliseconds(answer.time);
  return result;
}

void printPrograms(const ConformanceAnswer& answer, bool) {
  for (const auto& row : answer.differences) fmt::print("{}: {}: {}\n", row.id, row.field, row.difference);
  for (const auto& field : answer.fields) fmt::print("{}: {} of {} equal\n", field.field, field.equal, field.asked);
  fmt::print("{} of {} programs agree, {}\n", answer.agreed, answer.cases, durationText(answer.time));
}

struct ConformanceReportForm {
  Json (*json)(const ConformanceAnswer&);
  void (*print)(const ConformanceAnswer&, bool verbose);
};
constexpr ConformanceReportForm reportForms[] = {{sameJson, printSame},
                                                 {callsJson, printCalls},
                                                 {gradientsJson, printGradients},
                                                 {ranksJson, printRanks},
                                                 {programsJson, printPrograms}};  // by Kind

Result<int> runConformance(Context& context, const ConformanceRequest& request) {
  KERF_TRY(const auto answer, context.perform(request));
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
                           "  kerf conformance recordings/opinfo/public.jsonl --json\n"
                           "  kerf conformance recordings/opinfo --gradients\n"
                           "  kerf conformance recordings/distributed --json");
  auto request = std::make_shared<ConformanceRequest>();
  command.add_option("PATH", request->path, "Folder, or one .json or .jsonl file with its .safetensors beside it")
      ->required();
  command.add_flag("--gradients", request->gradients,
                   "Check gradients and jvps of the recorded calls by finite differences, listed by family (-v: by "
                   "overload)");
  line.onRun(command, [request](Context& context) { return runConformance(context, *request); });
}

}  // namespace kerf::cli
