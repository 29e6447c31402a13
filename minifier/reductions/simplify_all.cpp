// simplify_all: each part is left out where the graph does not allow it.
#include "minifier/reductions/simplify_all.h"

#include <span>

#include "minifier/core/candidate.h"
#include "minifier/reductions/drop_dims.h"
#include "minifier/reductions/merge_inputs.h"
#include "minifier/reductions/shrink_dims.h"
#include "minifier/reductions/simplify_arguments.h"
#include "minifier/reductions/simplify_dtypes.h"
#include "minifier/reductions/simplify_values.h"

namespace kerf::inline minifier::inline reductions {

namespace {

using Part = std::optional<Candidate> (*)(const Candidate&);
constexpr Part all[] = {allDimsOne, allDimsDropped, allUsualDtypes, allZeros, allArgumentsPlain, allInputsMerged};
constexpr Part butSizes[] = {allUsualDtypes, allZeros, allArgumentsPlain, allInputsMerged};

std::optional<Candidate> simplified(const Candidate& candidate, std::span<const Part> parts) {
  std::optional<Candidate> result;
  for (const Part part : parts)
    if (auto simpler = part(result ? *result : candidate)) {
      const CandidateSize before = measure(result ? *result : candidate);
      if (measure(*simpler) < before) result = std::move(simpler);
    }
  return result;
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint) {
  return {{{}, [&input] { return simplified(input.candidate, all); }},
          {{}, [&input] { return simplified(input.candidate, butSizes); }}};
}

}  // namespace

Reduction simplifyAll() { return {"simplify_all", "Makes inputs and arguments as plain as they can be.", edits}; }

}  // namespace kerf::inline minifier::inline reductions
