// Short texts out of long ones, as log messages need them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline capture::trace {

/// At most `bytes` of the text, whole characters, with "…" where something was cut.
std::string clippedText(std::string_view text, std::size_t bytes);
/// Without blanks and line ends at both ends.
std::string_view trimmedText(std::string_view text);
/// Up to the first line end.
std::string_view firstLineOf(std::string_view text);
/// The last line that is not blank.
std::string_view lastLineOf(std::string_view text);

/// What stands in the holes of a pattern: fits("len({}) == {}", "len(x) == 3") are "x" and "3". A hole ends where the
/// text behind it begins for the first time; the last one takes the rest. Nothing if the text has another form.
std::vector<std::string_view> fits(std::string_view pattern, std::string_view text);

/// "L['x'].size()[0]" as the user says it: "x.size()[0]".
std::string plainSource(std::string_view source);

}  // namespace kerf::inline capture::trace
