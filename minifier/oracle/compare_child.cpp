// compareInChild(): what runs inside a candidate process, and how its answer is read.
#include <sys/mman.h>
#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/ops/core/op_registry.h"
#include "minifier/oracle/engine_oracle.h"
#include "minifier/oracle/report_codec.h"

namespace kerf::inline minifier::inline oracle {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

/// A compiled run may take this many times the reference run, and never less than the floor, before it is a hang.
constexpr int hangFactor = 20;
constexpr std::chrono::milliseconds hangFloor{1000};

/// One byte that parent and child both see: how far the child came, even if it dies.
class SharedPhase {
 public:
  SharedPhase() : m_memory(::mmap(nullptr, sizeof(Cell), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (valid()) new (m_memory) Cell(CandidatePhase::Reference);
  }
  ~SharedPhase() {
    if (valid()) ::munmap(m_memory, sizeof(Cell));
  }
  SharedPhase(const SharedPhase&) = delete;
  SharedPhase& operator=(const SharedPhase&) = delete;
  bool valid() const { return m_memory != MAP_FAILED; }
  void set(CandidatePhase phase) { cell()->store(phase); }
  CandidatePhase get() const { return cell()->load(); }

 private:
  using Cell = std::atomic<CandidatePhase>;
  Cell* cell() const { return static_cast<Cell*>(m_memory); }
  void* m_memory;
};

/// SIGALRM ends the child when the compiled run takes too long; 0 switches it off.
void setHangTimer(std::chrono::milliseconds limit) {
  itimerval timer{};
  timer.it_value.tv_sec = limit.count() / 1000;
  timer.it_value.tv_usec = suseconds_t(limit.count() % 1000) * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

class ChildComparison {
 public:
  ChildComparison(const Candidate& candidate, const EngineOracleOptions& options, SharedPhase& phase)
      : m_candidate(candidate), m_options(options), m_phase(phase) {}

  std::string run() {
    const RunModel compiled = [&](const ValueList& inputs) { return runCompiled(inputs); };
    const Result<ComparisonReport> report =
        sameTwoModels(m_candidate.module, referenceOps(), compiled, m_candidate.inputs, m_options.compare);
    if (m_error) return "E" + encodeError(*m_error);
    if (!report) return "E" + encodeError(report.error());
    return "R" + encodeReport(*report);
  }

 private:
  Result<Value> runCompiled(const ValueList& inputs) {
    const auto reference = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - m_began);
    m_phase.set(CandidatePhase::Compile);
    CompileOptions options = m_options.compile;
    options.keepArtifacts = false;
    options.observers.clear();
    auto graph = compileFx(m_candidate.module, options);
    if (!graph) return remember(graph.error());
    m_phase.set(CandidatePhase::Run);
    setHangTimer(std::min(m_options.limits.timeout, std::max(hangFloor, reference * hangFactor)));
    Result<Value> result = (*graph)->run(inputs);
    setHangTimer({});
    if (!result) return remember(result.error());
    m_phase.set(CandidatePhase::Compare);
    return result;
  }

  Result<Value> remember(const Error& error) {
    m_error = error;
    return std::unexpected(error);
  }

  static std::string encodeError(const Error& error) {
    return json{{"code", int(error.code)}, {"message", error.message}, {"node", error.node}, {"trail", error.trail}}
        .dump(-1, ' ', false, json::error_handler_t::replace);
  }

  const Candidate& m_candidate;
  const EngineOracleOptions& m_options;
  SharedPhase& m_phase;
  std::optional<Error> m_error;
  Clock::time_point m_began = Clock::now();
};

Result<Error> decodeError(std::string_view bytes) {
  try {
    const json object = json::parse(bytes);
    Error error{static_cast<ErrorCode>(object.at("code").get<int>()), object.at("message").get<std::string>()};
    error.node = object.at("node").get<std::string>();
    error.trail = object.at("trail").get<std::vector<std::string>>();
    return error;
  } catch (const json::exception& error) {
    return fail(ErrorCode::Internal, "a candidate process sent a malformed error: {}", error.what());
  }
}

Result<void> readAnswer(IsolatedComparison& comparison) {
  const std::string_view payload = comparison.outcome.payload;
  if (payload.empty()) return fail(ErrorCode::Internal, "a candidate process sent no answer");
  if (payload.front() == 'E') {
    KERF_TRY(comparison.error, decodeError(payload.substr(1)));
    return {};
  }
  KERF_TRY(comparison.report, decodeReport(payload.substr(1)));
  comparison.finished = true;
  return {};
}

}  // namespace

Result<IsolatedComparison> compareInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                          std::stop_token stop) {
  SharedPhase phase;
  if (!phase.valid()) return fail(ErrorCode::Environment, "cannot map memory for a candidate process");
  const auto body = [&] { return ChildComparison(candidate, options, phase).run(); };
  IsolatedComparison comparison;
  KERF_TRY(comparison.outcome, runIsolated(body, options.limits, std::move(stop)));
  comparison.phase = phase.get();
  if (comparison.outcome.exit == IsolatedExit::Cancelled)
    return fail(ErrorCode::Cancelled, "the comparison was stopped");
  if (comparison.outcome.exit == IsolatedExit::Crashed && comparison.outcome.signal == SIGALRM)
    comparison.outcome.exit = IsolatedExit::TimedOut;
  if (comparison.outcome.exit == IsolatedExit::Finished) KERF_CHECK(readAnswer(comparison));
  return comparison;
}

}  // namespace kerf::inline minifier::inline oracle
