// assignSourceLines: tells every node of a parsed forward method the file and line it was read from.
#pragma once

#include <string>

#include "engine/capture/common/source_text.h"

namespace kerf::inline capture {

/// Sets sourceFile and sourceLine of nodes that have none. A node that no line names (a nested call) gets the line of
/// the statement it is part of. `before` lines of the file come before `source`.
void assignSourceLines(const SourceText& source, LineRange forward, const std::string& file, Graph& graph,
                       int before = 0);

}  // namespace kerf::inline capture
