// lineDiff(): two texts as a unified diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::workbench {

/// "" when equal; else lines that begin with ' ', '-' or '+', with "@@" headers and three lines of context.
std::string lineDiff(std::string_view before, std::string_view after);

}  // namespace kerf::workbench
