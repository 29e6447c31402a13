// What comparisons keep between their runs.
#pragma once

#include <cstdint>

namespace kerf::inline accuracy {

/// Outputs of runs that are larger together are let go when they are compared, though a run that fails later must then
/// be repeated.
constexpr std::int64_t keptBelow = 64LL << 20;

/// What the compiler and a run took and no longer need would stay the process's, under what the next run takes. Does
/// nothing where less than keptBelow is in use.
void giveMemoryBack();

}  // namespace kerf::inline accuracy
