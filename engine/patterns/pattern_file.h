// The text of a file of the user's patterns (user_patterns.h), read: names and graphs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace kerf::inline patterns {

struct FilePattern {
  std::string name, description;
  int line = 0;  ///< of its "pattern NAME"
  Graph search, replace;
};

/// BadInput, with the line, for a text without patterns or with one that lacks a graph.
Result<std::vector<FilePattern>> parsePatternFile(std::string_view text);

}  // namespace kerf::inline patterns
