// What a user should know of a graph of which only a part could be read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/parser.h"

namespace kerf::inline capture {

/// "forward: cut at line 17: mul, add, which nothing uses, are its outputs"; names that became inputs; statements left
/// out, with their lines.
std::vector<std::string> partialNotes(const std::string& graph, const PartialReading& partial);

}  // namespace kerf::inline capture
