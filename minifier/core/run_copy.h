// RunCopy: a candidate with memory of its own wherever a run writes, so that running it leaves no trace.
#pragma once

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

struct RunCopy {
  GraphModule module;
  ValueList inputs;
};

/// Errors: those of copying.
Result<RunCopy> runCopy(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline core
