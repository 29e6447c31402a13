// OwnRank: this process as a rank of its world, with the process groups that the program has made.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/distributed/group/rank_kernels.h"
#include "engine/distributed/processes/shared_world.h"

namespace kerf::inline torch_distributed {

class OwnRank {
 public:
  OwnRank(std::shared_ptr<SharedWorld> world, int rank);
  /// Of no world: a rank of its own.
  explicit OwnRank(std::unique_ptr<SharedRank> link);

  SharedRank& link() { return *m_link; }
  /// NotFound where the program has made no group of that name. "0" is the world.
  Result<Group> group(const std::string& name) const;
  /// BadInput for ranks that the world does not have, or has twice.
  Result<void> addGroup(const std::string& name, std::vector<int> ranks);
  void dropGroup(const std::string& name);
  /// The collectives of graphs and of torch.ops are no longer its own.
  void stepBack() { m_scope.reset(); }

 private:
  std::shared_ptr<SharedWorld> m_world;
  std::unique_ptr<SharedRank> m_link;
  RankKernels m_kernels;
  std::optional<RankLink::Scope> m_scope;  ///< the collectives of graphs and of torch.ops go through m_kernels
  std::map<std::string, Group, std::less<>> m_groups;
};

/// This process's rank; of a process that is none: the only rank of a world, made when it is first asked for. Environment
/// where there is no memory for that.
Result<OwnRank*> ownRank();
/// Makes this process that rank. Once, before anybody asks.
void becomeRank(std::shared_ptr<SharedWorld> world, int rank);
/// From now on this process is a rank of a fake world (fake_rank.h), until stopPretending().
Result<void> pretendRank(int rank, int worldSize);
/// The rank that it was before. Meshes and tensors of the fake world stay what they are.
void stopPretending();
/// What the rank has sent goes out; then it is none any more.
void leaveWorld();

}  // namespace kerf::inline torch_distributed
