// A written repro, run by the user's PyTorch.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "engine/process/candidate_limits.h"
#include "engine/support/result.h"

namespace kerf::workbench {

struct TorchConfirmation {
  std::string version;  ///< "2.11.0+cpu"
  bool fails = false;
  std::string how;  ///< last line of its errors, or how it ended; empty if it ran through
  /// "PyTorch 2.11.0 fails: AccuracyError: Bad accuracy detected", "PyTorch 2.11.0 runs it without failure".
  std::string text() const;
};

/// Runs `PYTHON repro.py run` in the repro's folder, contained, with that PyTorch's caches in a folder of their own.
/// Environment when the program is not there or cannot import torch; Cancelled.
Result<TorchConfirmation> confirmWithTorch(const std::string& python, const std::filesystem::path& repro,
                                           const CandidateLimits& limits, std::stop_token stop);

}  // namespace kerf::workbench
