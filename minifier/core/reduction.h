// Reduction: one way of proposing smaller candidates. The search knows nothing else about it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

/// What a reduction may look at: the best candidate so far. Edits that run it end when `stop` asks for it.
struct ReductionInput {
  const Candidate& candidate;
  std::stop_token stop = {};
  /// The reduction has been through before, and nothing was accepted since it was asked again: of a search among many
  /// values only the nearest need be asked once more.
  bool isSettled = false;
  const Graph& graph() const { return candidate.module.graph; }
};

/// Where to go on after an accepted edit: about the same place.
struct ResumePoint {
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
  /// search drops those that are not smaller. Null: no edits, but the search over sets of calls (SetSearch).
  std::function<std::vector<Edit>(const ReductionInput&, ResumePoint resume)> edits;
  /// Proposes what others would in many steps; once only, and no part of what is proven.
  bool isShortcut = false;
};

}  // namespace kerf::inline minifier::inline core
