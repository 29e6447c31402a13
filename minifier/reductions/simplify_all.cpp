// simplify_all: each part is left out where the graph does not allow it.
#include "minifier/reductions/simplify_all.h"

#include <algorithm>
#include <functional>

#include "minifier/core/call_units.h"
#include "minifier/core/candidate.h"
#include "minifier/reductions/dim_classes.h"
#include "minifier/reductions/drop_dims.h"

namespace kerf::inline minifier::inline reductions {

namespace {

using Part = std::function<std::optional<Candidate>(const Candidate&)>;

/// Each part after the others, where the graph allows it and it makes the candidate smaller, again as long as one of
/// them does; none if no part does.
std::optional<Candidate> simplified(const Candidate& candidate, const std::vector<Part>& parts) {
  constexpr int mostTurns = 4;  // merged inputs have dimensions in common, of which some go, and so on
  std::optional<Candidate> result;
  bool changed = true;
  for (int turn = 0; changed && turn < mostTurns; ++turn) {
    changed = false;
    for (const Part& part : parts) {
      auto simpler = part(result ? *result : candidate);
      if (!simpler || !(measure(*simpler) < measure(result ? *result : candidate))) continue;
      result = std::move(simpler);
      changed = true;
    }
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

std::optional<Candidate> allSizesLeast(const Candidate& candidate) {
  auto one = allDimsOne(candidate);
  return one ? withoutOnes(std::move(one)) : allDimsDropped(candidate);
}

Part sizesBut(DimClass kept) {
  return [kept = std::move(kept)](const Candidate& candidate) { return withoutOnes(otherDimsOne(candidate, kept)); };
}

/// What is made plain in one edit.
struct Parts {
  Part sizes;  ///< null: stay
  bool ops = false;
};

/// All; all but the sizes of one class; all but the sizes. With ops the first two of these come before: either is all
/// that matters, more often than both.
std::vector<Parts> partsOf(const Candidate& candidate, bool ops) {
  std::vector<Parts> list;
  const std::vector<DimClass> classes = largestClasses(candidate);
  if (ops) list.push_back({allSizesLeast, true});
  if (ops && !classes.empty()) list.push_back({sizesBut(classes.front()), true});
  list.push_back({allSizesLeast});
  for (const DimClass& kept : classes) list.push_back({sizesBut(kept)});
  list.push_back({nullptr});
  return list;
}

std::vector<Edit> editsOf(const ReductionInput& input, ResumePoint resume, bool ops) {
  std::vector<Edit> list;
  for (const Parts& parts : partsOf(input.candidate, ops)) {
    std::vector<Part> all{allUsualDtypes, allZeros, allArgumentsPlain, allInputsMerged};
    if (parts.sizes) all.insert(all.begin(), parts.sizes);
    if (parts.ops) all.insert(all.begin(), allOpsPlain);
    list.push_back({{list.size()}, [&input, all = std::move(all)] { return simplified(input.candidate, all); }});
  }
  list.erase(list.begin(), list.begin() + std::ptrdiff_t(std::min(resume.position, list.size())));
  return list;
}

std::vector<Edit> editsThatSimplifyAll(const ReductionInput& input, ResumePoint resume) {
  return editsOf(input, resume, false);
}

std::vector<Edit> editsIfSmall(const ReductionInput& input, ResumePoint resume) {
  return callNodes(input.graph()).size() > fewCalls ? std::vector<Edit>{} : editsOf(input, resume, true);
}

}  // namespace

Reduction simplifySmall() {
  return {"simplify_all", "Makes inputs, arguments and ops as plain as they can be.", editsIfSmall, true};
}

Reduction simplifyAll() {
  return {"simplify_all", "Makes inputs and arguments as plain as they can be.", editsThatSimplifyAll, true};
}

}  // namespace kerf::inline minifier::inline reductions
