#include "engine/capture/common/input_origin.h"

#include <algorithm>
#include <array>

namespace kerf::inline capture {
namespace {

constexpr std::array<std::string_view, 4> fillNames{"plausible", "random", "zeros", "ones"};
constexpr std::array<std::string_view, 4> sourceNames{"stored", "generated", "file", "number"};

}  // namespace

std::string_view inputFillName(InputFill fill) { return fillNames[std::size_t(fill)]; }

std::optional<InputFill> inputFillFromName(std::string_view name) {
  const auto found = std::ranges::find(fillNames, name);
  if (found == fillNames.end()) return {};
  return InputFill(found - fillNames.begin());
}

std::string_view sourceName(InputOrigin::Source source) { return sourceNames[std::size_t(source)]; }

}  // namespace kerf::inline capture
