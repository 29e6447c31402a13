// Lines of TORCH_LOGS that tell of compiling and hold no graph.
#pragma once

#include <string_view>

namespace kerf::inline capture {

/// Whether the text has lines of graph breaks, recompilations or guards.
bool hasDynamoLines(std::string_view text);

}  // namespace kerf::inline capture
