// patternOf: a traced graph as a pattern expression.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/patterns/pattern_expr.h"
#include "engine/support/result.h"

namespace kerf::inline patterns {

/// Numbers that stand for arguments in a trace: where one of them is seen, the argument is meant ("dropout_p",
/// 0.113377).
using ScalarWorkaround = std::vector<std::pair<std::string, double>>;

struct PatternReading {
  /// Numbers, lists of them, devices and dtypes match anything, as a trace's sizes are those of its examples. Else they
  /// must be equal.
  bool ignoresNumbers = false;
  ScalarWorkaround scalars = {};
  std::vector<std::string> exclusive = {};  ///< placeholders that must be values of their own
};

/// Placeholders become keyword arguments, several outputs a MultiOutput. A call must have as many users as in `graph`.
/// UnsupportedOp for a node that is no placeholder, call of a numbered function or output.
Result<Pattern> patternOf(const Graph& graph, const PatternReading& reading = {});

}  // namespace kerf::inline patterns
