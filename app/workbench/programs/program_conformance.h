// Recorded programs run on Kerf's engine, and what differs from what PyTorch gave.
#pragma once

#include <filesystem>
#include <stop_token>

#include "app/workbench/protocol/runs.h"
#include "engine/support/result.h"

namespace kerf::workbench {

/// Whether a folder holds recorded programs or scripts: NAME.py beside NAME.json, there or in `programs` and `scripts`.
bool holdsPrograms(const std::filesystem::path& folder);

/// Runs each in the sandbox. Fields: `values` (programs: every call's result, mutated arguments, state and gradients),
/// `output` (scripts: what they print).
Result<ConformanceAnswer> replayPrograms(const std::filesystem::path& folder, std::stop_token stop);

}  // namespace kerf::workbench
