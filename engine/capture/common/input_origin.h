// Where the values of an input come from: what stands in for data that a capture does not have, and why it is so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kerf::inline capture {

/// What stands in for missing data. Data that a capture has is always taken.
enum class InputFill {
  Plausible,  ///< what the input's uses ask for: indices within bounds, positive variances, weights by their fan-in
  Random,     ///< PyTorch's rule for missing storages: normal floats, zero integers
  Zeros,
  Ones,
};

/// "plausible", "random", "zeros", "ones".
std::string_view inputFillName(InputFill fill);
std::optional<InputFill> inputFillFromName(std::string_view name);

inline constexpr std::uint64_t defaultInputSeed = 0x6b657266;

/// Where one input comes from.
struct InputOrigin {
  enum class Source {
    Stored,     ///< the capture's own data
    Generated,  ///< made up
    Given,      ///< a file of the user
    Absent,     ///< no tensor: a symbolic number, None
  };
  std::string name;
  Source source = Source::Stored;
  std::string why;  ///< of a generated one: "positive (rsqrt at rsqrt_3)"
};

/// "stored", "generated", "file", "number".
std::string_view sourceName(InputOrigin::Source source);

}  // namespace kerf::inline capture
