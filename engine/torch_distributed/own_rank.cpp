#include "engine/torch_distributed/own_rank.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/torch_distributed/fake_rank.h"

namespace kerf::inline torch_distributed {
namespace {

/// The last of them is this process's; before it stand those that it was when a program began to pretend.
std::vector<std::unique_ptr<OwnRank>>& ranksOfProcess() {
  static std::vector<std::unique_ptr<OwnRank>> ranks;
  return ranks;
}

/// Ranks of fake worlds that are over, which meshes may still talk through.
std::vector<std::unique_ptr<OwnRank>>& pretendedRanks() {
  static std::vector<std::unique_ptr<OwnRank>> ranks;
  return ranks;
}

}  // namespace

OwnRank::OwnRank(std::shared_ptr<SharedWorld> world, int rank)
    : m_world(std::move(world)), m_link(m_world->join(rank)), m_kernels(*m_link), m_scope(std::in_place, m_kernels) {
  m_groups.emplace("0", worldGroup(m_link->worldSize()));
}

OwnRank::OwnRank(std::unique_ptr<SharedRank> link)
    : m_link(std::move(link)), m_kernels(*m_link), m_scope(std::in_place, m_kernels) {
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
  auto& ranks = ranksOfProcess();
  if (ranks.empty()) {
    KERF_TRY(auto alone, SharedWorld::make(1));
    ranks.push_back(std::make_unique<OwnRank>(std::move(alone), 0));
  }
  return ranks.back().get();
}

void becomeRank(std::shared_ptr<SharedWorld> world, int rank) {
  leaveWorld();
  ranksOfProcess().push_back(std::make_unique<OwnRank>(std::move(world), rank));
}

Result<void> pretendRank(int rank, int worldSize) {
  KERF_CHECK(ownRank());
  KERF_TRY(std::unique_ptr<SharedRank> link, fakeRank(rank, worldSize));
  ranksOfProcess().push_back(std::make_unique<OwnRank>(std::move(link)));
  return {};
}

void stopPretending() {
  auto& ranks = ranksOfProcess();
  if (ranks.size() < 2) return;
  ranks.back()->stepBack();
  pretendedRanks().push_back(std::move(ranks.back()));
  ranks.pop_back();
}

void leaveWorld() {
  while (!ranksOfProcess().empty()) ranksOfProcess().pop_back();
  pretendedRanks().clear();
}

}  // namespace kerf::inline torch_distributed
