// EngineOracle: Kerf's own compiled side against its interpreter, each candidate in a process of its own.
#pragma once

#include <atomic>

#include "engine/accuracy/same_two_models.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/process/isolation.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline oracle {

/// CUDA's driver reserves addresses for the memory of host and device.
inline constexpr std::int64_t deviceAddressSpace = std::int64_t{1} << 46;

struct EngineOracleOptions {
  CompileOptions compile;  ///< faults included; observers must be empty (they would live in the child)
  CompareOptions compare;
  bool accuracy = true;  ///< false: only crashes, hangs and errors count as failures
  /// `timeout` is what compiling and what running may take, each, for up to 1,000 nodes; larger graphs get more.
  IsolationLimits limits;
  /// What Kerf's own runs may take, the reference and the comparison; 0: all phases together get limits.timeout.
  std::chrono::milliseconds ownTime{};
  bool onlyAnswer = false;  ///< results that are the same need no figures of an fp64 reference (sameTwoModelsLean)
};

/// How far a candidate process came.
enum class CandidatePhase : unsigned char { Reference, Compile, Run, Compare };
constexpr CandidatePhase lastOf(CandidatePhase) { return CandidatePhase::Compare; }
/// The compiled side's processes die while compiling or running; anything else is not its fault.
bool blamesCompiledSide(CandidatePhase phase);

/// What one isolated comparison came to. Exactly one of these holds: it `finished`, it failed with `error`, or the
/// process ended (`outcome`).
struct IsolatedComparison {
  CandidatePhase phase = CandidatePhase::Reference;  ///< where it ended
  IsolatedOutcome outcome;
  std::chrono::nanoseconds ownTime{};  ///< spent in phases that are not the compiled side's
  std::optional<Error> error;
  ComparisonReport report;
  bool finished = false;
};

/// reference, fp64 and compiled run of one candidate in a child. A compiled run that takes longer than a generous
/// multiple of the reference run is ended as a hang. Cancelled if `stop` is requested.
Result<IsolatedComparison> compareInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                          std::stop_token stop);

/// What `kerf compare` shows: the report; a crash, hang or error of the compiled side is its `failure`. Errors are the
/// reference's own, and the environment's.
Result<ComparisonReport> compareIsolated(const Candidate& candidate, const EngineOracleOptions& options,
                                         std::stop_token stop = {});

/// The first graph it judges, the start of a search, may take much longer than --timeout in Kerf's own runs; later ones
/// a few times as long as the longest before them.
class EngineOracle : public Oracle {
 public:
  explicit EngineOracle(EngineOracleOptions options);
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override;
  std::string identity() const override;
  std::string circumstances() const override;

 private:
  std::chrono::milliseconds ownTime() const;
  void learnFrom(const IsolatedComparison& comparison, int threads);
  EngineOracleOptions m_options;
  std::atomic<std::int64_t> m_longest = 0;  ///< milliseconds of Kerf's own runs of one graph
};

/// The faults that an identity() names, as FaultPlan::text() has them. Empty: none, or another oracle's identity.
std::string plantsOfIdentity(std::string_view identity);

}  // namespace kerf::inline minifier::inline oracle
