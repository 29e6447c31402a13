// Recorded answers of PyTorch replayed through Kerf: same() cases, and calls of ops.
#include "app/workbench/in_child.h"
#include "app/workbench/workbench.h"
#include "engine/accuracy/same_cases.h"
#include "engine/ops/core/recorded_calls.h"

namespace kerf::workbench {

namespace {

using Kind = ConformanceAnswer::Kind;

Result<ConformanceAnswer> replaySame(const std::string& path) {
  KERF_TRY(const auto report, checkSameCases(path));
  ConformanceAnswer answer{Kind::Same, report.cases, report.agreed};
  for (const auto& miss : report.mismatches)
    answer.mismatches.push_back({miss.id, miss.reason, miss.expected, miss.got});
  return answer;
}

Result<ConformanceAnswer> replayCalls(const std::string& path) {
  KERF_TRY(const auto report, checkRecordedCalls(path));
  ConformanceAnswer answer{Kind::Calls, report.passed + report.failed + report.unsupported, report.passed};
  answer.failed = report.failed;
  answer.unsupported = report.unsupported;
  answer.completeOverloads = report.completeOverloads();
  for (const auto& row : report.overloads)
    answer.overloads.push_back({row.op, row.passed, row.failed, row.unsupported, row.failures});
  return answer;
}

}  // namespace

Result<ConformanceAnswer> perform(Workbench&, const ConformanceRequest& request, const Job& job) {
  std::error_code ignored;
  if (!std::filesystem::exists(request.path, ignored))
    return fail(ErrorCode::NotFound, "{} does not exist", request.path);
  const std::function body = [&]() -> Result<ConformanceAnswer> {
    const auto start = std::chrono::steady_clock::now();
    auto answer = holdsSameCases(request.path) ? replaySame(request.path) : replayCalls(request.path);
    if (answer) answer->time = std::chrono::steady_clock::now() - start;
    return answer;
  };
  return inChild(body, patientLimits({}), job, "replaying the recorded answers", ErrorCode::RuntimeFailed);
}

}  // namespace kerf::workbench
