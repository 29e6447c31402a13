// delta_nodes: chunks of a half, a quarter … one call, from the end to the start; goes on where it last succeeded.
#include "minifier/reductions/delta_nodes.h"

#include <algorithm>

#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

/// The chunks of one size from `first` (counted from the end) round to the one before it.
void addChunks(const ReductionInput& input, const std::vector<NodeId>& calls, ResumePoint first, std::size_t width,
               std::vector<Edit>& list) {
  const std::size_t chunks = (calls.size() + width - 1) / width;
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t chunk = (first.position / width + i) % chunks;
    const std::size_t end = calls.size() - chunk * width;
    const std::size_t begin = end > width ? end - width : 0;
    const std::vector<NodeId> removed(calls.begin() + std::ptrdiff_t(begin), calls.begin() + std::ptrdiff_t(end));
    list.push_back({{first.stage, chunk * width}, [&input, removed] { return removeNodes(input, removed); }});
  }
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint resume) {
  std::vector<Edit> list;
  const std::vector<NodeId> calls = callNodes(input.graph());
  if (calls.empty()) return list;
  for (int stage = std::max(resume.stage, 1);; ++stage) {
    const std::size_t width = std::max<std::size_t>(1, calls.size() >> std::min(stage, 62));
    addChunks(input, calls, {stage, stage == resume.stage ? resume.position : 0}, width, list);
    if (width == 1) return list;
  }
}

}  // namespace

Reduction deltaNodes() { return {"delta_nodes", "Drops chunks of calls; those still needed become inputs.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
