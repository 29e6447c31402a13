// Verification: the recorded stages of a compilation against each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "app/workbench/protocol/annotations.h"
#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/pass_choice.h"

namespace kerf::workbench {

/// A value that two stages give.
struct StageValueRow {
  std::string name;    ///< "out:0", "grad:3", "mutates:1", "saved:relu"
  std::string reason;  ///< empty when same
  bool same = true;
  double relativeError = 0;                ///< in fp64
  double error = 0;                        ///< largest, in the recorded dtypes
  double errorBefore = 0, errorAfter = 0;  ///< of either stage in the recorded dtypes against fp64, relative
  double ratio = 0;                        ///< error over what is accepted
  std::int64_t finite = 0;                 ///< elements that were compared

  KERF_FIELDS(name, same, reason, relativeError, error, errorBefore, errorAfter, ratio, finite)
};

/// Where the later stage begins to compute something else.
struct ChangedNodeDoc {
  std::string stage, node, call;
  std::string before, callBefore;   ///< its counterpart in the other stage; empty: there is none
  std::vector<std::string> others;  ///< more nodes where a value without counterpart begins

  KERF_FIELDS(stage, node, call, before, callBefore, others)
};

/// Recorded gradients against finite differences of the graph before them, along one direction.
struct GradientDoc {
  bool done = false, agrees = true;
  std::string why;  ///< not done: why
  double recorded = 0, differences = 0, relativeError = 0;
  std::int64_t inputs = 0;
  std::vector<std::string> suspects;

  KERF_FIELDS(done, agrees, why, recorded, differences, relativeError, inputs, suspects)
};

struct StagePairDoc {
  std::string before, after;
  std::string verdict;  ///< same, identical, different, not compared
  std::string why;
  std::vector<StageValueRow> values;  ///< worst first
  std::vector<std::string> missing;   ///< values of the earlier stage that the later one does not give
  std::int64_t nodes = 0, mapped = 0;
  std::vector<std::pair<std::string, std::string>> map;  ///< nodes of the later stage and their counterparts
  ChangedNodeDoc changed;                                ///< without a node: none was found
  bool haveGradients = false;
  GradientDoc gradients;
  std::chrono::nanoseconds time{};

  bool different() const { return verdict == "different"; }

  KERF_FIELDS(before, after, verdict, why, values, missing, nodes, mapped, map, changed, haveGradients, gradients, time)
};

/// Calls of an op in the graph that PyTorch's passes made, and in the one that Kerf's made.
struct OwnOpCountDoc {
  std::string op;  ///< "aten.mul.Tensor"
  int recorded = 0, own = 0;

  KERF_FIELDS(op, recorded, own)
};

/// PyTorch's passes of one stage, and Kerf's on the same graph.
struct OwnPassesDoc {
  std::string before, recorded, own;                              ///< names of the graphs
  std::int64_t nodesBefore = 0, nodesRecorded = 0, nodesOwn = 0;  ///< with inputs and output
  std::vector<OwnOpCountDoc> ops;                                 ///< that are called more or less often

  KERF_FIELDS(before, recorded, own, nodesBefore, nodesRecorded, nodesOwn, ops)
};

struct CompileVerification {
  std::string compile;  ///< compile id, folder or pass
  std::vector<StagePairDoc> pairs;
  std::string odd;  ///< the stage that differs from both neighbours, which agree
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, std::int64_t>> symbols;  ///< values that symbolic sizes had
  std::vector<OwnPassesDoc> ownPasses;                        ///< where they were asked for; each has a pair
  std::vector<AnnotationRow> annotations;                     ///< recorded values that the ops do not give

  KERF_FIELDS(compile, pairs, odd, symbols, ownPasses, notes, annotations)
};

struct Verification {
  std::vector<CompileVerification> compiles;
  std::chrono::nanoseconds time{};

  bool good() const {
    for (const auto& compile : compiles)
      for (const auto& pair : compile.pairs)
        if (pair.different()) return false;
    return true;
  }
  /// Whether two stages were held against each other at all.
  bool comparedAny() const {
    for (const auto& compile : compiles)
      for (const auto& pair : compile.pairs)
        if (pair.verdict != "not compared") return true;
    return false;
  }

  KERF_FIELDS(compiles, time)
};

/// Runs every recorded stage of a log, a debug folder or a folder of graph transforms and compares it with the stage
/// before it; with `against`, one graph with another. A crash or hang is RuntimeFailed, naming the stage.
struct VerifyRequest {
  using Answer = Verification;
  static constexpr std::string_view name = "verify";
  GraphAddress capture;     ///< the whole capture; with `against`, a graph
  GraphAddress against;     ///< no text: stages are compared
  std::string compile;      ///< "[0/0]" or "0/0"; empty: all
  std::string stage;        ///< only pairs with this stage; empty: all
  double tolerance = 1e-7;  ///< of the relative error in fp64
  bool recorded = true;     ///< also in the recorded dtypes
  bool exact = false;       ///< in the recorded dtypes, equality of bits
  bool gradients = true;
  std::chrono::milliseconds timeout{};  ///< of one compile id; 0: no limit
  bool ownPasses = false;               ///< Kerf's passes beside the recorded ones, instead of stages
  PassChoice passes;                    ///< with ownPasses

  KERF_FIELDS(capture, against, compile, stage, tolerance, recorded, exact, gradients, timeout, ownPasses, passes)
};

}  // namespace kerf::workbench
