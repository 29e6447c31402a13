#include "engine/distributed/dtensor/distributed_tensor.h"

namespace kerf::inline distributed::inline dtensor {

Result<DistributedTensor> redistributed(MeshRank& rank, const DistributedTensor& tensor, const Placements& to,
                                        const RedistributeOptions& options) {
  DistributedTensor from = tensor;
  if (options.forwardDtype && *options.forwardDtype != from.spec.dtype) {
    KERF_TRY(from.local, from.local.to(*options.forwardDtype));
    from.spec.dtype = *options.forwardDtype;
  }
  KERF_TRY(Tensor local, redistribute(rank, from.local, from.spec, to));
  return DistributedTensor{std::move(local), {to, from.spec.sizes, from.spec.dtype}};
}

Result<DistributedTensor> redistributedBack(MeshRank& rank, const DistributedTensor& gradient,
                                            const DistributedTensor& from, const RedistributeOptions& options) {
  DistributedTensor current = gradient;
  const DType on = options.backwardDtype.value_or(from.spec.dtype);
  if (on != current.spec.dtype) {
    KERF_TRY(current.local, current.local.to(on));
    current.spec.dtype = on;
  }
  Placements to = from.spec.placements;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i].isPartial() && !gradient.spec.placements[i].isPartial()) to[i] = Placement::replicate();
  KERF_TRY(Tensor local, redistribute(rank, current.local, current.spec, to));
  KERF_TRY(Tensor typed, local.to(from.spec.dtype));
  return DistributedTensor{std::move(typed), {to, from.spec.sizes, from.spec.dtype}};
}

Result<DistributedTensor> fromLocal(MeshRank& rank, const Tensor& local, const Placements& placements, bool isChecked) {
  Spec spec{placements, local.sizes(), local.dtype()};
  Tensor own = local;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (placements[i].isShard()) {
      if (placements[i].dim >= local.dim())
        return fail(ErrorCode::ShapeMismatch, "{} of a tensor of {} dimensions", placements[i].text(), local.dim());
      spec.sizes[std::size_t(placements[i].dim)] *= rank.mesh.size(i);
    } else if (placements[i].isReplicate() && isChecked) {
      ++rank.issued["c10d.broadcast_"];
      KERF_TRY(own, broadcast(rank.ranks, rank.group(i), own, 0));
    }
  }
  return DistributedTensor{std::move(own), std::move(spec)};
}

Result<DistributedTensor> distributeTensor(MeshRank& rank, const Tensor& tensor, const Placements& placements,
                                           std::optional<int> source) {
  Tensor own = tensor;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (source) {
      ++rank.issued[placements[i].isShard() ? "c10d.scatter_" : "c10d.broadcast_"];
      KERF_TRY(own, broadcast(rank.ranks, rank.group(i), own, *source));
    }
    if (placements[i].isPartial()) {
      Spec now{Placements(rank.mesh.dims()), own.sizes(), own.dtype()};
      Placements partial = now.placements;
      partial[i] = placements[i];
      KERF_TRY(own, redistribute(rank, own, now, partial));
    }
    if (!placements[i].isShard()) continue;
    KERF_TRY(own, shardOf(own, placements[i], rank.mesh.size(i), rank.coordinate[i]));
  }
  return DistributedTensor{std::move(own), {placements, tensor.sizes(), tensor.dtype()}};
}

}  // namespace kerf::inline distributed::inline dtensor
