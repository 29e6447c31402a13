// PassConfig: what a caller changes about the passes of one compilation, and the passes that come of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/passes/manager/pass_table.h"

namespace kerf::inline passes {

/// One option of one pass, set for one compilation.
struct PassPatch {
  std::string pass, option;
  PassOptionValue value;
};

struct PassConfig {
  std::optional<std::vector<std::string>> only;  ///< exactly these, in this order; a name twice runs twice
  std::vector<std::string> disabled;
  std::vector<PassPatch> patches;
  std::vector<Pass> replacements;  ///< each runs instead of the pass of its name

  /// Stable text for cache keys and the store; empty for what everybody gets.
  std::string text() const;
};

/// Those of `passes` that `config` asks for, in the order in which they run, with their options. BadUsage, listing what
/// there is, for a name that no pass or option has, and for an order that goes back to an earlier stage.
Result<std::vector<Pass>> selectPasses(const PassConfig& config, std::vector<Pass> passes = defaultPasses());

/// Reads "constant_folding.max_bytes=65536" for one of `passes`. BadUsage as selectPasses().
Result<PassPatch> parsePassPatch(std::string_view text, std::vector<Pass> passes = defaultPasses());

}  // namespace kerf::inline passes
