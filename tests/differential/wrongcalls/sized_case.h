// SizedCase: a graph of wrong views or calls, and sizes at which it runs: those that it is compiled for, and later ones.
#pragma once

#include <optional>

#include "tests/differential/fuzzgraph/dice.h"
#include "tests/differential/wrongcalls/call_case.h"
#include "tests/differential/wrongcalls/check_call.h"

namespace kerf::wrongcalls {

struct SizedCase {
  std::string text;  ///< the graph, for people
  GraphModule module;
  std::vector<ValueList> inputs;  ///< of each run; the first are those that it is compiled for
};

/// Views by numbers (as_strided and its like, slices, expanded and cut tensors) of inputs and of what is computed from them,
/// read or written to; now and then beyond their memory.
SizedCase drawViews(fuzzgraph::Dice& dice);
/// A valid call of the op with symbols for the sizes of its tensors, and runs at sizes that do not fit each other. None
/// where no valid call is found, or one without sizes.
std::optional<SizedCase> drawSizes(const OpInfo& op, fuzzgraph::Dice& dice);

/// Compiled once, run at all sizes: each must be as the interpreter is.
CheckResult checkSizes(const SizedCase& sized, const std::function<void(std::string_view step)>& onStep);

}  // namespace kerf::wrongcalls
