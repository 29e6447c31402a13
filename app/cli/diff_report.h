// What `kerf diff` says: matched nodes as unified text, side by side, or JSON.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// How much of a difference is printed for people.
struct DiffDetail {
  bool all = false;      ///< every node, not the first ones of each kind
  bool unified = false;  ///< the graph texts too, however long they are
};

/// "3 nodes removed, 2 added, 1 rewritten, …".
std::string differenceCounts(const GraphDifference& difference);
/// same, nodes_before, nodes_after, paired, removed, added, rewritten, renamed, moved, changed, meta_changed, given,
/// calls, text.
Json differenceJson(const GraphDifference& difference);
/// Counts, then what happened to which nodes, then unified text. `a` and `b` name the graphs.
std::string differenceText(const GraphDifference& difference, const std::string& a, const std::string& b,
                           const DiffDetail& detail);
/// Two columns of `width` characters together; coloured where `colours`, so that it is for printTrusted(): what the
/// graphs hold is escaped. Equal nodes far from a difference are left out.
std::string sideBySide(const GraphDifference& difference, std::size_t width, bool colours);

/// Columns of the terminal on stdout, $COLUMNS, or 160.
std::size_t terminalWidth();

}  // namespace kerf::cli
