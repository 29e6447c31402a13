// makeOracle(): who decides whether a graph still fails: Kerf's engine, a command, or the user's PyTorch.
#pragma once

#include <chrono>
#include <memory>

#include "app/cli/compile_options.h"
#include "app/cli/graph_source.h"
#include "minifier/core/minify.h"

namespace kerf::cli {

struct OracleSettings {
  std::string oracle = "engine";              ///< engine, command, torch
  std::vector<std::string> plants;            ///< engine only
  PassArguments passes;                       ///< engine only
  double tolerance = 1e-3;                    ///< engine only
  std::string check;                          ///< command only: run with the candidate's repro.py as its last argument
  std::string python = "python3";             ///< torch only
  std::chrono::milliseconds timeout{10'000};  ///< for one candidate
};

/// BadUsage when settings do not fit the oracle. `like` gives header and input names to the files an oracle writes.
Result<std::unique_ptr<Oracle>> makeOracle(const OracleSettings& settings, const GraphSource& like);

}  // namespace kerf::cli
