#include "engine/torch_distributed/own_rank.h"

#include <algorithm>
#include <utility>

namespace kerf::inline torch_distributed {
namespace {

std::unique_ptr<OwnRank>& rankOfProcess() {
  static std::unique_ptr<OwnRank> rank;
  return rank;
}

}  // namespace

OwnRank::OwnRank(std::shared_ptr<SharedWorld> world, int rank)
    : m_world(std::move(world)), m_link(m_world->join(rank)), m_kernels(*m_link), m_scope(m_kernels) {
  m_groups.emplace("0", worldGroup(m_link->worldSize()));
}

Result<Group> OwnRank::group(const std::string& name) const {
  const auto found = m_groups.find(name);
  if (found == m_groups.end()) return fail(ErrorCode::NotFound, "there is no process group '{}'", name);
  return found->second;
}

Result<void> OwnRank::addGroup(const std::string& name, std::vector<int> ranks) {
  std::vector<int> sorted = ranks;
  std::ranges::sort(sorted);
  if (ranks.empty()) return fail(ErrorCode::BadInput, "process group '{}' has no ranks", name);
  if (std::ranges::adjacent_find(sorted) != sorted.end())
    return fail(ErrorCode::BadInput, "process group '{}' names a rank twice: [{}]", name, fmt::join(ranks, ", "));
  if (sorted.front() < 0 || sorted.back() >= m_link->worldSize())
    return fail(ErrorCode::BadInput, "process group '{}' names ranks [{}] of a world of {}", name,
                fmt::join(ranks, ", "), m_link->worldSize());
  Group group{name, std::move(ranks)};
  m_kernels.setGroup(group);
  m_groups.insert_or_assign(name, std::move(group));
  return {};
}

void OwnRank::dropGroup(const std::string& name) {
  if (const auto found = m_groups.find(name); found != m_groups.end() && name != "0") m_groups.erase(found);
}

Result<OwnRank*> ownRank() {
  auto& rank = rankOfProcess();
  if (!rank) {
    KERF_TRY(auto alone, SharedWorld::make(1));
    rank = std::make_unique<OwnRank>(std::move(alone), 0);
  }
  return rank.get();
}

void becomeRank(std::shared_ptr<SharedWorld> world, int rank) {
  rankOfProcess() = std::make_unique<OwnRank>(std::move(world), rank);
}

void leaveWorld() { rankOfProcess().reset(); }

}  // namespace kerf::inline torch_distributed
