// simplify_all: each part is left out where the graph does not allow it.
#include "minifier/reductions/simplify_all.h"

#include <algorithm>
#include <functional>

#include "minifier/core/call_units.h"
#include "minifier/core/candidate.h"
#include "minifier/reductions/dim_classes.h"
#include "minifier/reductions/drop_dims.h"
#include "minifier/reductions/merge_inputs.h"
#include "minifier/reductions/shrink_dims.h"
#include "minifier/reductions/simplify_arguments.h"
#include "minifier/reductions/simplify_dtypes.h"
#include "minifier/reductions/simplify_values.h"

namespace kerf::inline minifier::inline reductions {

namespace {

using Part = std::function<std::optional<Candidate>(const Candidate&)>;

/// Each part after the others, where the graph allows it and it makes the candidate smaller; none if no part does.
std::optional<Candidate> simplified(const Candidate& candidate, const Part& sizes) {
  std::optional<Candidate> result;
  for (const Part& part :
       {sizes, Part(allUsualDtypes), Part(allZeros), Part(allArgumentsPlain), Part(allInputsMerged)}) {
    auto simpler = part ? part(result ? *result : candidate) : std::nullopt;
    if (simpler && measure(*simpler) < measure(result ? *result : candidate)) result = std::move(simpler);
  }
  return result;
}

std::optional<Candidate> withoutOnes(std::optional<Candidate> candidate) {
  auto dropped = candidate ? allDimsDropped(*candidate) : std::nullopt;
  return dropped ? std::move(dropped) : std::move(candidate);
}

/// The largest classes of dimensions: those that a failure may need as they are.
std::vector<DimClass> largestClasses(const Candidate& candidate) {
  constexpr std::size_t most = 3;
  std::vector<DimClass> classes = dimClasses(candidate);
  std::ranges::stable_sort(classes, std::greater{}, &DimClass::present);
  if (classes.size() > most) classes.resize(most);
  return classes;
}

/// All; all but the sizes of one class; all but the sizes.
std::vector<Edit> editsThatSimplifyAll(const ReductionInput& input, ResumePoint resume) {
  std::vector<Edit> list;
  const auto add = [&](Part sizes) {
    list.push_back({{list.size()}, [&input, sizes] { return simplified(input.candidate, sizes); }});
  };
  add([](const Candidate& candidate) {
    auto one = allDimsOne(candidate);
    return one ? withoutOnes(std::move(one)) : allDimsDropped(candidate);
  });
  for (DimClass& kept : largestClasses(input.candidate))
    add([kept = std::move(kept)](const Candidate& candidate) { return withoutOnes(otherDimsOne(candidate, kept)); });
  add(nullptr);
  list.erase(list.begin(), list.begin() + std::ptrdiff_t(std::min(resume.position, list.size())));
  return list;
}

std::vector<Edit> editsIfSmall(const ReductionInput& input, ResumePoint resume) {
  return callNodes(input.graph()).size() > fewCalls ? std::vector<Edit>{} : editsThatSimplifyAll(input, resume);
}

}  // namespace

Reduction simplifySmall() {
  return {"simplify_all", "Makes inputs and arguments as plain as they can be.", editsIfSmall, true};
}

Reduction simplifyAll() {
  return {"simplify_all", "Makes inputs and arguments as plain as they can be.", editsThatSimplifyAll, true};
}

}  // namespace kerf::inline minifier::inline reductions
