// singleRemovals(): the edits of other reductions that take away one node, as one list.
#include <iterator>

#include "minifier/core/subgraph.h"
#include "minifier/reductions/reductions.h"

namespace kerf::inline minifier::inline reductions {

namespace {

void append(std::vector<Edit>& list, std::vector<Edit> more) { std::ranges::move(more, std::back_inserter(list)); }

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  for (NodeId call : callNodes(input.graph()))
    list.push_back({{}, [&input, call] { return removeNodes(input, {call}); }});
  append(list, bypassOperand().edits(input, {}));
  append(list, cutOutputs().edits(input, {}));
  append(list, mergeInputs().edits(input, {}));
  append(list, removeUnused().edits(input, {}));
  return list;
}

}  // namespace

Reduction singleRemovals() { return {"single_removals", "Takes away a single node.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
