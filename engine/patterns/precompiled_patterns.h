// Precompiled patterns: the traces of search functions in a file of the repository (resources/patterns), so that
// nothing is traced when a program starts. `kerf patterns --regenerate` writes the file; a test says when it is stale.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/patterns/register_replacement.h"

namespace kerf::inline patterns {

/// Traces by the name of their rule.
class PrecompiledPatterns {
 public:
  const Graph* find(std::string_view name) const;
  std::size_t size() const { return m_graphs.size(); }

 private:
  friend Result<PrecompiledPatterns> parsePrecompiled(std::string_view);
  std::unordered_map<std::string, Graph> m_graphs;
};

/// BadInput with the line for a text that is none.
Result<PrecompiledPatterns> parsePrecompiled(std::string_view text);
/// The file's text: one "pattern NAME" line and graph text per rule, without the rules whose pattern another one has.
Result<std::string> precompile(const std::vector<ReplacementRule>& rules);
/// resources/patterns/attention.graphs as it was when the program was built.
std::string_view precompiledAttention();

}  // namespace kerf::inline patterns
