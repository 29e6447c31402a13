// MeshOfProgram: a device mesh over any ranks of the world, and this rank's place in it. The engine's meshes count from 0;
// MeshLink says which ranks those are.
#pragma once

#include <memory>
#include <vector>

#include "engine/distributed/sharding/redistribute.h"

namespace kerf::inline torch_distributed {

/// The world as the ranks of a mesh see it: numbered in the mesh's order.
class MeshLink : public Communicator {
 public:
  /// `link` must outlive this; `ranks` are those of the world.
  MeshLink(Communicator& link, std::vector<int> ranks);
  /// -1 outside of the mesh.
  int rank() const override { return m_rank; }
  int worldSize() const override { return int(m_ranks.size()); }
  Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) override;
  Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) override;
  Result<Tensor> receive(const Group& group, int from, int tag) override;

 private:
  Group inWorld(const Group& group) const;

  Communicator& m_link;
  std::vector<int> m_ranks;
  int m_rank;
};

struct MeshOfProgram {
  MeshOfProgram(Communicator& world, DeviceMesh ofSizes, std::vector<int> ranks)
      : mesh(std::move(ofSizes)), link(world, std::move(ranks)), rank(mesh, link) {}
  MeshOfProgram(const MeshOfProgram&) = delete;
  MeshOfProgram& operator=(const MeshOfProgram&) = delete;

  DeviceMesh mesh;
  MeshLink link;
  MeshRank rank;
};

/// BadInput for ranks that are not as many as the sizes ask for, or without this one.
Result<std::shared_ptr<MeshOfProgram>> meshOfProgram(Communicator& world, const Sizes& sizes, std::vector<int> ranks);

}  // namespace kerf::inline torch_distributed
