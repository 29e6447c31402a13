// bisectVersions(): between which two of several installed versions a graph begins to fail, or stops.
//
//     2.10 passes   2.11 passes   2.12 fails   2.13 fails      →      2.12, and 2.11 as the last before it
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/support/progress.h"
#include "engine/support/result.h"

namespace kerf::inline minifier::inline bisect {

/// What one version does with the graph.
struct VersionAnswer {
  std::string version;      ///< what it says of itself: "2.11.0"; empty: it did not come so far
  bool testable = true;     ///< else it counts neither as one that passes nor as one that fails
  std::string fingerprint;  ///< of the failure; empty: it passes
  std::string detail;       ///< one line for people
};
using VersionTrial = std::function<Result<VersionAnswer>(std::size_t version)>;

struct VersionChange {
  std::vector<std::pair<std::size_t, VersionAnswer>> trials;  ///< in the order in which they were made
  bool changes = false;                  ///< the first and the last that can be tested do not do the same
  std::size_t before = 0, after = 0;     ///< the last that does what the first does, the first that does not
  std::vector<std::size_t> notTestable;  ///< between those two
};

/// Binary search over `count` versions in their order, each tried at most once. Versions that cannot be tested are passed
/// over, as `git bisect skip` does. BadInput where fewer than two can be tested; Cancelled; errors of `trial`.
Result<VersionChange> bisectVersions(std::size_t count, const VersionTrial& trial, const WorkProgress& progress);

}  // namespace kerf::inline minifier::inline bisect
