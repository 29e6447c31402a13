// Changes in the stages of recorded compilations, one or two at once, and whether verifying names the stages.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::seededchanges {

struct SeededOptions {
  std::uint64_t seed = 1;
  int count = 20;      ///< changes that have an effect, of each compilation; 0: verify it as it was recorded
  bool two = false;    ///< in two stages at once
  bool nan = false;    ///< floating inputs have NaN and infinities at drawn places
  bool shout = false;  ///< print every change
};

struct SeededReport {
  int tried = 0;                    ///< changes that were drawn
  int effects = 0;                  ///< those that change what the stage gives, by themselves
  int seen = 0;                     ///< compilations that are called different
  int stagesNamed = 0;              ///< in which every changed stage is named
  int nodesNamed = 0;               ///< and every changed node
  std::vector<std::string> missed;  ///< what was not seen, or a stage that was not named
};

Result<SeededReport> runSeededChanges(const std::filesystem::path& log, const SeededOptions& options);

}  // namespace kerf::seededchanges
