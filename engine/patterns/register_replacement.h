// registerReplacement: a pattern and its replacement as two functions (PyTorch's register_replacement).
//
// The search function is traced with example inputs once; sizes and numbers of that trace match anything. At a place
// that fits it is traced again with the shapes found there, and must fit exactly, before the replacement is traced and
// put in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/patterns/graph_pattern.h"
#include "engine/patterns/pattern_matcher_pass.h"
#include "engine/patterns/pattern_trace.h"

namespace kerf::inline patterns {

/// Why a match is not to be replaced; empty: it is.
using ExtraCheck = std::function<std::string(const MatchContext&)>;

struct ReplacementRule {
  std::string name;         ///< unique: "sfdp_pattern_1_inference"
  std::string description;  ///< one line
  PatternFunction search, replace;
  PatternInputs exampleInputs;  ///< tensors with requiresGrad get gradients in a joint trace
  PatternTrace trace = PatternTrace::FwdOnly;
  ExtraCheck extraCheck = {};  ///< asked once everything else fits
  /// Arguments that are numbers, each with a value that no trace has by itself; they follow the example inputs.
  ScalarWorkaround scalarWorkaround = {};
  std::vector<std::string> exclusiveArgNames = {};  ///< must be values of their own
  bool skipDuplicates = false;                      ///< a pattern that another rule has already is left out
  bool keepsOps = false;  ///< ops of the replacement stay whole, though Inductor's decompositions take them apart
};

/// The search function's trace with the example inputs.
Result<TracedPattern> traceSearch(const ReplacementRule& rule);
/// Adds the rule to `pass`; false for a duplicate that is skipped. `searchGraph`, if given, is the trace made before.
/// BadUsage for a duplicate that is not skipped.
Result<bool> registerReplacement(PatternMatcherPass& pass, ReplacementRule rule, const Graph* searchGraph = nullptr);
/// The same for several passes (pass_dicts), traced once; whether one of them has it now that had it not.
Result<bool> registerReplacement(std::span<PatternMatcherPass* const> passes, const ReplacementRule& rule);

}  // namespace kerf::inline patterns
