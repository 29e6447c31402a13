// Where kerf-studio is.
#pragma once

#include <filesystem>

#include "engine/process/program.h"

namespace kerf::cli {

/// kerf-studio beside kerf, else on PATH; empty if there is none.
std::filesystem::path studioProgram();

}  // namespace kerf::cli
