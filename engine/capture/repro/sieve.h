// The lines around a repro's graph, for export: what the auditor has on its lists, and the rest commented out.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

struct SievedLines {
  ReproEnvelope envelope;
  std::vector<std::string> leftOut;  ///< lines that say something and are commented out or gone, as they were
};

/// `className` is the class that lines behind the model may construct. Blocks (a line with those indented below it)
/// stay or go as a whole, a user's Triton kernels among them; a main part that is not understood is written anew.
SievedLines sieved(const ReproEnvelope& envelope, const std::string& className);

}  // namespace kerf::inline capture
