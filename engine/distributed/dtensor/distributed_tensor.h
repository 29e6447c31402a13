// DistributedTensor: one rank's part of a tensor with its placements, and DTensor's ways in and out.
#pragma once

#include "engine/distributed/sharding/redistribute.h"
#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline dtensor {

struct DistributedTensor {
  Tensor local;
  Spec spec;
};

struct RedistributeOptions {
  std::optional<DType> forwardDtype;   ///< converted to before
  std::optional<DType> backwardDtype;  ///< gradients are converted to on their way back
};

/// DTensor.redistribute.
Result<DistributedTensor> redistributed(MeshRank& rank, const DistributedTensor& tensor, const Placements& to,
                                        const RedistributeOptions& options = {});
/// Its gradient: to where `from` was, replicated where that was partial and the gradient is not.
Result<DistributedTensor> redistributedBack(MeshRank& rank, const DistributedTensor& gradient,
                                            const DistributedTensor& from, const RedistributeOptions& options = {});
/// DTensor.from_local: sizes are those of this rank's part times the shards. With `isChecked` ranks that replicate take
/// the first rank's values.
Result<DistributedTensor> fromLocal(MeshRank& rank, const Tensor& local, const Placements& placements, bool isChecked);
/// distribute_tensor: the values of the group's member `source` along each dimension of the mesh; none: each rank's own.
Result<DistributedTensor> distributeTensor(MeshRank& rank, const Tensor& tensor, const Placements& placements,
                                           std::optional<int> source = 0);

}  // namespace kerf::inline distributed::inline dtensor
