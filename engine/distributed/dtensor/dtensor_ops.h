// DTensorOps: calls on distributed tensors, run by one rank on its parts. A distributed tensor is a Value like any other:
// a tensor of whole sizes without data, whose part this caller keeps.
#pragma once

#include "engine/distributed/dtensor/sharded_caller.h"
#include "engine/distributed/sharding/redistribute.h"

namespace kerf::inline distributed::inline dtensor {

class DTensorOps : public ShardedCaller {
 public:
  explicit DTensorOps(MeshRank& rank) : ShardedCaller(rank.mesh), m_rank(rank) {}

  /// DTensor.from_local: `whole` gives sizes, strides and dtype.
  Tensor fromLocal(const Tensor& local, const Tensor& whole, const Placements& placements) const;
  /// This rank's part of a tensor that every rank has.
  Result<Tensor> distribute(const Tensor& whole, const Placements& placements) const;
  /// DTensor.redistribute, noted on the tape: gradients come back to where the tensor was, replicated where it was
  /// partial.
  Result<Tensor> redistribute(const Tensor& tensor, const Placements& to) const;
  const Tensor& local(const Tensor& tensor) const { return m_locals[std::size_t(tensor.traced)]; }
  /// DTensor.full_tensor without a gradient.
  Result<Tensor> full(const Tensor& tensor) const;
  MeshRank& rank() const { return m_rank; }

 protected:
  Result<Value> execute(const Dispatch& dispatch) const override;

 private:
  Result<Value> runParts(const Dispatch& dispatch, const BoundArguments& parts) const;

  MeshRank& m_rank;
  mutable std::vector<Tensor> m_locals;  ///< by Tensor::traced
};

}  // namespace kerf::inline distributed::inline dtensor
