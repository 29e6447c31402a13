// Recorded output code is not refuted, nearly all of it is proved; faults put into it are refuted.
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "engine/audit/audit.h"
#include "tests/support/code_mutants.h"
#include "tests/support/output_code.h"

namespace kerf {
namespace {

using testing::codeLines;
using testing::MutantKind;
using testing::RecordedOutputCode;

TEST(AuditCorpus, RefutesNothingAndProvesNearlyAll) {
  const std::vector<RecordedOutputCode> programs = testing::recordedOutputCode();
  if (programs.empty()) GTEST_SKIP() << "no recordings";
  AuditReport::Count all;
  for (const RecordedOutputCode& program : programs) {
    const auto report = auditOutputCode(program.text, program.options());
    ASSERT_TRUE(report.has_value()) << program.name << ": " << report.error().text();
    for (const AuditClaim& claim : report->claims)
      EXPECT_NE(claim.verdict, ClaimVerdict::Refuted)
          << program.name << ':' << claim.line << ' ' << claimName(claim.about) << ' ' << claim.subject << ": "
          << claim.reason;
    all.proved += report->total().proved;
    all.notKnown += report->total().notKnown;
  }
  EXPECT_GE(all.proved, 99 * (all.proved + all.notKnown) / 100);
}

/// Least share of the faults of a kind that is refuted with the changed statement named, in percent. What exchanges things of
/// one type and size needs the graph: graphs of the larger programs are run where KERF_SLOW asks for it.
int leastShare(std::string_view kind) {
  if (std::getenv("KERF_SLOW") != nullptr) return 98;
  if (kind == "swapped twins") return 50;
  if (kind == "wrong buffer") return 70;
  if (kind == "index off by one" || kind == "tail without mask" || kind == "swapped arguments" ||
      kind == "exchanged stride")
    return 85;
  return 95;
}

bool isNamed(const testing::CodeMutant& mutant, const Result<AuditReport>& report) {
  return report && std::ranges::any_of(report->claims, [&](const AuditClaim& claim) {
           return claim.verdict == ClaimVerdict::Refuted && testing::namesStatement(mutant, claim);
         });
}

struct Score {
  int made = 0, refuted = 0, named = 0;
};

/// What the program alone refutes needs no run of the graph.
void judge(const RecordedOutputCode& program, const testing::CodeMutant& mutant, std::string_view kind, Score& score) {
  AuditOptions options = program.options();
  AuditOptions quick = options;
  quick.graph.mostElements = 0;
  auto report = auditOutputCode(mutant.text, quick);
  if (std::getenv("KERF_SLOW") != nullptr) options.graph.mostElements = 1.5e9;
  if (!isNamed(mutant, report) && options.graph.module != nullptr) report = auditOutputCode(mutant.text, options);
  ++score.made;
  score.refuted += report && report->total().refuted > 0 ? 1 : 0;
  if (isNamed(mutant, report)) {
    ++score.named;
    return;
  }
  std::cout << kind << ": " << program.name << ':' << mutant.line << ' ' << mutant.change << '\n';
  for (std::size_t i = 0; report && i < report->claims.size(); ++i)
    if (report->claims[i].verdict == ClaimVerdict::Refuted || report->claims[i].about == ClaimAbout::Meaning)
      std::cout << "    " << report->claims[i].line << ' ' << report->claims[i].subject << ": "
                << report->claims[i].reason << '\n';
}

TEST(AuditCorpus, RefutesFaultsPutIn) {
  const std::vector<RecordedOutputCode> programs = testing::recordedOutputCode();
  if (programs.empty()) GTEST_SKIP() << "no recordings";
  const char* const only = std::getenv("KERF_MUTANTS");  // "swapped twins, exchanged stride": these kinds
  for (const MutantKind& kind : testing::mutantKinds()) {
    if (only != nullptr && std::string_view(only).find(kind.name) == std::string_view::npos) continue;
    Score score;
    std::mt19937 random(20261129);
    for (const RecordedOutputCode& program : programs) {
      if (program.text.find("triton_tem_") != std::string::npos) continue;  // of a template, nothing is known
      if (const auto mutant = kind.make(codeLines(program.text), random)) judge(program, *mutant, kind.name, score);
    }
    std::cout << kind.name << ": " << score.named << " named, " << score.refuted << " refuted of " << score.made
              << std::endl;
    RecordProperty(std::string(kind.name), std::to_string(score.refuted) + " of " + std::to_string(score.made));
    EXPECT_GE(score.named * 100, score.made * leastShare(kind.name)) << kind.name;
  }
}

}  // namespace
}  // namespace kerf
