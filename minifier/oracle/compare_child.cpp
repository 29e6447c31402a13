// compareInChild(): what runs inside a candidate process, and how its answer is read.
#include <sys/time.h>

#include <csignal>

#include "engine/accuracy/lean_comparison.h"
#include "engine/accuracy/own_attributes.h"
#include "engine/backend/registry/backends.h"
#include "engine/ops/core/op_registry.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::inline minifier::inline oracle {

bool blamesCompiledSide(CandidatePhase phase) {
  return phase == CandidatePhase::Compile || phase == CandidatePhase::Run;
}

namespace {

using Clock = std::chrono::steady_clock;

/// A compiled run may take this many times the reference run, and never less than the floor, before it is a hang.
constexpr int hangFactor = 20;
constexpr std::chrono::milliseconds hangFloor{1000};
/// The first run on a device starts its libraries, which has nothing to do with the graph.
constexpr std::chrono::milliseconds deviceHangFloor{20'000};

bool runsOnDevice(const CompileOptions& options) {
  const auto backend = findBackend(options.backend);
  return backend && (*backend)->isDevice();
}

/// What one phase of the compiled side may take: more for graphs of thousands of nodes, whose compiling alone takes as
/// long as others' whole comparison. The same on every machine, as the fingerprint of a hang must be.
std::chrono::milliseconds phaseLimit(const Candidate& candidate, const EngineOracleOptions& options) {
  constexpr std::int64_t nodesPerLimit = 1000;
  const std::chrono::milliseconds limit = options.limits.timeout;
  return limit + limit * std::int64_t(candidate.module.graph.size()) / nodesPerLimit;
}

/// SIGALRM ends the child when the compiled run takes too long; 0 switches it off.
void setHangTimer(std::chrono::milliseconds limit) {
  itimerval timer{};
  timer.it_value.tv_sec = limit.count() / 1000;
  timer.it_value.tv_usec = suseconds_t(limit.count() % 1000) * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

class ChildComparison {
 public:
  ChildComparison(const Candidate& candidate, const EngineOracleOptions& options, const SendEvent& send)
      : m_candidate(candidate), m_options(options), m_send(send) {}

  Result<ComparisonReport> run() {
    KERF_TRY(m_module, withOwnAttributes(m_candidate.module, ResultNames(m_candidate.module).attributes));
    const RunModel compiled = [&](const ValueList& inputs) { return runCompiled(inputs); };
    if (runsOnDevice(m_options.compile)) KERF_CHECK(compileAhead());
    const auto compare = m_options.onlyAnswer ? sameTwoModelsLean : sameTwoModels;
    auto report = compare(m_module, referenceOps(), compiled, m_candidate.inputs, m_options.compare, {});
    if (m_error) return fail(*m_error);
    return report;
  }

 private:
  /// What a device cannot hold is known before a reference is computed that takes as much: it cannot be tested. Another
  /// error is the compiled side's, if the reference can be computed.
  Result<void> compileAhead() {
    auto graph = compile();
    m_send(encode(CandidatePhase::Reference));
    m_began = Clock::now();
    if (graph)
      m_compiled = std::move(*graph);
    else if (graph.error().code == ErrorCode::TooLarge)
      return std::unexpected(graph.error());
    else
      m_refused = graph.error();
    return {};
  }

  Result<std::unique_ptr<CompiledGraph>> compile() {
    m_send(encode(CandidatePhase::Compile));
    CompileOptions options = m_options.compile;
    options.keepArtifacts = false;
    options.observers.clear();
    setHangTimer(m_phaseLimit);
    auto graph = compileFx(m_module, options);
    setHangTimer({});
    return graph;
  }

  Result<Value> runCompiled(const ValueList& inputs) {
    const auto reference = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - m_began);
    Result<std::unique_ptr<CompiledGraph>> graph = std::exchange(m_compiled, nullptr);
    if (m_refused) {
      m_send(encode(CandidatePhase::Compile));
      return remember(*m_refused);
    }
    if (!*graph) graph = compile();
    if (!graph) return remember(graph.error());
    m_send(encode(CandidatePhase::Run));
    const auto floor = runsOnDevice(m_options.compile) ? deviceHangFloor : hangFloor;
    setHangTimer(std::min(m_phaseLimit, std::max(floor, reference * hangFactor)));
    Result<Value> result = (*graph)->run(inputs);
    setHangTimer({});
    if (!result) return remember(result.error());
    m_send(encode(CandidatePhase::Compare));
    return result;
  }

  Result<Value> remember(const Error& error) {
    m_error = error;
    return std::unexpected(error);
  }

  const Candidate& m_candidate;
  GraphModule m_module;  ///< with attributes that may be written
  const EngineOracleOptions& m_options;
  const SendEvent& m_send;
  std::chrono::milliseconds m_phaseLimit = phaseLimit(m_candidate, m_options);
  std::unique_ptr<CompiledGraph> m_compiled;  ///< what the next run takes, where it was compiled ahead
  std::optional<Error> m_refused;             ///< what compiling ahead ended with
  std::optional<Error> m_error;
  Clock::time_point m_began = Clock::now();
};

}  // namespace

Result<IsolatedComparison> compareInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                          std::stop_token stop) {
  const std::function body = [&](const SendEvent& send) { return ChildComparison(candidate, options, send).run(); };
  IsolatedComparison comparison;
  Clock::time_point phaseBegan = Clock::now();
  const auto endPhase = [&] {
    const auto now = Clock::now(), began = std::exchange(phaseBegan, now);
    if (!blamesCompiledSide(comparison.phase)) comparison.ownTime += now - began;
  };
  const auto follow = [&](std::string_view event) {
    const auto phase = decode<CandidatePhase>(event, "a phase");
    if (!phase) return;
    endPhase();
    comparison.phase = *phase;
  };
  IsolationLimits limits = options.limits;
  if (runsOnDevice(options.compile)) limits.memoryBytes = deviceAddressSpace;
  if (options.ownTime.count() > 0) limits.timeout = options.ownTime + phaseLimit(candidate, options) * 2;
  KERF_TRY(auto answer, callIsolated<ComparisonReport>(body, limits, std::move(stop), follow));
  endPhase();
  comparison.outcome = answer.outcome;
  if (comparison.outcome.exit == IsolatedExit::Cancelled)
    return fail(ErrorCode::Cancelled, "the comparison was stopped");
  const bool isHang = comparison.outcome.exit == IsolatedExit::Crashed && comparison.outcome.signal == SIGALRM;
  const bool isOverOwnTime = comparison.outcome.exit == IsolatedExit::TimedOut && options.ownTime.count() > 0;
  if (isOverOwnTime) comparison.phase = CandidatePhase::Reference;  // the compiled side's own limits had not ended it
  if (isHang) comparison.outcome.exit = IsolatedExit::TimedOut;
  if (comparison.outcome.exit != IsolatedExit::Finished) return comparison;
  comparison.finished = answer.answer->has_value();
  if (comparison.finished)
    comparison.report = std::move(**answer.answer);
  else
    comparison.error = answer.answer->error();
  return comparison;
}

}  // namespace kerf::inline minifier::inline oracle
