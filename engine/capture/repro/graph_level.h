// Which of PyTorch's two runners a graph is for: the one after Dynamo, or the one after AOTAutograd.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Whether Dynamo made the graph and no later stage: by the stage that the capture names, else by what it calls
/// (modules, methods, functions of torch that are no ops).
bool isDynamoGraph(const CapturedGraph& graph);

}  // namespace kerf::inline capture
