// Convolutions whose input is sharded along width or height: halos come from the ranks that have them, then each rank
// convolves what its results read; gradients of the halos go back the same way.
#pragma once

#include "engine/distributed/sharding/halo_plan.h"
#include "engine/distributed/sharding/rules.h"
#include "engine/ops/core/composite.h"

namespace kerf::inline distributed::inline dtensor {

/// How pieces go to the other ranks along one dimension of a mesh.
class PieceExchange {
 public:
  virtual ~PieceExchange() = default;
  /// `pieces` lie behind each other along `dim`, sent[i] elements for member i; what comes lies the same way,
  /// received[i] elements from member i.
  virtual Result<Tensor> exchange(std::size_t meshDim, std::int64_t dim, const Tensor& pieces, const Sizes& sent,
                                  const Sizes& received) const = 0;
};

/// Whether the call is a convolution, or its gradients, whose strategy leaves width or height sharded.
bool isShardedConvolution(const BoundArguments& call, const Strategy& strategy);

class ShardedConvolution {
 public:
  ShardedConvolution(const OpRunner& run, const PieceExchange& exchange, const DeviceMesh& mesh, Sizes coordinate)
      : m_run(run), m_exchange(exchange), m_mesh(mesh), m_coordinate(std::move(coordinate)) {}
  /// The call's results, of parts. `whole` has whole tensors, `parts` this rank's.
  Result<Value> run(const BoundArguments& whole, const BoundArguments& parts, const Strategy& strategy) const;

 private:
  struct ShardedAxis {
    std::size_t meshDim;
    std::int64_t dim;
    HaloPlan plan;
  };
  Result<std::vector<ShardedAxis>> axesOf(const BoundArguments& whole, const Strategy& strategy) const;
  Result<Tensor> widened(const Tensor& own, const ShardedAxis& axis) const;
  Result<Tensor> narrowed(const Tensor& wide, const ShardedAxis& axis) const;
  Result<Tensor> slice(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t size) const;
  Result<Tensor> padded(const Tensor& tensor, std::int64_t dim, std::int64_t before, std::int64_t after) const;

  const OpRunner& m_run;
  const PieceExchange& m_exchange;
  const DeviceMesh& m_mesh;
  Sizes m_coordinate;
};

}  // namespace kerf::inline distributed::inline dtensor
