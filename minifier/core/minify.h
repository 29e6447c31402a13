// What a minification works on: candidates, oracles and their verdicts, options, progress and the result.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"
#include "minifier/core/failure_match.h"

namespace kerf::inline minifier::inline core {

/// A graph with the values its placeholders take: what a reduction edits and an oracle judges.
struct Candidate {
  GraphModule module;
  ValueList inputs;  ///< one per placeholder
};

/// A candidate is accepted only if this falls lexicographically, so the search ends.
struct CandidateSize {
  std::size_t calls = 0;      ///< of functions, methods and modules, those of nested graphs too
  std::size_t nodes = 0;      ///< all nodes of the outermost graph: placeholders, calls and output
  std::int64_t elements = 0;  ///< of the inputs' storages, or shown by expanded inputs
  std::size_t outputs = 0;
  std::size_t symbols = 0;    ///< symbolic sizes that the placeholders name
  std::size_t dtypes = 0;     ///< inputs of another dtype than float32, int64 and bool
  std::size_t ranks = 0;      ///< dimensions of all inputs
  std::size_t values = 0;     ///< how far the inputs' values are from zeros (complexity.h)
  std::size_t ops = 0;        ///< how far the calls are from neg, add and mul (complexity.h)
  std::size_t arguments = 0;  ///< how far the calls' arguments are from their defaults (complexity.h)
  std::int64_t inputBytes = 0;
  auto operator<=>(const CandidateSize&) const = default;
};
CandidateSize measure(const Candidate& candidate);

enum class VerdictKind : std::uint8_t { Passes, Fails, FailsDifferently, CannotTest };

/// What an oracle says of one candidate.
struct Verdict {
  VerdictKind kind = VerdictKind::CannotTest;
  /// "accuracy:magnitude:aten.relu.default:10^3", "crash:SIGSEGV", "compile_error:relu: planted compile error" …
  std::string fingerprint;
  std::string detail;  ///< one line for people
  std::chrono::nanoseconds time{};
  bool cached = false;
};

class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Judges in a process of its own; a crash or a hang is a verdict. Thread-safe.
  virtual Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) = 0;
  /// Stable text that names the oracle and its options: part of the verdict cache's key and of resuming.
  virtual std::string identity() const = 0;
  /// Beside identity(), what its verdicts depend on and people do not read: hashes of a script, of the environment, of
  /// the program that judges. Part of the same keys. " [name=value …]"; empty if nothing.
  virtual std::string circumstances() const { return {}; }
};

class MinifyControl;  // minify_control.h

/// One accepted (or, for `accepted` false, tried) candidate, as the store keeps it and Studio plots it.
struct MinifyStep {
  int index = 0;          ///< among accepted steps, 0 is the start graph
  int test = 0;           ///< number of oracle queries so far (cached ones not counted)
  std::string reduction;  ///< "remove_suffix", "delta", "shrink_dims"
  CandidateSize size;
  bool accepted = true;
  std::chrono::nanoseconds elapsed{};
  std::string fingerprint;
};

/// A candidate that fails, but not as the start graph does.
struct Slip {
  int number = 0;  ///< from 1, in the order in which fingerprints were met
  std::string fingerprint, detail;
  int tests = 0;       ///< candidates that failed in this way
  CandidateSize size;  ///< of the smallest of them, which is kept
  Candidate candidate;
};

struct MinifyProgress {
  MinifyStep step;
  CandidateSize start, best;
  double secondsLeft = -1;     ///< estimate; negative if unknown
  int slips = 0;               ///< candidates so far that failed in another way
  const Slip* slip = nullptr;  ///< the finding that this query made, or for which it found a smaller graph
};

/// What a search is doing, finer than its verdicts: for those who watch it live.
struct MinifyActivity {
  enum class Kind : std::uint8_t { Asked, Answered, ReductionBegins, ReductionEnds };
  Kind kind = Kind::Asked;
  std::string reduction;
  int query = 0;                                  ///< number of the candidate, from 1; 0 for reductions
  int worker = -1;                                ///< Answered: which of the parallel ones
  std::size_t nodes = 0;                          ///< of the candidate, or of the best one
  VerdictKind verdict = VerdictKind::CannotTest;  ///< Answered
  std::string fingerprint;                        ///< Answered
  std::chrono::nanoseconds time{};                ///< Answered: what the verdict took
  bool cached = false;                            ///< Answered, without a query
  bool accepted = false;                          ///< ReductionEnds: it made the graph smaller
};

struct MinifyOptions {
  int parallelQueries = 2;
  std::chrono::milliseconds candidateTimeout{10'000};
  int flakeVotes = 1;                          ///< queries per verdict; majority decides
  std::optional<std::string> onlyFingerprint;  ///< default: the start graph's own fingerprint
  int maxTests = 0;                            ///< 0: no limit
  std::chrono::nanoseconds maxTime{};          ///< of the search; 0: no limit
  /// Queries of the start graph that measure how often it fails; from then on one failure is proof, and a candidate
  /// passes when it has passed as often as shows it (sequential_vote.h). 0: one verdict is the truth.
  int flakyStarts = 0;
  std::vector<std::string> pinned;   ///< names of nodes of the start graph that stay as they are
  MinifyControl* control = nullptr;  ///< not owned
  /// Hears that the search went back to an accepted step, and its candidate. Returning an error stops the search.
  std::function<Result<void>(const MinifyStep& step, const Candidate& candidate)> wentBack = {};
  std::vector<Candidate> refused = {};  ///< not accepted again: what was undone before the search was resumed
  std::function<void(const MinifyActivity&)> activity = {};  ///< called from the search's thread
  FailureMatch match;                                        ///< which failures count as the start graph's
};

enum class MinifyEnding : std::uint8_t { Finished, Cancelled, MaxTests, MaxTime };

/// Called for every query; `candidate` is set for accepted steps only. Returning an error stops the search.
using MinifyObserver = std::function<Result<void>(const MinifyProgress&, const Candidate* candidate)>;

struct MinifyResult {
  Candidate candidate;
  std::string fingerprint;        ///< of its failure; the start graph's is that of the first step
  std::vector<MinifyStep> steps;  ///< accepted ones
  int tests = 0;
  int cacheHits = 0;
  bool oneMinimal = false;  ///< no edit of any reduction in `editSet` is possible (checked); false if cancelled before
  std::vector<std::string> editSet;  ///< names of the reductions against which that was proven
  bool cancelled = false;
  std::chrono::nanoseconds time{};
  MinifyEnding ending = MinifyEnding::Finished;
  int unusedTests = 0;      ///< speculative tests whose verdicts were not needed; no part of `tests`
  double failureRate = 1;   ///< of the start graph, where flakyStarts measured it
  int passesAsked = 1;      ///< queries after which a candidate that never failed counts as passing
  int lostEdits = 0;        ///< edits that Kerf itself crashed at, or failed to build (SafeBuilding)
  int slipTests = 0;        ///< candidates that failed in another way
  std::vector<Slip> slips;  ///< one for each other failureName() (SlipLog)
};

/// Verdicts by candidate hash and oracle identity; survives in the store so that a second run resumes.
class VerdictCache {
 public:
  virtual ~VerdictCache() = default;
  virtual std::optional<Verdict> find(const std::string& key) = 0;
  virtual void put(const std::string& key, const Verdict& verdict) = 0;
};

}  // namespace kerf::inline minifier::inline core
