// cut_outputs: halves, quarters … single outputs alone; then all but one.
#include "minifier/reductions/cut_outputs.h"

#include <algorithm>

#include "minifier/core/candidate.h"
#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline reductions {

namespace {

Edit keepOutputs(const ReductionInput& input, std::vector<NodeId> outputs) {
  return {{}, [&input, outputs = std::move(outputs)]() -> std::optional<Candidate> {
            CandidateEditor editor(input.candidate);
            editor.setOutputs(outputs);
            return editor.finish();
          }};
}

void addChunks(const ReductionInput& input, const std::vector<NodeId>& outputs, std::size_t width,
               std::vector<Edit>& list) {
  for (std::size_t begin = 0; begin < outputs.size(); begin += width) {
    const std::size_t end = std::min(begin + width, outputs.size());
    list.push_back(
        keepOutputs(input, {outputs.begin() + std::ptrdiff_t(begin), outputs.begin() + std::ptrdiff_t(end)}));
  }
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  const std::vector<NodeId> outputs = returnedNodes(input.graph());
  std::vector<Edit> list;
  std::size_t width = outputs.size();
  while (width > 1) {
    width = (width + 1) / 2;
    addChunks(input, outputs, width, list);
  }
  if (!outputs.empty() && writesMemory(input.candidate.module)) list.push_back(keepOutputs(input, {}));
  for (std::size_t i = 0; outputs.size() > 2 && i < outputs.size(); ++i) {
    std::vector<NodeId> others = outputs;
    others.erase(others.begin() + std::ptrdiff_t(i));
    list.push_back(keepOutputs(input, std::move(others)));
  }
  return list;
}

}  // namespace

Reduction cutOutputs() { return {"cut_outputs", "Returns fewer of the outputs.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
