// GroupLevels: how far groups stand above what they need, so that a path from one to another is looked for between them.
#pragma once

#include <span>
#include <vector>

#include "engine/lower/fusion.h"

namespace kerf::inline lower {

class GroupLevels {
 public:
  /// Call when a group was made, or has got dependencies.
  void update(std::span<const FusionGroup> groups, int changed);
  /// Whether one of `dependencies` other than g needs g itself: what has them and joins g would close a cycle.
  bool dependThroughOthers(std::span<const FusionGroup> groups, std::span<const int> dependencies, int g);
  /// Groups that all of these questions have looked at.
  std::size_t looked() const { return m_looked; }

 private:
  void raise(std::span<const FusionGroup> groups, int from);

  std::vector<int> m_level;               ///< above that of every dependency
  std::vector<std::vector<int>> m_users;  ///< groups that depend on it
  std::vector<std::size_t> m_known;       ///< how many of the dependencies have it among their users
  std::vector<int> m_seen;                ///< number of the search that came by
  int m_search = 0;
  std::size_t m_looked = 0;
};

}  // namespace kerf::inline lower
