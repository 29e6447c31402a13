// Names of passes: the one that a pass has now, of one that it had; and what a message says of a name that none has.
//
//     --disable-pass matmul_padding      →      pad_mm
//     --disable-pass pad_m               →      there is no pass 'pad_m'; did you mean pad_mm? The passes are …
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline passes {

/// The name now of a pass that an earlier version called `name`; else `name`.
std::string_view currentPassName(std::string_view name);
/// Of `passes`, those that somebody who writes `name` may mean: that which does it among other things, else near names.
std::vector<std::string> suggestedPasses(std::string_view name, std::span<const std::string> passes);
/// BadUsage, with suggestions and all names.
std::unexpected<Error> noSuchPass(std::string_view name, std::span<const std::string> passes);

}  // namespace kerf::inline passes
