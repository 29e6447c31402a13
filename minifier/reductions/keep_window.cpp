// keep_window: overlapping windows of a half, a quarter and an eighth of the calls.
#include "minifier/reductions/keep_window.h"

#include <algorithm>

#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

constexpr int levels = 3;

void addWindows(const ReductionInput& input, const std::vector<NodeId>& calls, std::size_t width,
                std::vector<Edit>& list) {
  const std::size_t step = std::max<std::size_t>(1, width / 2);
  for (std::size_t begin = 0; begin + width <= calls.size(); begin += step) {
    const std::vector<NodeId> window(calls.begin() + std::ptrdiff_t(begin),
                                     calls.begin() + std::ptrdiff_t(begin + width));
    list.push_back({{}, [&input, window] { return keepOnly(input, window); }});
  }
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  std::vector<Edit> list;
  const std::vector<NodeId> calls = callNodes(input.graph());
  std::size_t width = calls.size();
  for (int level = 0; level < levels && width > 1; ++level) {
    width = (width + 1) / 2;
    addWindows(input, calls, width, list);
  }
  return list;
}

}  // namespace

Reduction keepWindow() { return {"keep_window", "Keeps a run of calls alone, on recorded values.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
