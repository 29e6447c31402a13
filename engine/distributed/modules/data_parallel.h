// Data parallelism: parameters that live in shards and are gathered for their module (fully_shard), and gradients that
// ranks average (DistributedDataParallel).
#pragma once

#include "engine/distributed/modules/module_run.h"

namespace kerf::inline distributed::inline modules {

/// Dimensions of the mesh; along the others parameters may be sharded already (tensor parallelism).
struct FullyShardOptions {
  std::size_t shardDim = 0;
  std::optional<std::size_t> replicateDim;  ///< ranks along it hold the same shards
};

/// Parameters of the module at `path` become shards of dimension 0. One all-gather before its forward function gives it
/// whole ones, kept until its gradients are averaged and scattered in one reduce-scatter.
Result<void> fullyShard(ModuleRun& run, const std::string& path, const FullyShardOptions& options);

/// Gradients of this rank's loss as those of the mean of all ranks' losses along a dimension of the mesh: one all-reduce.
Result<std::vector<Tensor>> averagedGradients(MeshRank& rank, std::size_t meshDim,
                                              const std::vector<Tensor>& gradients);

}  // namespace kerf::inline distributed::inline modules
