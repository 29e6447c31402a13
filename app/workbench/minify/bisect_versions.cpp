#include "app/workbench/minify/bisect_versions.h"

#include "app/workbench/minify/oracle_choice.h"
#include "minifier/bisect/version_bisection.h"

namespace kerf::workbench {

namespace {

/// "2.11.0 (python3.12)".
std::string nameOf(const std::string& program, const VersionAnswer& answer) {
  return answer.version.empty() ? program : fmt::format("{} ({})", answer.version, program);
}

Result<VersionAnswer> answerOf(const OracleSettings& settings, const GraphSource& source, const Candidate& candidate,
                               const Job& job) {
  VersionAnswer answer;
  const auto oracle = startTorch(settings, source, {job, 1, nullptr});
  if (!oracle) {
    // An environment that is broken is one version that cannot be tested, not the end of the search.
    if (oracle.error().code != ErrorCode::Environment) return fail(oracle.error());
    answer.testable = false;
    answer.detail = oracle.error().text();
    return answer;
  }
  answer.version = (*oracle)->torchVersion();
  KERF_TRY(const Verdict verdict, (*oracle)->judge(candidate, job.stop));
  answer.testable = verdict.kind != VerdictKind::CannotTest;
  answer.fingerprint = verdict.fingerprint;
  answer.detail = verdict.detail;
  return answer;
}

Bisection documentOf(const BisectRequest& request, const VersionChange& change) {
  Bisection document;
  std::vector<std::string> names = request.versions;
  std::vector<const VersionAnswer*> answers(names.size(), nullptr);
  for (const auto& [version, answer] : change.trials) {
    names[version] = nameOf(request.versions[version], answer);
    answers[version] = &answer;
    document.trials.push_back({{names[version]},
                               answer.testable && answer.fingerprint.empty(),
                               answer.testable ? answer.detail : "cannot be tested: " + answer.detail});
  }
  const VersionAnswer &before = *answers[change.before], &after = *answers[change.after];
  document.different = change.changes || !before.fingerprint.empty();
  if (!change.changes) {
    document.note = before.fingerprint.empty() ? "every version that was tried runs it without a failure"
                                               : "every version that was tried fails in the same way: " + before.detail;
    return document;
  }
  document.culprits.push_back(names[change.after]);
  const auto does = [](const VersionAnswer& answer) {
    return answer.fingerprint.empty() ? std::string("passes") : "fails: " + answer.detail;
  };
  document.remarks.push_back(fmt::format("{} {}", names[change.before], does(before)));
  document.remarks.push_back(fmt::format("{} {}", names[change.after], does(after)));
  for (const std::size_t version : change.notTestable)
    document.remarks.push_back(fmt::format("{} lies between them and cannot be tested", names[version]));
  if (after.fingerprint.empty()) document.note = "the failure ends here: later versions run it";
  return document;
}

}  // namespace

Result<Bisection> bisectByVersion(const BisectRequest& request, const GraphSource& source, const Candidate& candidate,
                                  const Job& job) {
  if (request.versions.size() < 2)
    return fail(ErrorCode::BadUsage,
                "versions are bisected between at least two programs that have PyTorch, in their order");
  OracleSettings settings;
  settings.oracle = "torch";
  settings.torchCheck = request.torchCheck;
  settings.timeout = request.timeout;
  settings.limits = request.limits;
  const VersionTrial trial = [&](std::size_t version) {
    settings.python = request.versions[version];
    return answerOf(settings, source, candidate, job);
  };
  KERF_TRY(const VersionChange change, bisectVersions(request.versions.size(), trial, job.progressOnly()));
  return documentOf(request, change);
}

}  // namespace kerf::workbench
