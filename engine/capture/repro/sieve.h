// The lines around a repro's graph, for export: what the auditor has on its lists, and the rest commented out.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

struct SievedLines {
  ReproEnvelope envelope;
  std::string className;             ///< the model's: another where the lines above it give the name a meaning
  std::vector<std::string> leftOut;  ///< lines that say something and are commented out or gone, as they were
};

/// Blocks (a line with those indented below it) stay or go as a whole, a user's Triton kernels among them; a main part
/// that is not understood is written anew. Classes and functions go, those of nested graphs too: the writer prints them
/// from the graphs. Lines behind the model may construct the class of that name.
SievedLines sieved(const ReproEnvelope& envelope, const GraphModule& module);

}  // namespace kerf::inline capture
