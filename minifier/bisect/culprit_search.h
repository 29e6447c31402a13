// findCulprits(): which of several things that can be turned off make a difference, with the trials that prove it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/support/progress.h"
#include "engine/support/result.h"

namespace kerf::inline minifier::inline bisect {

/// One compilation with some of the parts on.
struct CulpritTrial {
  std::vector<std::string> enabled;  ///< parts that were on, in order
  bool same = true;
  std::string detail;  ///< what differed or failed
};

struct CulpritReport {
  bool different = false;             ///< with everything on
  std::vector<std::string> culprits;  ///< parts at which the difference begins
  std::string note;
  std::vector<CulpritTrial> trials;  ///< in the order in which they were made
  std::vector<std::string> remarks;  ///< what a culprit needs to show, and what hides it
};

/// What the compiled side does with these parts on and the others off, in the order of the parts: empty where it is the
/// same as the reference, else what differs or fails.
using PartTrial = std::function<Result<std::string>(const std::vector<bool>& on)>;

/// Binary search, as git bisect's, over how many parts are on: the culprit is the part whose turn makes the difference,
/// which both trials around it show. It is turned off and the search goes on until no difference is left, so that
/// several culprits are found. Of each it is tried whether it differs alone; where not, what it needs is cut down to a
/// set of which every part is needed. A part that hides the difference is named in the remarks.
/// `what` are the parts ("pass", "kernel"). Errors are those of `trial`.
Result<CulpritReport> findCulprits(const std::vector<std::string>& parts, std::string_view what, const PartTrial& trial,
                                   const WorkProgress& progress);

}  // namespace kerf::inline minifier::inline bisect
