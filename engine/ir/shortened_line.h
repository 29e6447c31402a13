// Lines of a graph's text that somebody ended with "..." to keep them short. Private to engine/ir.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kerf::inline ir {

/// The line as far as it is told, with what is open closed: "…(args = (%x, 1, ..." as "…(args = (%x, 1,), kwargs = {})".
/// Nothing where the line does not end with "...".
std::optional<std::string> completedGraphLine(std::string_view line);
/// The same for a row of a table, which ends with the keyword arguments' "{}".
std::optional<std::string> completedRow(std::string_view line);
/// Whether the line holds "..." alone: lines are missing here.
bool isEllipsis(std::string_view line);

}  // namespace kerf::inline ir
