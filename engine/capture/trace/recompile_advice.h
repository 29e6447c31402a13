// What helps against a recompilation, by the kind of guard that failed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline capture::trace {

/// `subject` as RecompileCause has it, with the values before and after as far as they are told. Empty where nothing is
/// known to help.
std::string recompileAdvice(std::string_view subject, const std::vector<std::string>& before,
                            const std::vector<std::string>& after);

}  // namespace kerf::inline capture::trace
