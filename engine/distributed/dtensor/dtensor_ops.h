// DTensorOps: calls on distributed tensors, run by one rank on its parts. A distributed tensor is a Value like any other:
// a tensor of whole sizes without data, whose part this caller keeps.
#pragma once

#include "engine/distributed/dtensor/sharded_caller.h"
#include "engine/distributed/dtensor/sharded_convolution.h"
#include "engine/distributed/sharding/redistribute.h"

namespace kerf::inline distributed::inline dtensor {

class DTensorOps : public ShardedCaller, private PieceExchange {
 public:
  explicit DTensorOps(MeshRank& rank) : ShardedCaller(rank.mesh), m_rank(rank) {}

  /// DTensor.from_local: `whole` gives sizes, strides and dtype.
  Tensor fromLocal(const Tensor& local, const Tensor& whole, const Placements& placements) const;
  /// This rank's part of a tensor that every rank has.
  Result<Tensor> distribute(const Tensor& whole, const Placements& placements) const;
  /// DTensor.redistribute, noted on the tape: gradients come back to where the tensor was, replicated where it was
  /// partial.
  Result<Tensor> redistribute(const Tensor& tensor, const Placements& to) const;
  /// DTensor.from_local of a tensor of this rank alone, noted on the tape. Sizes are those of this part times the shards.
  Result<Tensor> wrapped(const Tensor& own, const Placements& placements) const;
  /// DTensor.to_local, noted on the tape: gradients are placed like `gradients`; none: like the tensor, replicated where
  /// it is partial.
  Tensor unwrapped(const Tensor& tensor, const Placements& gradients = {}) const;
  /// A step with a backward of its own, where one of the inputs is differentiated.
  using CustomBackward = std::function<Result<ValueList>(const ValueList& grads)>;
  void note(const ValueList& inputs, const ValueList& results, CustomBackward backward) const;
  const Tensor& local(const Tensor& tensor) const { return m_locals[std::size_t(tensor.traced)]; }
  /// DTensor.full_tensor without a gradient.
  Result<Tensor> full(const Tensor& tensor) const;
  MeshRank& rank() const { return m_rank; }

 protected:
  Result<Value> execute(const Dispatch& dispatch) const override;
  Result<Tensor> placed(const Tensor& tensor, const Spec& from, const Placements& to) const override;
  void becameOther(const Tensor& tensor, const Tensor& now) const override {
    m_locals[std::size_t(tensor.traced)] = m_locals[std::size_t(now.traced)];
  }

 private:
  Result<Tensor> exchange(std::size_t meshDim, std::int64_t dim, const Tensor& pieces, const Sizes& sent,
                          const Sizes& received) const override;
  Result<std::vector<Tensor>> swapped(const Group& group, std::vector<Tensor> pieces, std::int64_t dim,
                                      const Sizes& received) const;
  Result<Value> runParts(const Dispatch& dispatch, const BoundArguments& parts) const;

  MeshRank& m_rank;
  mutable std::vector<Tensor> m_locals;  ///< by Tensor::traced
};

}  // namespace kerf::inline distributed::inline dtensor
