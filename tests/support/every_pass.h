// Passes with everything on that keeps values: what is off by default, what is for other devices, and without the sizes
// below which it is not worth it.
#pragma once

#include "engine/passes/manager/pass_config.h"

namespace kerf::testing {

/// Patches of the options of `passes`, or of the one that is named.
inline std::vector<PassPatch> everythingOn(const std::vector<Pass>& passes, std::string_view only = {}) {
  const std::pair<std::string_view, PassOptionValue> values[] = {{"enabled", true},
                                                                 {"batches", true},
                                                                 {"unscaled", true},
                                                                 {"inputs", true},
                                                                 {"min_layers", std::int64_t{2}},
                                                                 {"devices", std::string("all")},
                                                                 {"min_elements", std::int64_t{1}},
                                                                 {"min_rows", std::int64_t{1}},
                                                                 {"min_intensity", 0.0}};
  std::vector<PassPatch> patches;
  for (const Pass& pass : passes) {
    if (!only.empty() && pass.name != only) continue;
    for (const PassOption& option : pass.options.all())
      for (const auto& [name, value] : values)
        if (option.name == name) patches.push_back({pass.name, option.name, value});
  }
  return patches;
}

}  // namespace kerf::testing
