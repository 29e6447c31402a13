// What a .pt2 says beside its graph, for a graph whose signature was printed: parameters and buffers as weights.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture::pt2 {

/// Gives the graph a program where it has a signature with parameters or buffers and none yet; their values are those of
/// its inputs. A graph without recorded inputs stays as it is.
Result<void> makeProgram(CapturedGraph& graph, std::int64_t schemaMinor);

}  // namespace kerf::inline capture::pt2
