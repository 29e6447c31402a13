// The request about patterns in a graph: which match, and why another one does not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/workbench/protocol/address.h"
#include "engine/process/codec.h"

namespace kerf::workbench {

struct PatternMatchDoc {
  std::string pattern, result;     ///< the pattern's name, and the node that it was found at
  std::vector<std::string> nodes;  ///< matched calls
  std::vector<std::pair<std::string, std::string>> arguments;  ///< "query" → a node or number
  std::vector<std::string> replacements;                       ///< nodes that take their place

  KERF_FIELDS(pattern, result, nodes, arguments, replacements)
};
/// The place where a pattern came nearest.
struct NearMissDoc {
  std::string pattern, result, node, reason;
  std::int64_t matched = 0, calls = 0;  ///< calls of the pattern that fitted before, and all that it has

  KERF_FIELDS(pattern, result, node, reason, matched, calls)
};
struct PatternsReport {
  std::vector<PatternMatchDoc> matches;  ///< in the order in which they are replaced, from the graph's end
  std::vector<NearMissDoc> misses;       ///< of the pattern that was asked for; none where every place matches
  std::vector<std::pair<std::string, std::string>> patterns;  ///< all names with their descriptions; without a graph
  std::string generated;                                      ///< the file of precompiled patterns; regenerated

  KERF_FIELDS(matches, misses, patterns, generated)
};
/// Matches of the shipped patterns or of the user's, as they would be replaced. Without a graph: the patterns.
struct PatternsRequest {
  using Answer = PatternsReport;
  static constexpr std::string_view name = "patterns";
  GraphAddress graph;
  std::string why;          ///< name of a pattern whose nearest miss is told; empty: none
  std::string file;         ///< of patterns that are matched instead of the shipped ones; empty: none
  bool regenerate = false;  ///< trace all patterns again

  KERF_FIELDS(graph, why, file, regenerate)
};

}  // namespace kerf::workbench
