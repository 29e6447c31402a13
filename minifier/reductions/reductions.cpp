// The table of reductions, and minify() over it.
#include "minifier/reductions/reductions.h"

#include "minifier/core/search.h"

namespace kerf::inline minifier::inline reductions {

std::vector<Reduction> allReductions() {
  return {
#define KERF_REDUCTION(name, function) function(),
#include "minifier/reductions/reductions.def"
#undef KERF_REDUCTION
  };
}

Result<MinifyResult> minify(Candidate start, Oracle& oracle, VerdictCache& cache, const MinifyOptions& options,
                            const MinifyObserver& observer, std::stop_token stop) {
  Search search(std::move(start), {oracle, cache, options, observer, std::move(stop)});
  return search.run(allReductions());
}

}  // namespace kerf::inline minifier::inline reductions
