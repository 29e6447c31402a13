// checkExtent: whether a graph, written as a repro.py, stays within the limits that reading it back has.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Locals that stand for tuples of locals unfold, several statements share a line, and calls that the text abbreviates
/// are written out: the repro of a graph can be larger than the text it came from. TooLarge, naming the node or input,
/// when a line's bytes, the nesting of its brackets or of its expressions, or the file's bytes or lines would be beyond
/// what importRepro accepts. `envelope` is what stands around the graph; `graph` has its inputs.
Result<void> checkExtent(const CapturedGraph& graph, const ImportLimits& limits, const ReproEnvelope& envelope);

}  // namespace kerf::inline capture
