// What a frame has when it starts: its variables with their sources, and how sizes count in it.
#pragma once

#include <vector>

#include "engine/dynamo/convert_frame.h"
#include "engine/dynamo/frame_writer.h"
#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {

/// Its variables as tracing begins: arguments and cells, each with where it is from; empty where one is unbound.
std::vector<VariableTracker> firstVariables(FrameTracer& tracer, const FrameView& frame, const FrameShape& shape);
/// The frame's variables by place, for guards: free variables out of their cells.
FrameScope scopeOf(const FrameView& frame);
/// What torch._dynamo.config says of sizes where torch.compile was not told.
DynamicMode sizeMode(DynamicMode asked);

}  // namespace kerf::inline dynamo
