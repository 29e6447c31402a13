// What `kerf diff` says: matched nodes as unified text, side by side, or JSON.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// same, removed, added, renamed, moved, changed, meta_changed, text.
Json differenceJson(const GraphDifference& difference);
/// Unified text and a summary. `a` and `b` name the graphs.
std::string differenceText(const GraphDifference& difference, const std::string& a, const std::string& b);
/// Two columns of `width` characters together; coloured where `colours`, so that it is for printTrusted(): what the
/// graphs hold is escaped. Equal nodes far from a difference are left out.
std::string sideBySide(const GraphDifference& difference, std::size_t width, bool colours);

/// Columns of the terminal on stdout, $COLUMNS, or 160.
std::size_t terminalWidth();

}  // namespace kerf::cli
