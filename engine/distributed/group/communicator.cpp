#include "engine/distributed/group/communicator.h"

#include <algorithm>
#include <numeric>

namespace kerf::inline distributed::inline group {

int Group::indexOf(int rank) const {
  const auto found = std::ranges::find(ranks, rank);
  return found == ranks.end() ? -1 : int(found - ranks.begin());
}

Group worldGroup(int size) {
  Group group{"0", std::vector<int>(std::size_t(size))};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

}  // namespace kerf::inline distributed::inline group
