// The table of reductions, and minify() over them.
#pragma once

#include <vector>

#include "minifier/core/minify.h"
#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

#define KERF_REDUCTION(name, function) Reduction function();
#include "minifier/reductions/reductions.def"
#undef KERF_REDUCTION

/// All of them, in the order of reductions.def.
std::vector<Reduction> allReductions();

/// Cuts a failing captured graph down to a 1-minimal one that fails in the same way.
/// BadUsage if the start graph does not fail. On cancel returns what was reached, with `cancelled` set.
Result<MinifyResult> minify(Candidate start, Oracle& oracle, VerdictCache& cache, const MinifyOptions& options,
                            const MinifyObserver& observer, std::stop_token stop);

}  // namespace kerf::inline minifier::inline reductions
