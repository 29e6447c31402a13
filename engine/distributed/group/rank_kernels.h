// RankKernels: the collectives of recorded graphs (_c10d_functional.*, c10d.*, _dtensor.*) on a Communicator.
#pragma once

#include <map>

#include "engine/distributed/group/communicator.h"
#include "engine/ops/distributed/rank_link.h"

namespace kerf::inline distributed::inline group {

class RankKernels : public RankLink {
 public:
  /// `groups` by the names that graphs have for them; "0" is the world where it is not among them.
  explicit RankKernels(Communicator& ranks, std::vector<Group> groups = {});
  Result<Value> collective(const BoundArguments& args) override;

 private:
  Result<Group> groupOf(const BoundArguments& args) const;
  Communicator& m_ranks;
  std::map<std::string, Group, std::less<>> m_groups;
};

}  // namespace kerf::inline distributed::inline group
