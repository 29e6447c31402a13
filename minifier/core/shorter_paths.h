// ShorterPaths: shorter paths through the base graph between calls of a set.
#pragma once

#include <vector>

#include "minifier/core/call_units.h"

namespace kerf::inline minifier::inline core {

/// A set from which no call can be left out may still go the long way round: where a → b → c → d and a → e → d both
/// lead from a to d, leaving out e first makes b and c look needed. Only a look at the whole graph tells.
class ShorterPaths {
 public:
  ShorterPaths(const Graph& graph, const std::vector<CallUnit>& units);
  /// Sets with fewer units: a run of `set`'s units (in order; long runs first) replaced by the shortest path between the
  /// unit before and the unit behind it. Empty where all paths are shortest.
  std::vector<UnitSet> around(const UnitSet& set) const;

 private:
  /// Units strictly between `from` and `to` on a shortest path; none: no path, or it takes `limit` units or more.
  std::optional<UnitSet> between(std::size_t from, std::size_t to, std::size_t limit) const;
  std::vector<UnitSet> m_users;  ///< of each unit
};

}  // namespace kerf::inline minifier::inline core
