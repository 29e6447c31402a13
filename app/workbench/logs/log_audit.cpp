#include "app/workbench/logs/log_audit.h"

#include <fmt/format.h>

#include "engine/support/html.h"

namespace kerf::workbench {

namespace {

std::string rowHtml(const AuditedProgram& program) {
  if (!program.error.empty())
    return fmt::format("<tr><td>{}</td><td colspan=\"4\">{}</td></tr>\n", htmlText(program.name),
                       htmlText(program.error));
  const int refuted = program.count(&AuditCountRow::refuted);
  return fmt::format(
      "<tr><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num{}\">{}</td>"
      "<td class=\"num\">{}</td></tr>\n",
      htmlText(program.name), program.kernels, program.count(&AuditCountRow::proved), refuted > 0 ? " problem" : "",
      refuted, program.count(&AuditCountRow::notKnown));
}

std::string claimHtml(const AuditedProgram& program, const AuditClaimRow& claim) {
  std::string lines = fmt::format("line {}: {}", claim.line, claim.statement);
  if (claim.otherLine > 0) lines += fmt::format("\nline {}: {}", claim.otherLine, claim.otherStatement);
  if (!claim.example.empty()) lines += "\ncounterexample: " + claim.example;
  return fmt::format("<li class=\"problem\">{}: {}, {}: {}<pre>{}</pre></li>\n", htmlText(program.name),
                     htmlText(claim.kind), htmlText(claim.subject), htmlText(claim.reason), htmlText(lines));
}

}  // namespace

std::string auditHtml(const std::vector<AuditedProgram>& programs) {
  constexpr std::size_t mostClaims = 200;
  if (programs.empty()) return {};
  std::string out =
      "<h2 id=\"audit\">Output code, audited</h2>\n<div class=\"scroll\"><table><tr><th>program</th><th>kernels</th>"
      "<th>claims proved</th><th>refuted</th><th>not known</th></tr>\n";
  for (const AuditedProgram& program : programs) out += rowHtml(program);
  out += "</table></div>\n<ul class=\"answer\">\n";
  std::size_t shown = 0, all = 0;
  for (const AuditedProgram& program : programs)
    for (const AuditClaimRow& claim : program.claims)
      if (claim.verdict == "refuted" && ++all <= mostClaims) {
        out += claimHtml(program, claim);
        ++shown;
      }
  out += "</ul>\n";
  if (shown < all) out += fmt::format("<p class=\"dim\">{} more claims are refuted.</p>\n", all - shown);
  return out;
}

}  // namespace kerf::workbench
