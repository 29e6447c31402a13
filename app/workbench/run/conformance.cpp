// Recorded answers of PyTorch replayed through Kerf: same() cases, calls of ops, and what several ranks do.
#include <algorithm>
#include <set>

#include "app/workbench/programs/program_conformance.h"
#include "app/workbench/ranks/rank_world.h"
#include "app/workbench/workbench.h"
#include "engine/accuracy/same_cases.h"
#include "engine/backend/cuda/devices.h"
#include "engine/conformance/recorded_calls.h"
#include "engine/conformance/recorded_gradients.h"
#include "engine/distributed/recorded/recordings.h"
#include "engine/process/in_child.h"

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

/// Agreed: checked, constant or not to be checked.
Result<ConformanceAnswer> replayGradients(const std::string& path) {
  KERF_TRY(const auto report, checkRecordedGradients(path));
  ConformanceAnswer answer{Kind::Gradients, report.calls, report.calls - report.failed};
  answer.failed = report.failed;
  for (const auto& [reason, calls] : report.skipped) answer.skipped.push_back({reason, calls});
  for (const auto& [op, calls] : report.missing) {
    answer.missing.push_back({op, calls});
    answer.agreed -= calls;
  }
  for (const auto& row : report.overloads)
    answer.gradients.push_back({row.op, row.family, row.checked, row.constant, row.failed, row.missing, row.skipped,
                                row.complexChecked, row.gradientError, row.jvpError, row.dualError, row.failures});
  return answer;
}

/// Four ranks, as were recorded; over NCCL with fewer devices the modules alone, on one rank for each device.
Result<RecordedWorld> recordedWorld() {
  constexpr int recordedRanks = 4;
  KERF_TRY(const std::string chosen, chosenProcessGroup());
  if (chosen != "nccl") return RecordedWorld{};
  KERF_TRY(const int devices, cudaDevices());
  const int ranks = std::min(devices, recordedRanks);
  KERF_TRY(const RankWorld world, rankWorld(true, ranks));
  return RecordedWorld{world.start, ranks < recordedRanks ? ranks : 0};
}

/// Agreed: cases in which nothing differs.
Result<ConformanceAnswer> replayRanks(const std::string& path) {
  KERF_TRY(const RecordedWorld world, recordedWorld());
  KERF_TRY(const auto report, checkRanks(path, world));
  ConformanceAnswer answer{Kind::Ranks, report.cases, report.cases};
  std::set<std::string> differing;
  for (std::size_t i = 0; i < ranksFieldNames.size(); ++i)
    answer.fields.push_back({std::string(ranksFieldNames[i]), report.fields[i].asked, report.fields[i].equal});
  for (const auto& difference : report.differences) {
    answer.differences.push_back({difference.id, difference.field, difference.text});
    differing.insert(difference.id);
  }
  answer.failed = std::int64_t(differing.size());
  answer.agreed -= answer.failed;
  return answer;
}

Result<ConformanceAnswer> replay(const ConformanceRequest& request) {
  if (request.gradients) return replayGradients(request.path);
  if (holdsRanks(request.path)) return replayRanks(request.path);
  return holdsSameCases(request.path) ? replaySame(request.path) : replayCalls(request.path);
}

/// Programs run in children of their own, which a child cannot start; the rest in one child.
Result<ConformanceAnswer> replayApart(const ConformanceRequest& request, const Job& job) {
  if (!request.gradients && !holdsRanks(request.path) && holdsPrograms(request.path))
    return replayPrograms(request.path, job);
  const std::function body = [&] { return replay(request); };
  return inChild(body, patientLimits({}), job.stop, "replaying the recorded answers", ErrorCode::RuntimeFailed);
}

}  // namespace

Result<ConformanceAnswer> perform(Workbench&, const ConformanceRequest& request, const Job& job) {
  std::error_code ignored;
  if (!std::filesystem::exists(request.path, ignored))
    return fail(ErrorCode::NotFound, "{} does not exist", request.path);
  const auto start = std::chrono::steady_clock::now();
  auto answer = replayApart(request, job);
  if (answer) answer->time = std::chrono::steady_clock::now() - start;
  return answer;
}

}  // namespace kerf::workbench
