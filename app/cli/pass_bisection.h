// bisectPasses(): enables the compiler's passes one after the other until the compiled graph differs.
#pragma once

#include "minifier/oracle/engine_oracle.h"

namespace kerf::cli {

struct PassTrial {
  std::vector<std::string> enabled;  ///< passes that ran, in order
  bool same = true;
  std::string detail;  ///< what differed or failed
};

struct PassBisection {
  std::vector<PassTrial> trials;
  std::string culprit;  ///< the pass whose enabling made the difference; empty if none did
  std::string note;
};

/// Each trial compiles and compares in a process of its own; a crash or hang is a difference.
Result<PassBisection> bisectPasses(const Candidate& candidate, const EngineOracleOptions& options,
                                   std::stop_token stop);

}  // namespace kerf::cli
