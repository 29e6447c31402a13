// kerf record.
#pragma once

#include "app/cli/command_line.h"

namespace kerf::cli {

void addRecord(CommandLine& line);

}  // namespace kerf::cli
