// Annotations without quotes, as torch 1.14 and 2.0 printed them: "x: f32[3, 4]", "s0: Sym(s0)", "y: f32[]".
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline capture {

/// The line of Python with such annotations in quotes; any other line as it is.
std::string withQuotedAnnotations(std::string_view line);

}  // namespace kerf::inline capture
