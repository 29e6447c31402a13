// Reduction: one way of proposing smaller candidates. The search knows nothing else about it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "minifier/core/minify.h"
#include "minifier/core/recorded_values.h"

namespace kerf::inline minifier::inline core {

/// What a reduction may look at: the best candidate so far and, on demand, the value of every node in it.
struct ReductionInput {
  const Candidate& candidate;
  RecordedValues& values;
  const Graph& graph() const { return candidate.module.graph; }
};

/// Where to go on after an accepted edit: the same stage (granularity), about the same place.
struct ResumePoint {
  int stage = 0;
  std::size_t position = 0;
};

/// One proposal, built only when its turn comes, while the ReductionInput it was made from still lives. None: not
/// possible after all.
struct Edit {
  ResumePoint at;
  std::function<std::optional<Candidate>()> build;
};

struct Reduction {
  std::string name;         ///< "remove_suffix"
  std::string description;  ///< one sentence
  /// Proposals ordered by expected gain, from `resume` on. They may be wrong: the oracle judges them all, and the
  /// search drops those that are not smaller.
  std::function<std::vector<Edit>(const ReductionInput&, ResumePoint resume)> edits;
  bool searchesSets = false;  ///< no edits: the search over sets of calls (SetSearch)
};

}  // namespace kerf::inline minifier::inline core
