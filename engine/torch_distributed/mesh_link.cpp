#include "engine/torch_distributed/mesh_link.h"

#include <algorithm>

namespace kerf::inline torch_distributed {

MeshLink::MeshLink(Communicator& link, std::vector<int> ranks) : m_link(link), m_ranks(std::move(ranks)), m_rank(-1) {
  const auto own = std::ranges::find(m_ranks, link.rank());
  if (own != m_ranks.end()) m_rank = int(own - m_ranks.begin());
}

/// Groups of different meshes must not meet: the ranks are part of what a transport tells them apart by.
Group MeshLink::inWorld(const Group& group) const {
  Group result{"mesh " + group.name, {}};
  for (const int rank : group.ranks)
    result.ranks.push_back(rank >= 0 && rank < worldSize() ? m_ranks[std::size_t(rank)] : -1);
  return result;
}

Result<std::vector<Tensor>> MeshLink::gather(const Group& group, const CollectiveCall& call, const Tensor& mine) {
  return m_link.gather(inWorld(group), call, mine);
}

Result<void> MeshLink::send(const Group& group, int to, int tag, const Tensor& tensor) {
  return m_link.send(inWorld(group), to, tag, tensor);
}

Result<Tensor> MeshLink::receive(const Group& group, int from, int tag) {
  return m_link.receive(inWorld(group), from, tag);
}

Result<std::shared_ptr<MeshOfProgram>> meshOfProgram(Communicator& world, const Sizes& sizes, std::vector<int> ranks) {
  KERF_TRY(DeviceMesh mesh, DeviceMesh::ofSizes(sizes));
  if (mesh.ranks() != int(ranks.size()))
    return fail(ErrorCode::BadInput, "a mesh of {} has {} ranks, and {} are given", mesh.text(), mesh.ranks(),
                ranks.size());
  if (std::ranges::find(ranks, world.rank()) == ranks.end())
    return fail(ErrorCode::BadInput, "rank {} is not in the mesh of ranks [{}]", world.rank(), fmt::join(ranks, ", "));
  return std::make_shared<MeshOfProgram>(world, std::move(mesh), std::move(ranks));
}

}  // namespace kerf::inline torch_distributed
