// EngineOracle: what an isolated comparison means, as a verdict and as a report.
#include "minifier/oracle/engine_oracle.h"

#include <algorithm>

#include "engine/support/thread_pool.h"
#include "minifier/oracle/judging_environment.h"
#include "minifier/oracle/verdict_fingerprint.h"

namespace kerf::inline minifier::inline oracle {

namespace {

std::string_view phaseName(CandidatePhase phase) {
  switch (phase) {
    case CandidatePhase::Reference:
      return "reference";
    case CandidatePhase::Compile:
      return "compile";
    case CandidatePhase::Run:
      return "run";
    case CandidatePhase::Compare:
      return "compare";
  }
  return "unknown";
}

Verdict cannotTest(std::string detail) { return {.kind = VerdictKind::CannotTest, .detail = std::move(detail)}; }

Verdict failure(std::string fingerprint, std::string detail) {
  return {.kind = VerdictKind::Fails, .fingerprint = std::move(fingerprint), .detail = std::move(detail)};
}

std::string endOfProcess(const IsolatedComparison& comparison) {
  if (comparison.outcome.exit == IsolatedExit::TimedOut)
    return fmt::format("hang while the graph was in phase '{}'", phaseName(comparison.phase));
  return fmt::format("{} in phase '{}'", comparison.outcome.signalName(), phaseName(comparison.phase));
}

Verdict verdictOfEnd(const IsolatedComparison& comparison) {
  const std::string detail = endOfProcess(comparison);
  if (!blamesCompiledSide(comparison.phase)) return cannotTest(detail);
  if (comparison.outcome.exit == IsolatedExit::TimedOut)
    return failure(fmt::format("hang:{}", phaseName(comparison.phase)), detail);
  return failure(fmt::format("crash:{}:{}", comparison.outcome.signalName(), phaseName(comparison.phase)), detail);
}

Verdict verdictOfError(const IsolatedComparison& comparison) {
  const Error& error = *comparison.error;
  if (!blamesCompiledSide(comparison.phase) || error.code == ErrorCode::UnsupportedOp) return cannotTest(error.text());
  const bool compiling = comparison.phase == CandidatePhase::Compile;
  return failure(errorFingerprint(compiling ? "compile_error" : "runtime_error", error), error.text());
}

/// A verdict may depend on them; empty for the usual ones, as in the identities of earlier verdicts.
std::string limitsText(const IsolationLimits& limits) {
  const IsolationLimits usual;
  std::string text;
  if (limits.memoryBytes != usual.memoryBytes) text += fmt::format(" memory={}", limits.memoryBytes);
  if (limits.fileBytes != usual.fileBytes) text += fmt::format(" file={}", limits.fileBytes);
  return text;
}

/// What Kerf's own runs of the graph that is judged first may take, in --timeouts: it is the largest, and if it cannot
/// be judged nothing can.
constexpr int firstFactor = 20;
constexpr int firstThreads = 4;
/// What those of later graphs may take, in times of the longest so far: none of them is larger, but the machine may be
/// busier. An edit can make a loop endless.
constexpr int laterFactor = 4;

/// The start graph's least multiplier, where it is more than any result's is by itself.
std::string multiplierText(double least) { return least > 2 ? fmt::format(" m>={}", least) : std::string(); }

}  // namespace

EngineOracle::EngineOracle(EngineOracleOptions options) : m_options(std::move(options)) { m_options.onlyAnswer = true; }

std::chrono::milliseconds EngineOracle::ownTime() const {
  const std::chrono::milliseconds longest{m_longest.load()};
  if (longest.count() == 0) return m_options.limits.timeout * firstFactor;
  return std::max(m_options.limits.timeout, longest * laterFactor);
}

/// Where the compiled side was reached, the reference has shown what it takes: at most so long on one thread.
void EngineOracle::learnFrom(const IsolatedComparison& comparison, int threads) {
  if (!comparison.finished && !blamesCompiledSide(comparison.phase)) return;
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(comparison.ownTime).count() * std::max(threads, 1);
  std::int64_t known = m_longest.load();
  while (known < took && !m_longest.compare_exchange_weak(known, took)) {
  }
}

Result<Verdict> EngineOracle::judge(const Candidate& candidate, std::stop_token stop) {
  EngineOracleOptions options = m_options;
  options.ownTime = ownTime();
  const bool isFirst = m_longest.load() == 0;  // nothing else can be judged meanwhile
  if (isFirst) options.limits.threads = std::min(threadCount(), firstThreads);
  KERF_TRY(const IsolatedComparison comparison, compareInChild(candidate, options, std::move(stop)));
  learnFrom(comparison, options.limits.threads);
  if (comparison.outcome.exit != IsolatedExit::Finished) return verdictOfEnd(comparison);
  if (comparison.error) return verdictOfError(comparison);
  const std::string fingerprint = accuracyFingerprint(comparison.report, candidate.module.graph);
  if (fingerprint.empty() || !m_options.accuracy)
    return Verdict{.kind = VerdictKind::Passes, .detail = accuracyDetail(comparison.report, candidate.module.graph)};
  return failure(fingerprint, accuracyDetail(comparison.report, candidate.module.graph));
}

std::string EngineOracle::identity() const {
  const CompareOptions& compare = m_options.compare;
  return fmt::format(
      "engine results=all backend={} passes={} plant={} fuse={} opt={} accuracy={} tol={} fp64={}{} ignore_non_fp={} "
      "limit={}ms{}{}{}",
      m_options.compile.backend, m_options.compile.passes.text(), m_options.compile.faults.text(),
      m_options.compile.fuse, m_options.compile.optimizationLevel, m_options.accuracy, compare.tolerance,
      compare.useFp64, compare.requireFp64 ? " required" : "", compare.ignoreNonFloat, m_options.limits.timeout.count(),
      limitsText(m_options.limits), multiplierText(compare.leastMultiplier), compare.torchSame ? " same=torch" : "");
}

std::string plantsOfIdentity(std::string_view identity) {
  constexpr std::string_view before = " plant=", after = " fuse=";
  const std::size_t mark = identity.find(before);
  if (!identity.starts_with("engine ") || mark == std::string_view::npos) return {};
  const std::size_t begin = mark + before.size();
  return std::string(identity.substr(begin, identity.find(after, begin) - begin));
}

std::string EngineOracle::circumstances() const { return fmt::format(" [program={}]", programIdentity()); }

Result<ComparisonReport> compareIsolated(const Candidate& candidate, const EngineOracleOptions& options,
                                         std::stop_token stop) {
  EngineOracleOptions patient = options;
  patient.ownTime = options.limits.timeout * firstFactor;
  KERF_TRY(IsolatedComparison comparison, compareInChild(candidate, patient, std::move(stop)));
  if (comparison.finished) return std::move(comparison.report);
  const bool unsupported = comparison.error && comparison.error->code == ErrorCode::UnsupportedOp;
  if (unsupported || !blamesCompiledSide(comparison.phase)) {
    if (comparison.error) return std::unexpected(*comparison.error);
    const bool reference = comparison.phase == CandidatePhase::Reference;
    return fail(reference ? ErrorCode::BadInput : ErrorCode::RuntimeFailed, "the comparison ended with a {}",
                endOfProcess(comparison));
  }
  ComparisonReport report;
  report.failure = comparison.error ? comparison.error->text() : endOfProcess(comparison);
  return report;
}

}  // namespace kerf::inline minifier::inline oracle
