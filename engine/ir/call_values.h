// What the arguments of a call are, in the form in which ops take them.
#pragma once

#include <functional>

#include "engine/ir/interpreter.h"

namespace kerf::inline ir {

struct CallValues {
  ValueList args;
  KeywordValues kwargs;
};

/// Nodes are what `lookup` says. BadInput for an argument that no op takes.
Result<CallValues> callValues(const Node& node, const std::function<const Value&(NodeId)>& lookup);

/// x[[1, 2]] and x[[]]: a list of numbers, which no tuple holds, is one index, and becomes the only item of the index tuple.
/// As values lists and tuples are the same, and PyTorch takes a list of lists for a tuple of them.
void keepListIndex(const Node& node, ValueList& args);

}  // namespace kerf::inline ir
