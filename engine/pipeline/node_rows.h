// DivergenceRows: the rows of a comparison of nodes as they come, those of nested graphs among them.
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "engine/pipeline/node_divergence.h"

namespace kerf::inline pipeline {

/// What same() says of one value.
NodeDivergence rowOf(std::string name, std::string target, const SameReport& report);
/// One node's values compared by same().
NodeDivergence compareNode(std::string name, const Node& node, const Value& ref, const Value& res, const Value& fp64,
                           const SameOptions& options);

/// Each node once; of a node that comes again (a nested graph that runs several times) the worst row stays.
class DivergenceRows {
 public:
  DivergenceRows(const NodeDivergenceOptions& options, NodeDivergenceReport& report)
      : m_options(options), m_report(report) {}

  NodeProgress progress;  ///< of the outermost graph

  void add(NodeDivergence row);
  /// Says once for each nested graph why it was not compared inside.
  void note(const std::string& path, const std::string& why);
  void noteFp64(const std::string& why);

 private:
  const NodeDivergenceOptions& m_options;
  NodeDivergenceReport& m_report;
  std::unordered_map<std::string, std::size_t> m_places;
  std::set<std::string> m_noted;
};

}  // namespace kerf::inline pipeline
