// Names of sympy's functions as PyTorch's printer of symbolic sizes writes them.
#pragma once

#include <string_view>

namespace kerf::inline ir {

/// "Max", "FloorDiv": functions that may stand in a symbolic size.
bool isSympyFunction(std::string_view name);

}  // namespace kerf::inline ir
