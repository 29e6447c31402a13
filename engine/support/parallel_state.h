// Whether the calling code runs inside a parallelFor, where further threads would only be in each other's way.
#pragma once

namespace kerf::inline support {

bool insideParallelFor();

}  // namespace kerf::inline support
