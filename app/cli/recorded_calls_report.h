// Recorded ATen calls replayed through the op table, as `kerf conformance` shows it.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// Exit code 0 if every call agrees, 1 if one fails or its op is unsupported.
Result<int> replayRecordedCalls(Context& context, const std::string& path);

}  // namespace kerf::cli
