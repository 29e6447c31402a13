// makeOracle(): who decides whether a graph still fails: Kerf's engine, a command, or the user's PyTorch.
#pragma once

#include <memory>

#include "app/workbench/captures/graph_source.h"
#include "minifier/core/minify.h"
#include "minifier/oracle/torch_oracle.h"
#include "minifier/oracle/warm_torch.h"

namespace kerf::workbench {

/// What an oracle needs to know of the run that it is for.
struct OracleRun {
  const Job& job;              ///< hears how long starting takes, and can stop it
  int jobs = 1;                ///< candidates judged at the same time
  WarmTorch* torch = nullptr;  ///< has PyTorch where the settings want it to stay warm
};

/// For requests that ask PyTorch more than a verdict. Errors: as makeOracle, and TorchOracle::start's.
Result<std::unique_ptr<TorchOracle>> startTorch(const OracleSettings& settings, const GraphSource& like,
                                                const OracleRun& run);

/// BadUsage when settings do not fit the oracle. `like` gives header and input names to the files an oracle writes.
Result<std::unique_ptr<Oracle>> makeOracle(const OracleSettings& settings, const GraphSource& like,
                                           const OracleRun& run);

/// After which an oracle that has not answered has lost its way. Each ends its candidates itself before that.
std::chrono::milliseconds longestAnswer(const OracleSettings& settings);

}  // namespace kerf::workbench
