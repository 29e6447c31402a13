// Redistribution: a rank's part under one placement turned into its part under another, by collectives.
#pragma once

#include <map>

#include "engine/distributed/group/collectives.h"
#include "engine/distributed/sharding/spec.h"

namespace kerf::inline distributed::inline sharding {

/// One rank of a mesh: where it stands, how it talks, and what it has issued.
struct MeshRank {
  MeshRank(const DeviceMesh& ofMesh, Communicator& link)
      : mesh(ofMesh), ranks(link), coordinate(ofMesh.coordinate(link.rank())) {}
  const DeviceMesh& mesh;
  Communicator& ranks;
  Sizes coordinate;
  std::map<std::string, int> issued;  ///< number of collectives, by PyTorch's names ("c10d_functional.all_reduce")

  Group group(std::size_t meshDim) const { return mesh.group(ranks.rank(), meshDim); }
};

/// This rank's part under `to`. `local` is its part under `from`. UnsupportedOp for what has no meaning (a shard made
/// partial, one reduction made another).
Result<Tensor> redistribute(MeshRank& rank, const Tensor& local, const Spec& from, const Placements& to);
/// The whole tensor, on every rank.
Result<Tensor> fullTensor(MeshRank& rank, const Tensor& local, const Spec& spec);
/// This rank's part of a tensor that every rank has whole; partials as `redistribute` makes them.
Result<Tensor> localPart(const MeshRank& rank, const Tensor& whole, const Placements& placements);

}  // namespace kerf::inline distributed::inline sharding
