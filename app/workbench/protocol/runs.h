// Runs: running a graph, comparing its two sides, and finding where a difference begins. Everything that executes does
// so in a process of its own.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/protocol/accuracy_choice.h"
#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/annotations.h"
#include "app/workbench/protocol/emulation.h"
#include "app/workbench/protocol/inputs.h"
#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/pass_choice.h"
#include "app/workbench/protocol/values.h"
#include "engine/accuracy/verdict.h"
#include "engine/process/candidate_limits.h"

namespace kerf::workbench {

/// A recorded output against the one that a run gave.
struct ExpectationRow {
  std::string name;
  std::string shape;  ///< "f32[2, 3]"
  double maxAbsError = 0;
  double relativeError = 0;     ///< max |a - b| / max |b|
  bool withinRounding = false;  ///< same only because the recorded values are rounding noise themselves
  bool same = false;
  std::string reason;  ///< empty when same

  KERF_FIELDS(name, shape, maxAbsError, relativeError, same, withinRounding, reason)
};

/// The same compiled graph on inputs of other sizes.
struct SizedRun {
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::vector<std::string> outputs;
  std::chrono::nanoseconds time{};

  KERF_FIELDS(symbols, outputs, time)
};

/// What one kernel of the compiled graph takes.
struct KernelTime {
  std::string name, kind;           ///< "cpp_fused_add_mul_0"; fused, extern, interpreted
  std::vector<std::string> nodes;   ///< that it computes
  std::chrono::nanoseconds time{};  ///< the fastest of several runs
  double bytes = 0, flops = 0;      ///< that it moves and computes
  double share = 0;                 ///< of what the machine's copy and product rates allow at best
  bool onHost = false;              ///< of a device's graph: it ran on the host, on what was downloaded for it

  KERF_FIELDS(name, kind, nodes, time, bytes, flops, share, onHost)
};

/// Bytes that the compiled graph's values take while one step runs, beside its inputs.
struct MemoryRow {
  std::string name;                ///< of the kernel
  std::vector<std::string> nodes;  ///< that it computes
  std::int64_t planned = 0;
  std::int64_t live = 0, peak = 0;  ///< measured after the step, and the most while it ran

  KERF_FIELDS(name, nodes, planned, live, peak)
};

struct KernelProfile {
  std::vector<KernelTime> kernels;               ///< slowest first
  std::chrono::nanoseconds time{};               ///< of the whole graph, the fastest of several runs
  double copyRate = 0, productRate = 0;          ///< bytes and floating-point operations a second, measured beside it
  std::int64_t plannedBytes = 0, peakBytes = 0;  ///< of intermediate values: planned, and in use at most
  std::chrono::nanoseconds deviceTime{};         ///< of a run on a device that holds everything already; 0: not known
  std::string deviceNote;                        ///< why it is not known
  std::vector<MemoryRow> memory;                 ///< in the order of the steps
  std::int64_t plannedPeak = 0;                  ///< the most of `memory`'s planned bytes

  KERF_FIELDS(kernels, time, copyRate, productRate, plannedBytes, peakBytes, deviceTime, deviceNote, memory,
              plannedPeak)
};

struct RunReport {
  std::string dtype;                 ///< that was run in the end; empty: as recorded
  std::chrono::nanoseconds time{};   ///< of compiling and running
  std::vector<std::string> outputs;  ///< "f32[4, 8]", "7", "None"
  std::vector<ExpectationRow> expected;
  double limit = 0;                                           ///< of the relative error
  bool same = true;                                           ///< nothing differs
  std::vector<std::pair<std::string, std::int64_t>> symbols;  ///< values that symbolic sizes had
  std::vector<SizedRun> then;                                 ///< as asked for, in order
  int compilations = 1;
  std::vector<std::string> recompilations;  ///< the guards that made it compile again
  std::vector<InputRow> inputs;
  std::vector<std::pair<std::string, std::string>> mutated;  ///< inputs and buffers written into: name and "f32[4, 8]"
  std::vector<std::pair<std::string, std::string>> trained;  ///< "loss" and "grad.<parameter>" of a training step

  std::optional<KernelProfile> profile;
  std::vector<AnnotationRow> annotations;  ///< recorded values that the ops do not give

