// CommandOracle: any program judges the candidate as a repro.py, with the exit codes that `git bisect run` knows.
#pragma once

#include <filesystem>

#include "engine/capture/common/capture.h"
#include "engine/process/candidate_limits.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline oracle {

struct CommandOracleOptions {
  /// Run by /bin/sh in the candidate's folder. "{}" stands for the path of repro.py; without it the path is appended.
  /// Names of files are meant from the folder in which the oracle was made.
  std::string command;
  /// Exit 0: good; 1 to 124, 126, 127: fails, as the code and the end of standard error say: "command:exit
  /// 1:ValueError: masked message@function" of a Python traceback, else "command:exit 1:masked last line",
  /// "command:exit 1" where nothing is printed; 125: cannot be tested; a signal: crash.
  std::chrono::milliseconds timeout{60'000};
  CandidateLimits limits;  ///< over memory, processes or output: the fingerprint is the limit's name
};

class CommandOracle : public Oracle {
 public:
  /// Candidates are written with `like`'s environment, configuration and runner around them.
  CommandOracle(CommandOracleOptions options, Capture like, std::size_t graphIndex);
  Result<Verdict> judge(const Candidate& candidate, std::stop_token stop) override;
  std::string identity() const override;
  std::string circumstances() const override;

 private:
  Result<void> writeRepro(const Candidate& candidate, const std::filesystem::path& folder) const;
  CommandOracleOptions m_options;
  Capture m_like;
  std::size_t m_graphIndex;
  std::filesystem::path m_folder;  ///< from which names in the command are meant
};

}  // namespace kerf::inline minifier::inline oracle
