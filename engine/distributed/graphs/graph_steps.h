// GraphSteps: the steps of a redistribution as nodes of a rank's graph.
#pragma once

#include "engine/distributed/dtensor/sharded_convolution.h"
#include "engine/distributed/sharding/spec.h"
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_tracer.h"

namespace kerf::inline distributed::inline graphs {

/// Name of a rank's process group along one dimension of a mesh, which its members alone have: "0" where the mesh has one
/// dimension, "ranks_1_3" where it has more.
std::string groupName(const DeviceMesh& mesh, std::size_t meshDim, const Sizes& coordinate);

class GraphSteps : public PieceExchange {
 public:
  GraphSteps(const OpTracer& tracer, const DeviceMesh& mesh, Sizes coordinate)
      : m_tracer(tracer), m_mesh(mesh), m_coordinate(std::move(coordinate)) {}
  /// Writes what turns this rank's part under `from` into its part under `to`.
  Result<Tensor> redistribute(const Tensor& local, const Spec& from, const Placements& to) const;
  /// Writes an all_to_all_single of rows: graphs have no messages between two ranks.
  Result<Tensor> exchange(std::size_t meshDim, std::int64_t dim, const Tensor& pieces, const Sizes& sent,
                          const Sizes& received) const override;

 private:
  Result<Tensor> step(const Tensor& local, const RedistributeStep& step, std::int64_t wholeSize) const;
  Result<Tensor> gather(const Tensor& local, const RedistributeStep& step, std::int64_t size) const;
  Result<Tensor> gatherStrided(const Tensor& local, const RedistributeStep& step, std::int64_t size) const;
  Result<Tensor> picked(const Tensor& tensor, std::int64_t dim, const Sizes& positions) const;
  Result<Tensor> reduce(const Tensor& local, const RedistributeStep& step) const;
  Result<Tensor> partial(const Tensor& local, const RedistributeStep& step) const;
  Result<Tensor> scatter(const Tensor& local, const RedistributeStep& step) const;
  Result<Tensor> part(const Tensor& whole, const RedistributeStep& step) const;
  Result<Tensor> call(const OpTarget& op, const ValueList& args) const;
  Result<Tensor> collective(const OpTarget& op, const ValueList& args) const;
  Result<Tensor> slice(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t end) const;
  Result<Tensor> padded(const Tensor& tensor, std::int64_t dim, std::int64_t size) const;
  Result<Tensor> moved(const Tensor& tensor, std::int64_t from, std::int64_t to, std::int64_t parts) const;

  const OpTracer& m_tracer;
  const DeviceMesh& m_mesh;
  Sizes m_coordinate;
};

}  // namespace kerf::inline distributed::inline graphs
