// Recorded programs run on Kerf's engine, and what differs from what PyTorch gave.
#pragma once

#include <filesystem>

#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/runs.h"
#include "engine/support/result.h"

namespace kerf::workbench {

/// Whether a folder holds recorded programs or scripts: NAME.py beside NAME.json, there or in `programs` and `scripts`;
/// or whether a file is one.
bool holdsPrograms(const std::filesystem::path& path);

/// A folder, or one NAME.py. Runs each in the sandbox, eager and compiled. Fields: `values` (programs: every call's result,
/// mutated arguments, state and gradients, of both runs), those of recorded_log.h, and `output` (scripts: what they print).
Result<ConformanceAnswer> replayPrograms(const std::filesystem::path& folder, const Job& job);

}  // namespace kerf::workbench
