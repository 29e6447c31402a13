// Near names: what a message suggests in place of a name that nothing has.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline support {

/// Letters to add, drop or change to make one word of the other.
std::size_t editDistance(std::string_view one, std::string_view other);

/// Of `names`, at most three, nearest first: those that at most a third of the letters of `word` tell apart from it,
/// and those that hold it, or that it holds, where the shorter one has at least four letters.
std::vector<std::string> nearNames(std::string_view word, std::span<const std::string> names);

}  // namespace kerf::inline support
