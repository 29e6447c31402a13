// Shapes of a graph whose inputs were recorded.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline capture {

/// propagateShapes of a graph with recorded inputs. Inductor makes views reshapes before it looks at strides: those of
/// recorded inputs may be the ones that an earlier layout optimisation chose, where a view of the captured graph needs a
/// copy. Where a view does not fit, so does this.
Result<void> propagateRecorded(GraphModule& module, ShapeEnv& env);

/// CapturedGraph::annotateShapes, of recorded inputs as propagateRecorded.
Result<void> annotateRecorded(CapturedGraph& graph);

}  // namespace kerf::inline capture