  KERF_FIELDS(dtype, time, outputs, expected, limit, same, symbols, then, compilations, recompilations, inputs, mutated,
              trained, profile, annotations)
};

/// Runs a graph on its recorded inputs. A crash or hang is RuntimeFailed.
struct RunRequest {
  using Answer = RunReport;
  static constexpr std::string_view name = "run";
  GraphAddress graph;
  std::string backend = "interp";       ///< interp, llvm
  std::string dtype;                    ///< f64, f32, bf16, f16; empty: as recorded
  std::string precision = "native";     ///< native, fp64, upcast, exact
  std::string save, expect;             ///< safetensors files; empty: none
  double rtol = -1;                     ///< negative: by dtype
  PassChoice passes;                    ///< interp runs none of the usual ones
  std::chrono::milliseconds timeout{};  ///< 0: no limit
  std::vector<std::string> then;        ///< "s0=16,s1=4": sizes for one more run of the same compiled graph each
  std::string loss = {};  ///< of a training step (graph.stage is "joint"): mean, sum or an output; empty: mean

  bool profile = false;            ///< time the compiled graph's kernels
  bool memory = false;             ///< the same, for the bytes in use at every step
  std::string rounding = "eager";  ///< of 16-bit values in kernels: after every op, or "inductor": of what is stored
  std::int64_t memoryLimit = 0;    ///< bytes of tensors beside the inputs; 0: half of the machine's memory

  KERF_FIELDS(graph, backend, dtype, precision, save, expect, rtol, passes, timeout, then, loss, profile, memory,
              rounding, memoryLimit)
};

struct Comparison {
  bool same = false;
  bool haveFp64 = false;
  double tolerance = 1e-3;   ///< that was used: the user's, or what the repro sets
  std::string fp64Note;      ///< why there is no fp64 reference
  std::string failure;       ///< crash, hang or exception of the compiled side
  std::string backwardNote;  ///< what of PyTorch's backward pass was not compared
  std::vector<OutputVerdict> outputs;
  std::vector<NodeDivergence> nodes;  ///< worst first; empty unless asked for
  std::string nodesFailure, nodesNote;
  std::string nestedNote;  ///< nested graphs that were not compared inside, and why
  std::chrono::nanoseconds time{};
  std::string run;                                            ///< "r5" in the store; empty if it was not stored
  std::vector<std::pair<std::string, std::int64_t>> symbols;  ///< values that symbolic sizes had
  std::vector<InputRow> inputs;                               ///< and where each comes from

  FusionComparison fusion;                 ///< of --emulate; empty unless asked for
  std::vector<AnnotationRow> annotations;  ///< recorded values that the ops do not give
  std::vector<NodeFigures> values;         ///< of inputs and compared nodes; empty unless asked for

  bool good() const { return (same || fusion.explainsAll()) && failure.empty(); }
  /// Nodes where the fault starts, in graph order of their severity.
  std::vector<std::string> firstBad() const {
    std::vector<std::string> names;
    for (const auto& node : nodes)
      if (node.firstBad) names.push_back(node.node);
    return names;
  }

  KERF_FIELDS(same, haveFp64, fp64Note, failure, outputs, nodes, nodesFailure, nodesNote, time, run, symbols,
              nestedNote, inputs, fusion, backwardNote, tolerance, annotations, values)
};

/// PyTorch's same_two_models. A crash or hang of the compiled side is the answer's `failure`.
struct CompareRequest {
  enum class Depth { Outputs, Nodes };
  using Answer = Comparison;
  static constexpr std::string_view name = "compare";
  GraphAddress graph;
  std::string backend = "llvm";
  std::vector<std::string> plants;  ///< "relu=accuracy", "pass:cse=crash"
  PassChoice passes;
  double tolerance = 1e-3;
  AccuracyChoice accuracy;
  Depth depth = Depth::Outputs;
  std::chrono::milliseconds timeout{60'000};

  std::string emulate;  ///< "inductor", "kerf": also compare with the rounding of these fusion groups
  std::string results;  ///< with `emulate`: a .safetensors with the outputs to judge, in place of the compiled side's
  CandidateLimits limits;  ///< memory and file size
  bool values = false;     ///< with Depth::Nodes: also what each node's values are like on every side

  KERF_FIELDS(graph, backend, plants, passes, tolerance, depth, timeout, accuracy, emulate, results, limits, values)
};
constexpr CompareRequest::Depth lastOf(CompareRequest::Depth) { return CompareRequest::Depth::Nodes; }

struct BisectTrial {
  std::vector<std::string> enabled;  ///< parts that were on, in order
  bool same = true;
  std::string detail;  ///< what differed or failed

  KERF_FIELDS(enabled, same, detail)
};
struct Bisection {
  std::vector<std::string> culprits;  ///< parts or nodes at which the difference begins
  std::string note;
  bool different = false;            ///< with everything on
  std::vector<BisectTrial> trials;   ///< by parts, in the order in which they were made
  std::vector<std::string> remarks;  ///< what a culprit needs to show, and what hides it
  std::int64_t nodesCompared = 0;    ///< by node

