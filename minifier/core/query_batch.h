// judgeBatch(): asks the oracle about several candidates at once; the first that fails as wanted wins, always.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

struct QueryOptions {
  int votes = 1;
  std::chrono::milliseconds timeout{10'000};  ///< of one query; the oracle's own limit should strike first
};

/// Whether a verdict is the failure that the search is after.
using IsWanted = std::function<bool(const Verdict&)>;

/// One entry per candidate, in order. Judged side by side; as soon as a candidate is wanted, those behind it are
/// stopped and have no verdict, so the outcome does not depend on who finished first. Errors: the oracle's, or
/// Cancelled.
Result<std::vector<std::optional<Verdict>>> judgeBatch(Oracle& oracle, const std::vector<const Candidate*>& candidates,
                                                       const IsWanted& wanted, const QueryOptions& options,
                                                       std::stop_token stop);

}  // namespace kerf::inline minifier::inline core
