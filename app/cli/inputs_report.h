// Where the inputs of a graph come from, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "app/cli/context.h"

namespace kerf::cli {

/// One line per input: name, value, source, why.
std::string inputsText(const std::vector<InputRow>& rows);
Json inputsJson(const std::vector<InputRow>& rows);

}  // namespace kerf::cli
