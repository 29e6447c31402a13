// What passes did, a line each.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

enum class PassRows { All, Changed };
std::string passTable(const std::vector<PassDoc>& passes, PassRows rows);

}  // namespace kerf::cli
