// storeCopies: copies into inputs that the kernel which computes the value does itself.
//
//   before: kernel: store add = …; extern: copy_(p, add)      after: kernel: store p = …
#pragma once

#include "engine/lower/fusion.h"

namespace kerf::inline lower {

/// Takes such calls of copy_ out of the plan and gives them to the groups that compute what they copy (`copies`), where
/// nothing between the two looks at the memory that is written or may fail, if need be after groups in between that do
/// not need the kernel. Their results lie in the inputs from then on.
Result<void> storeCopies(const ValueTable& values, BufferTable& buffers, FusionPlan& plan);

}  // namespace kerf::inline lower
