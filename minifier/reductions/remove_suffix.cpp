// remove_suffix: keeps the first half of the calls, else three quarters, seven eighths …
#include "minifier/reductions/remove_suffix.h"

#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const std::vector<NodeId> calls = callNodes(input.graph());
  for (std::size_t dropped = calls.size() / 2; dropped > 0; dropped /= 2) {
    const std::vector<NodeId> kept(calls.begin(), calls.end() - std::ptrdiff_t(dropped));
    list.push_back({{}, [&input, kept] { return keepOnly(input, kept); }});
  }
  return list;
}

}  // namespace

Reduction removeSuffix() { return {"remove_suffix", "Stops early and returns what is alive there.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
