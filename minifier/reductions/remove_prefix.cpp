// remove_prefix: keeps the last half of the calls, else three quarters, seven eighths …
#include "minifier/reductions/remove_prefix.h"

#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const std::vector<NodeId> calls = callNodes(input.graph());
  for (std::size_t dropped = calls.size() / 2; dropped > 0; dropped /= 2) {
    const std::vector<NodeId> kept(calls.begin() + std::ptrdiff_t(dropped), calls.end());
    list.push_back({{}, [&input, kept] { return keepOnly(input, kept); }});
  }
  return list;
}

}  // namespace

Reduction removePrefix() { return {"remove_prefix", "Starts late, on recorded values.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
