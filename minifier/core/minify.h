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

namespace kerf::inline minifier::inline core {

/// A graph with the values its placeholders take: what a reduction edits and an oracle judges.
struct Candidate {
  GraphModule module;
  ValueList inputs;  ///< one per placeholder
};

/// A candidate is accepted only if this falls lexicographically, so the search ends.
struct CandidateSize {
  std::size_t calls = 0;  ///< of functions, methods and modules, those of nested graphs too
  std::size_t nodes = 0;  ///< all nodes of the outermost graph: placeholders, calls and output
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
  std::string fingerprint;  ///< "accuracy:magnitude", "crash:SIGSEGV", "compile_error:relu: planted compile error" …
  std::string detail;       ///< one line for people
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
};

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

struct MinifyProgress {
  MinifyStep step;
  CandidateSize start, best;
  double secondsLeft = -1;  ///< estimate; negative if unknown
};

struct MinifyOptions {
  int parallelQueries = 2;
  std::chrono::milliseconds candidateTimeout{10'000};
  int flakeVotes = 1;                          ///< queries per verdict; majority decides
  std::optional<std::string> onlyFingerprint;  ///< default: the start graph's own fingerprint
};

/// Called for every query; `candidate` is set for accepted steps only. Returning an error stops the search.
using MinifyObserver = std::function<Result<void>(const MinifyProgress&, const Candidate* candidate)>;

struct MinifyResult {
  Candidate candidate;
  std::string fingerprint;
  std::vector<MinifyStep> steps;  ///< accepted ones
  int tests = 0;
  int cacheHits = 0;
  bool oneMinimal = false;  ///< no edit of any reduction in `editSet` is possible (checked); false if cancelled before
  std::vector<std::string> editSet;  ///< names of the reductions against which that was proven
  bool cancelled = false;
  std::chrono::nanoseconds time{};
};

/// Verdicts by candidate hash and oracle identity; survives in the store so that a second run resumes.
class VerdictCache {
 public:
  virtual ~VerdictCache() = default;
  virtual std::optional<Verdict> find(const std::string& key) = 0;
  virtual void put(const std::string& key, const Verdict& verdict) = 0;
};

}  // namespace kerf::inline minifier::inline core
