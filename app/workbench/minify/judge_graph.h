// Verdicts on one graph as it is: of this process, of a fresh kerf, of plain PyTorch.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "app/workbench/captures/graph_source.h"
#include "engine/process/candidate_limits.h"
#include "engine/support/result.h"
#include "minifier/core/minify.h"

namespace kerf::workbench {

// One verdict on a graph as it is: in this process's oracle, or in a fresh kerf.

/// The oracle's verdict on a graph as it is opened from a file or the store.
Result<Verdict> judgeGraph(Oracle& oracle, GraphSource source, const Job& job);

/// What a fresh kerf says of the written repro under the same oracle.
Result<Verdict> recheckInFreshProcess(Workbench& bench, const OracleSettings& oracle,
                                      const std::filesystem::path& repro, const Job& job);

/// What `oracle` says of it, whose queries are processes that know nothing of the search: PyTorch's.
Result<Verdict> recheckWith(Workbench& bench, Oracle& oracle, const std::filesystem::path& repro, const Job& job);

// A written repro, run by the user's PyTorch.

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
