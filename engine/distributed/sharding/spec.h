// Spec: a tensor's sizes and dtype with its placements on a mesh, and what follows from them: local sizes, the cost of
// another placement, the steps to it.
#pragma once

#include "engine/distributed/group/device_mesh.h"
#include "engine/distributed/sharding/placement.h"

namespace kerf::inline distributed::inline sharding {

struct Spec {
  Placements placements;  ///< one for each dimension of the mesh
  Sizes sizes;            ///< of the whole tensor
  DType dtype = DType::Float32;

  std::int64_t dims() const { return std::int64_t(sizes.size()); }
  bool isSharded() const;
  bool isPartial() const;
  bool isReplicated() const;
  /// Product of the mesh's sizes over the shards.
  std::int64_t shards(const DeviceMesh& mesh) const;
};

/// Sizes of a rank's part.
Sizes localSizes(const Spec& spec, const DeviceMesh& mesh, const Sizes& coordinate);
/// Where the part starts in the whole, by dimension. Meaningful without strided shards.
Sizes localOffsets(const Spec& spec, const DeviceMesh& mesh, const Sizes& coordinate);
/// Whether each dimension is at least as long as it has shards, and whether it is a multiple of them.
bool isShardable(const Spec& spec, const DeviceMesh& mesh);
bool isEvenlyShardable(const Spec& spec, const DeviceMesh& mesh);
bool isEvenlyShardableOn(const Spec& spec, const DeviceMesh& mesh, std::int64_t dim);

/// One change of placement on one dimension of the mesh.
struct RedistributeStep {
  std::size_t meshDim;
  Placement from, to;
};

/// The steps from one placement to another, as PyTorch plans them: nested shards are undone from the innermost, then
/// made again.
std::vector<RedistributeStep> planRedistribution(const Spec& from, const Placements& to, const DeviceMesh& mesh);
/// PyTorch's estimate in microseconds; infinite where there is no way.
double redistributeCost(const Spec& from, const Placements& to, const DeviceMesh& mesh);

}  // namespace kerf::inline distributed::inline sharding
