// The interpreter of a program's process: started isolated, with a table of modules in place of a path.
#pragma once

#include "engine/python/program.h"
#include "engine/python/reference.h"

namespace kerf::inline python {

/// Starts CPython: no site, no user's paths, no environment variables, hashes of one seed; imports the standard modules
/// that programs may use, then takes the path away, so that only those, and the environment's, can be imported.
Result<void> startInterpreter(const ProgramEnvironment& environment);

/// What a program has printed, and the way there: events for the parent as lines are finished.
struct ProgramOutput {
  std::string text, errors;
  std::int64_t limit = 0;
  bool isCut = false;
};
ProgramOutput& programOutput();

/// Runs the text as __main__, then the driver. Nothing of this raises: the answer says how it ended.
Result<ProgramAnswer> executeProgram(const ProgramRequest& request, const EncodeAnswer& encode);

}  // namespace kerf::inline python
