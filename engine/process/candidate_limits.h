// CandidateLimits: what one candidate may use up before it is ended, and what it gets to see of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/support/fields.h"

namespace kerf::inline process {

struct CandidateLimits {
  std::int64_t memoryBytes = 0;            ///< of all its processes together; 0: what usualMemoryLimit() says
  int processes = 512;                     ///< that live at the same time; threads do not count
  std::int64_t outputBytes = 256LL << 20;  ///< written to standard output and standard error
  std::int64_t fileBytes = 4LL << 30;      ///< of any one file that it writes
  bool cleanEnvironment = false;           ///< only variables of the allowlist and of `keptVariables`
  std::vector<std::string> keptVariables;  ///< names
  bool network = true;                     ///< false: not even the loopback of this machine is reached

  KERF_FIELDS(memoryBytes, processes, outputBytes, fileBytes, cleanEnvironment, keptVariables, network)
  bool operator==(const CandidateLimits&) const = default;
};

}  // namespace kerf::inline process
