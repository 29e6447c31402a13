// Reductions: cutting a failing graph down, its steps, and one verdict on a graph.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/workbench/protocol/accuracy_choice.h"
#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/difference.h"
#include "app/workbench/protocol/graphs.h"
#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/pass_choice.h"
#include "engine/process/candidate_limits.h"

namespace kerf::workbench {

/// Who decides whether a graph still fails: Kerf's engine, a command, or the user's PyTorch.
struct OracleSettings {
  std::string oracle = "engine";              ///< engine, command, torch
  std::vector<std::string> plants;            ///< engine only
  PassChoice passes;                          ///< engine only
  double tolerance = 1e-3;                    ///< engine only
  AccuracyChoice accuracy;                    ///< engine only; without tolerances of single results
  std::string check;                          ///< command only: run with the candidate's repro.py as its last argument
  std::string python = "python3";             ///< torch only
  std::chrono::milliseconds timeout{10'000};  ///< for one candidate
  /// Targets that candidates and the repro may call although nothing is known of them.
  std::vector<std::string> allowedCalls = {};
  CandidateLimits limits;  ///< engine: memory and file size only
  /// Of torch.compile; empty: what the capture says, else inductor. engine: of Kerf's; empty: llvm.
  std::string torchBackend = {};
  std::string torchCheck = "auto";  ///< torch only: what is a failure (TorchOracleOptions::check)
  /// torch only: above 0 this PyTorch takes so many queries at once and stays warm for the requests that follow.
  int warmJobs = 0;
  /// torch only: modules, and libraries of ops ("libmine.so"), that are imported before anything is judged.
  std::vector<std::string> imports = {};

  KERF_FIELDS(oracle, plants, passes, tolerance, check, python, timeout, accuracy, allowedCalls, limits, torchBackend,
              torchCheck, warmJobs, imports)
};

/// Another failure that a reduction met.
struct SlipDoc {
  std::string id;  ///< "m3/slip1", a graph like any other
  std::string fingerprint, detail;
  int tests = 0;  ///< candidates that failed in this way
  int nodes = 0;  ///< of the smallest of them, which is kept

  KERF_FIELDS(id, fingerprint, detail, tests, nodes)
};

struct Minified {
  std::string reductionId,
      reproId;  ///< "m2", "p4"; reproId is empty if cancelled
  int startNodes = 0, nodes = 0;
  int tests = 0, cacheHits = 0;
  std::int64_t steps = 0;   ///< accepted in this run
  std::string fingerprint;  ///< of the smallest graph
  bool oneMinimal = false, cancelled = false, resumed = false;
  std::string repro;                ///< path of the written repro.py; empty for ReproPlace::Store
  std::string rechecked;            ///< fingerprint that a fresh process found
  std::chrono::nanoseconds time{};  ///< of everything
  std::string torchSays =
      {};  ///< of the written repro, where --confirm asked; "PyTorch 2.11.0 runs it without failure"
  std::vector<std::string> editSet = {};  ///< reductions of which none can go on: what oneMinimal is proven against
  std::string stoppedBy = {};             ///< "max_tests", "max_time"; empty: neither
  int unusedTests = 0;                    ///< speculative tests in vain, no part of tests
  double failureRate = 1;                 ///< of the start graph, where flaky asked
  int passesAsked = 1;                    ///< queries that make a pass
  int lostEdits = 0;                      ///< that Kerf itself crashed at, or failed to build
  int slips = 0;                          ///< candidates of this run that failed in another way
  std::vector<SlipDoc> findings = {};     ///< of the reduction: one for each other fingerprint, 16 at most
  std::string startedAs = {};             ///< fingerprint of the graph with which this run began
  std::string matchRule = {};             ///< which failures counted as the same, for people

