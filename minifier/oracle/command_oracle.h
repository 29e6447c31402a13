// CommandOracle: any program judges the candidate as a repro.py, with the exit codes that `git bisect run` knows.
#pragma once

#include <filesystem>

#include "engine/capture/common/capture.h"
#include "engine/process/candidate_limits.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline oracle {

struct CommandOracleOptions {
  /// Run by /bin/sh in the candidate's folder. "{}" stands for the path of repro.py; without it the path is appended.
  std::string command;
  /// Exit 0: good; 1 to 124, 126, 127: fails, the code is the fingerprint; 125: cannot be tested; a signal: crash.
  std::chrono::milliseconds timeout{60'000};
  std::string accuracy;  ///< what the repro's run_repro gets as accuracy=, as Python text; empty keeps the capture's
  /// A Python traceback on standard error means that the candidate cannot be tested (torchOracle).
  bool tracebackIsUntestable = false;
  CandidateLimits limits;  ///< over memory, processes or output: the fingerprint is the limit's name
};

class CommandOracle : public Oracle {
 public:
  /// Candidates are written with `like`'s environment, configuration and runner around them.
  CommandOracle(CommandOracleOptions options, Capture like, std::size_t graphIndex);
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override;
  std::string identity() const override;

 private:
  Result<void> writeRepro(const Candidate& candidate, const std::filesystem::path& folder) const;
  CommandOracleOptions m_options;
  Capture m_like;
  std::size_t m_graphIndex;
};

/// Stock PyTorch's own judgement: `PYTHON repro.py minifier-query`, which exits 1 if the compiled graph fails (with
/// `accuracy`: if it differs from eager) and 0 if not. An exception of the script itself cannot be tested.
CommandOracleOptions torchOracle(const std::string& python, bool accuracy);

}  // namespace kerf::inline minifier::inline oracle
