// PatternMatcherPass: patterns by the op of their result, tried in one walk from the graph's end to its begin, so that
// of two patterns where one is a part of the other the larger one is found first.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/patterns/mutation_regions.h"
#include "engine/patterns/pattern_match.h"
#include "engine/support/result.h"

namespace kerf::inline patterns {

/// A match on its way to be replaced.
struct MatchContext {
  GraphModule& module;
  NodeId anchor;  ///< the node that stands for the pattern's (first) result
  const MatchedPattern& match;
};

struct PatternEntry {
  std::string name;         ///< "sfdp_pattern_1_inference"
  std::string description;  ///< one line
  Pattern pattern;
  /// Why the match is not to be replaced; empty: it is. Called in order until one refuses.
  std::vector<std::function<std::string(const MatchContext&)>> checks;
  /// Edits the graph; the nodes that were made. Nothing else may be erased than nodes of the match.
  std::function<Result<std::vector<NodeId>>(const MatchContext&)> replace;
};

/// A match as it was when it was replaced: names, as the nodes are gone.
struct ReplacedMatch {
  std::string pattern;
  std::string result;                                          ///< node that the pattern was found at
  std::vector<std::string> nodes;                              ///< matched calls
  std::vector<std::pair<std::string, std::string>> arguments;  ///< keyword argument → node or number
  std::vector<std::string> replacements;                       ///< new nodes
};

/// What a walk cost.
struct WalkCount {
  std::size_t nodes = 0;  ///< nodes looked up in the index
  std::size_t tries = 0;  ///< patterns tried at a node
};

/// The place where a pattern came nearest to being replaced: most of its calls are there; of several the last one.
struct NearMiss {
  std::string pattern;
  std::string result;  ///< node that stood for the pattern's result; empty: the graph has no call of its op
  std::string node;    ///< where it failed
  std::string reason;
  std::size_t matched = 0, calls = 0;  ///< calls of the pattern that are there, and all that it has
};

class PatternMatcherPass {
 public:
  void add(PatternEntry entry);
  /// Whether an entry has an equal pattern.
  bool has(const PatternExpr& pattern) const { return m_texts.contains(patternText(pattern)); }
  const std::vector<PatternEntry>& entries() const { return m_entries; }
  /// Replaces every match whose checks agree; patterns at one node in the order in which they were added. The graph is
  /// in topological order afterwards. Errors are those of a replacement.
  Result<std::vector<ReplacedMatch>> apply(GraphModule& module, WalkCount* count = nullptr) const;
  /// The nearest miss of the pattern `name` over all places that are no match; none where every place matches. With
  /// `at`, of that node alone, if it calls the op of the pattern's result. NotFound, listing the names that are like it,
  /// for a name that no pattern has.
  Result<std::optional<NearMiss>> explain(const GraphModule& module, std::string_view name,
                                          std::string_view at = {}) const;

 private:
  class Walk;
  /// Empty: the match may be replaced.
  static std::string refusal(const PatternEntry& entry, const MatchContext& context, const MutationRegions& regions);

  std::vector<PatternEntry> m_entries;
  std::unordered_set<std::string> m_texts;
  std::unordered_map<OpId, std::vector<std::size_t>> m_byOp;  ///< indices into m_entries
};

}  // namespace kerf::inline patterns
