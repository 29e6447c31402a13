// cut_outputs: without halves, quarters, … single outputs; then without any.
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

/// Few outputs are dropped one by one: most are needed, or the search over sets would have left them out.
constexpr std::size_t fewOutputs = 8;

std::vector<Edit> editsThatCutOutputs(const ReductionInput& input, ResumePoint) {
  const std::vector<NodeId> outputs = returnedNodes(input.graph());
  std::vector<Edit> list;
  if (outputs.size() > 1) {
    for (std::size_t width = outputs.size() > fewOutputs ? (outputs.size() + 1) / 2 : 1; width > 0; width /= 2) {
      for (std::size_t begin = 0; begin < outputs.size(); begin += width) {
        std::vector<NodeId> others(outputs.begin(), outputs.begin() + std::ptrdiff_t(begin));
        others.insert(others.end(), outputs.begin() + std::ptrdiff_t(std::min(begin + width, outputs.size())),
                      outputs.end());
        list.push_back(keepOutputs(input, std::move(others)));
      }
    }
  }
  if (!outputs.empty() && writesMemory(input.candidate.module)) list.push_back(keepOutputs(input, {}));
  return list;
}

}  // namespace

Reduction cutOutputs() { return {"cut_outputs", "Returns fewer of the outputs.", editsThatCutOutputs}; }

}  // namespace kerf::inline minifier::inline reductions
