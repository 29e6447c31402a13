// Where kerf-studio is.
#pragma once

#include <filesystem>

#include "app/cli/child_process.h"

namespace kerf::cli {

/// kerf-studio beside kerf, else on PATH; empty if there is none.
std::filesystem::path studioProgram();

}  // namespace kerf::cli
