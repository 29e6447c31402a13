// loss_parallel: cross entropy of logits whose classes are sharded, without gathering them.
#pragma once

#include "engine/distributed/dtensor/dtensor_ops.h"

namespace kerf::inline distributed::inline modules {

struct CrossEntropyOptions {
  enum class Reduction : std::uint8_t { None, Mean, Sum };
  Reduction reduction = Reduction::Mean;
  std::int64_t ignoredIndex = -100;
  std::optional<Tensor> weight;  ///< of every class, on every rank
};

/// Three all-reduces forward, none backward; noted on the tape. `targets` are whole on every rank. UnsupportedOp unless
/// the mesh has one dimension and the classes are sharded over it.
Result<Tensor> lossParallelCrossEntropy(const DTensorOps& ops, const Tensor& logits, const Tensor& targets,
                                        const CrossEntropyOptions& options);

}  // namespace kerf::inline distributed::inline modules
