// remove_unused: first with, then without calls that may have effects.
#include "minifier/reductions/remove_unused.h"

#include "minifier/core/candidate_editor.h"

namespace kerf::inline minifier::inline reductions {

namespace {

std::vector<Edit> editsThatRemoveUnused(const ReductionInput& input, ResumePoint) {
  const auto all = [&input]() -> std::optional<Candidate> {
    return CandidateEditor(input.candidate).finish([](const Node&) { return false; });
  };
  const auto pure = [&input]() -> std::optional<Candidate> { return CandidateEditor(input.candidate).finish(); };
  return {{{}, all}, {{}, pure}};
}

}  // namespace

Reduction removeUnused() {
  return {"remove_unused", "Drops dead calls and inputs that nothing reads.", editsThatRemoveUnused};
}

}  // namespace kerf::inline minifier::inline reductions