  KERF_FIELDS(culprits, note, different, trials, remarks, nodesCompared)
};
struct BisectRequest {
  /// Passes, the parts of the compiler, the options that `passes` sets, fused kernels as such, kernels' code, the
  /// model's modules; or nodes. Version: installed versions of PyTorch.
  enum class By { Pass, Node, Subsystem, Config, Fusion, Kernel, Module, Version };
  using Answer = Bisection;
  static constexpr std::string_view name = "bisect";
  GraphAddress graph;
  By by = By::Node;
  std::vector<std::string> plants;
  PassChoice passes;
  double tolerance = 1e-3;
  AccuracyChoice accuracy;
  std::chrono::milliseconds timeout{60'000};  ///< of one comparison
  CandidateLimits limits;                     ///< memory and file size
  std::string oracle = "engine";          ///< or torch: by pass or subsystem with its CompilerBisector, or by config
  std::string python = "python3";         ///< torch only
  std::string torchCheck = "auto";        ///< torch only: as OracleSettings::torchCheck
  int warmJobs = 0;                       ///< torch only: as OracleSettings::warmJobs
  std::vector<std::string> options = {};  ///< torch, by config: "torch._inductor.config.x=True", beside the capture's
  std::string backend = "llvm";           ///< engine only: of the compiled side
  std::string decompositions = "none";    ///< engine, by subsystem: "none", "core" or "inductor"
  /// By version: programs that have PyTorch, each with arguments perhaps, in the order of their versions.
  std::vector<std::string> versions = {};

  KERF_FIELDS(graph, by, plants, passes, tolerance, timeout, accuracy, limits, oracle, python, torchCheck, options,
              warmJobs, backend, decompositions, versions)
};
constexpr BisectRequest::By lastOf(BisectRequest::By) { return BisectRequest::By::Version; }

/// Recorded answers of PyTorch, replayed.
struct SameMismatch {
  std::string id, reason;
  bool expected = false, got = false;

  KERF_FIELDS(id, expected, got, reason)
};
struct OverloadRow {
  std::string op;
  std::int64_t passed = 0, failed = 0, unsupported = 0;
  std::vector<std::string> failures;
  bool complete() const { return failed == 0 && unsupported == 0; }

  KERF_FIELDS(op, passed, failed, unsupported, failures)
};
/// One overload of a replay of recorded calls that checks gradients.
struct GradientRow {
  std::string op, family;
  std::int64_t checked = 0, constant = 0, failed = 0, missing = 0, skipped = 0, complexChecked = 0;
  double gradientError = 0, jvpError = 0, dualError = 0;
  std::vector<std::string> failures;

  KERF_FIELDS(op, family, checked, complexChecked, constant, failed, missing, skipped, gradientError, jvpError,
              dualError, failures)
};
/// How many calls there are of one kind.
struct CallTally {
  std::string what;
  std::int64_t calls = 0;

  KERF_FIELDS(what, calls)
};
struct RanksFieldRow {
  std::string field;  ///< "values", "gradients", "placements", "local_shapes", "collectives", "refusals"
  std::int64_t asked = 0, equal = 0;

  KERF_FIELDS(field, asked, equal)
};
struct RanksDifferenceRow {
  std::string id, field, difference;

  KERF_FIELDS(id, field, difference)
};
struct ConformanceAnswer {
  enum class Kind { Same, Calls, Gradients, Ranks, Programs };
  Kind kind = Kind::Same;
  std::int64_t cases = 0, agreed = 0;
  std::vector<SameMismatch> mismatches;  ///< of same() cases
  std::int64_t failed = 0, unsupported = 0, completeOverloads = 0;
  std::vector<OverloadRow> overloads;  ///< of recorded calls
  std::vector<GradientRow> gradients;  ///< of recorded calls, sorted by family
  std::vector<CallTally> skipped;      ///< calls whose gradients were not checked, by reason
  std::vector<CallTally> missing;      ///< calls that need a rule that is not there, by op
  std::vector<RanksFieldRow> fields;   ///< of recordings of several ranks, and of programs
  std::vector<RanksDifferenceRow> differences;
  std::chrono::nanoseconds time{};

  KERF_FIELDS(kind, cases, agreed, mismatches, failed, unsupported, completeOverloads, overloads, gradients, skipped,
              missing, fields, differences, time)
};
constexpr ConformanceAnswer::Kind lastOf(ConformanceAnswer::Kind) { return ConformanceAnswer::Kind::Programs; }
struct ConformanceRequest {
  using Answer = ConformanceAnswer;
  static constexpr std::string_view name = "conformance";
  std::string path;
  bool gradients = false;  ///< of recorded calls: their derivatives against differences

  KERF_FIELDS(path, gradients)
};

}  // namespace kerf::workbench
