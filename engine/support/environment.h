// environmentNumber: a variable of the environment that is a number.
#pragma once

#include <cstdint>
#include <optional>

namespace kerf::inline support {

/// Its value, from `least` to `most`; none where it is not set or empty. Anything else is none too, with a warning.
std::optional<std::int64_t> environmentNumber(const char* name, std::int64_t least, std::int64_t most);

}  // namespace kerf::inline support
