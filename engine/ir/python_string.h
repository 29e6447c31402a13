// Decoding of Python string literals and the check that a text can be Python at all. Private to engine/ir.
#pragma once

#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline ir {

/// Appends the value of one literal as written, prefix and quotes included. BadInput for f-strings and bad escapes.
Result<void> appendPythonString(std::string& out, std::string_view literal, int line);

}  // namespace kerf::inline ir
