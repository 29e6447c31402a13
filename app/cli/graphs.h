// kerf graphs.
#pragma once

#include "app/cli/command_line.h"

namespace kerf::cli {

void addGraphs(CommandLine& line);

}  // namespace kerf::cli