  KERF_FIELDS(reductionId, reproId, repro, startNodes, nodes, tests, cacheHits, steps, fingerprint, startedAs,
              matchRule, rechecked, torchSays, oneMinimal, editSet, lostEdits, slips, findings, cancelled, stoppedBy,
              unusedTests, failureRate, passesAsked, resumed, time)
};

/// Cuts a failing graph down to the smallest that fails in the same way; every query is a MinifyEvent. What was
/// accepted is in the store before the search goes on, and a later request goes on from there. Stopping is no error:
/// the answer says `cancelled`. Different when a fresh process does not see the same failure.
struct MinifyRequest {
  enum class ReproPlace { Folder, Store };
  using Answer = Minified;
  static constexpr std::string_view name = "minify";
  GraphAddress graph;
  OracleSettings oracle;
  int jobs = 2, votes = 1;
  ReproPlace place = ReproPlace::Folder;
  std::string output;            ///< folder for repro.py; empty: ./kerf-repro-m<id>
  std::string checkpoints = {};  ///< folder for PyTorch's layout of steps (checkpoints.h); empty: none
  bool confirm = false;          ///< PyTorch runs the repro: OracleSettings::python
  std::string match = {};   ///< only failures in which this expression is found count; empty: the start graph's own
  bool anyFailure = false;  ///< every failure counts
  bool fresh = false;       ///< earlier verdicts and unfinished reductions are not looked at

  int maxTests = 0;                     ///< 0: no limit
  std::chrono::milliseconds maxTime{};  ///< of the search; 0: no limit
  int flaky = 0;                        ///< queries of the start graph that measure how often it fails; 0: always
  std::vector<std::string> pins = {};   ///< names of nodes that stay

  KERF_FIELDS(graph, oracle, jobs, votes, place, output, match, anyFailure, fresh, checkpoints, confirm, maxTests,
              maxTime, flaky, pins)
};
constexpr MinifyRequest::ReproPlace lastOf(MinifyRequest::ReproPlace) { return MinifyRequest::ReproPlace::Store; }

struct JudgeAnswer {
  enum class Verdict { Passes, Fails, FailsDifferently, CannotTest };
  Verdict verdict = Verdict::CannotTest;
  std::string fingerprint, detail;
  std::chrono::nanoseconds time{};

  KERF_FIELDS(verdict, fingerprint, detail, time)
};
constexpr JudgeAnswer::Verdict lastOf(JudgeAnswer::Verdict) { return JudgeAnswer::Verdict::CannotTest; }
/// One verdict on the graph as it is. FailsDifferently where it fails, but `match` is not found.
struct JudgeRequest {
  using Answer = JudgeAnswer;
  static constexpr std::string_view name = "judge";
  GraphAddress graph;
  OracleSettings oracle;
  std::string match = {};

  KERF_FIELDS(graph, oracle, match)
};

/// The graph nearest to a minified one that passes, one edit away from it.
struct Neighbour {
  bool found = false;
  std::string reduction, description;  ///< the edit: "bypass_operand", and what that does
  GraphDocPtr graph;                   ///< null where none is known
  GraphDifference difference;          ///< from it to the graph that fails

  KERF_FIELDS(found, reduction, description, graph, difference)
};
/// Of a stored reduction ("m3") or its repro ("p4"). Only verdicts that the store has say which graphs pass; NotFound
/// for other graphs.
struct NeighbourRequest {
  using Answer = Neighbour;
  static constexpr std::string_view name = "neighbour";
  GraphAddress graph;

  KERF_FIELDS(graph)
};

struct StepDoc {
  std::string id;  ///< "m2@step:4"
  int index = 0, test = 0, nodes = 0, outputs = 0;
  std::int64_t inputBytes = 0;
  std::string reduction, fingerprint;

  KERF_FIELDS(id, index, test, nodes, outputs, inputBytes, reduction, fingerprint)
};
/// Accepted steps of a stored reduction, oldest first.
struct StepsRequest {
  using Answer = std::vector<StepDoc>;
  static constexpr std::string_view name = "steps";
  std::string reduction;  ///< "m2"

  KERF_FIELDS(reduction)
};

}  // namespace kerf::workbench
