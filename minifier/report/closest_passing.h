// The graph nearest to the result that does not fail: what one edit makes the difference.
#pragma once

#include <optional>
#include <span>
#include <stop_token>

#include "minifier/core/minify.h"
#include "minifier/core/reduction.h"
#include "minifier/core/verdict_cache.h"

namespace kerf::inline minifier::inline report {

/// A candidate that passes, one edit away from one that fails.
struct PassingNeighbour {
  Candidate candidate;
  std::string reduction;    ///< "bypass_operand"
  std::string description;  ///< what that reduction does, one sentence
};

/// Who says which neighbours pass: verdicts that are known first, then a few tests.
struct NeighbourJudge {
  Oracle& oracle;
  VerdictCache& cache;
  JudgingRule rule = {};
  int tests = 8;  ///< that may be asked of the oracle
};

/// The inputs and the code of a candidate as lines: what neighbours are compared by, and what people are shown of them.
std::string candidateText(const Candidate& candidate);

/// Of all that one edit of `reductions` makes of `failing`, the one that passes and differs in the fewest lines of
/// candidateText; the first of several. None if none is known to pass. Errors: the oracle's.
Result<std::optional<PassingNeighbour>> closestPassing(const Candidate& failing, std::span<const Reduction> reductions,
                                                       const NeighbourJudge& judge, std::stop_token stop);

}  // namespace kerf::inline minifier::inline report
