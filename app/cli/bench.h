// `kerf bench`: the project's own measurements with their targets.
#pragma once

#include "app/cli/command_line.h"

namespace kerf::cli {

void addBench(CommandLine& line);

}  // namespace kerf::cli
