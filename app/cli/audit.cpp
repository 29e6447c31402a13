// kerf audit CAPTURE|output_code.py: what Inductor generated, proved or refuted without running it.
#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct AuditChoice {
  AuditRequest request;
  std::int64_t most = 20;  ///< claims that are listed for each program
};

void printClaim(const AuditClaimRow& row) {
  fmt::print("{} {}: {}\n", row.verdict == "refuted" ? "✗" : "?", row.subject, row.reason);
  fmt::print("    line {}: {}\n", row.line, row.statement);
  if (row.otherLine > 0) fmt::print("    line {}: {}\n", row.otherLine, row.otherStatement);
  if (!row.example.empty()) fmt::print("    counterexample: {}\n", row.example);
}

void printAudit(const AuditedProgram& program, std::int64_t most, bool all) {
  if (!program.error.empty()) return fmt::print("{}: {}\n\n", program.name, program.error);
  fmt::print("{}: {}, {}, {}\n", program.name, counted(program.kernels, "kernel"), counted(program.calls, "call"),
             counted(program.buffers, "buffer"));
  TextTable table({"claim", "proved", "refuted", "not known", "what it says"});
  for (const AuditCountRow& row : program.counts)
    table.add(
        {row.kind, std::to_string(row.proved), std::to_string(row.refuted), std::to_string(row.notKnown), row.claim});
  fmt::print("{}\n", table.text());
  std::int64_t shown = 0;
  for (const AuditClaimRow& row : program.claims) {
    if (!all && row.verdict != "refuted" && shown >= most) break;
    if (!all && ++shown > most) break;
    printClaim(row);
  }
  const auto left =
      std::int64_t(program.claims.size()) - std::min<std::int64_t>(most, std::int64_t(program.claims.size()));
  if (!all && left > 0) fmt::print("… and {} more (-v lists all)\n", left);
  if (!program.claims.empty()) fmt::print("\n");
}

Json auditJson(const AuditedProgram& program) {
  Json json = jsonOf(program);
  json["proved"] = program.count(&AuditCountRow::proved);
  json["refuted"] = program.count(&AuditCountRow::refuted);
  json["not_known"] = program.count(&AuditCountRow::notKnown);
  return json;
}

Result<int> runAudit(Context& context, const AuditChoice& choice) {
  KERF_TRY(const auto programs, context.perform(choice.request));
  int proved = 0, refuted = 0, notKnown = 0;
  bool hasError = false;
  for (const AuditedProgram& program : programs) {
    proved += program.count(&AuditCountRow::proved);
    refuted += program.count(&AuditCountRow::refuted);
    notKnown += program.count(&AuditCountRow::notKnown);
    hasError = hasError || !program.error.empty();
  }
  if (context.json) {
    Json json{{"proved", proved}, {"refuted", refuted}, {"not_known", notKnown}, {"programs", Json::array()}};
    for (const AuditedProgram& program : programs) json["programs"].push_back(auditJson(program));
    printJson(json);
  } else {
    for (const AuditedProgram& program : programs) printAudit(program, choice.most, context.verbose);
    fmt::print("{} proved, {} refuted, {} not known\n", proved, refuted, notKnown);
  }
  return refuted > 0 ? 1 : hasError ? 2 : 0;
}

}  // namespace

void addAudit(CommandLine& line) {
  auto& command =
      line.add("audit", "Prove or refute what Inductor generated, without running it (exit 1 if a claim is refuted)",
               "  kerf audit trace/dedicated_log_torch_trace_x.log\n"
               "  kerf audit output_code.py --json\n"
               "  kerf audit torch_compile_debug/run_x -v");
  auto choice = std::make_shared<AuditChoice>();
  command.add_option("CAPTURE", choice->request.capture, "Log, debug folder, store id, or a file of output code")
      ->required();
  command.add_option("--most", choice->most, "List at most this many claims that are not proved")
      ->capture_default_str()
      ->type_name("N");
  line.onRun(command, [choice](Context& context) { return runAudit(context, *choice); });
}

}  // namespace kerf::cli
