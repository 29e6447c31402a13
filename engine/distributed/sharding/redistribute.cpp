#include "engine/distributed/sharding/redistribute.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline sharding {
namespace {

constexpr const char *allReduceName = "c10d_functional.all_reduce",
                     *allGatherName = "c10d_functional.all_gather_into_tensor",
                     *reduceScatterName = "c10d_functional.reduce_scatter_tensor";

Result<Tensor> power(const Tensor& tensor, double exponent) {
  return callTensorOp("aten.pow.Tensor_Scalar"_op, {tensor, exponent});
}

/// Values before they are added up: of a norm its powers; of a lookup zeros in the rows of other ranks.
Result<Tensor> beforeReduction(const Placement& from, const Tensor& local) {
  if (from.kind == Placement::Kind::NormPartial) return power(local, from.norm);
  if (from.kind != Placement::Kind::MaskPartial) return local;
  if (!from.mask || !from.mask->mask)
    return fail(ErrorCode::UnsupportedOp, "a masked partial value has lost the mask of its lookup");
  Tensor mask = *from.mask->mask;
  while (mask.dim() < local.dim()) {
    KERF_TRY(mask, callTensorOp("aten.unsqueeze.default"_op, {mask, std::int64_t{-1}}));
  }
  return callTensorOp("aten.masked_fill.Scalar"_op, {local, mask, 0.0});
}

Result<Tensor> afterReduction(const Placement& from, Tensor reduced) {
  if (from.kind == Placement::Kind::NormPartial) return power(reduced, 1.0 / from.norm);
  return reduced;
}

/// Indices of this rank's rows counted from its first; those of other ranks are masked and become 0.
Result<Tensor> maskedIndices(MeshRank& rank, std::size_t meshDim, const Placement& to, const Tensor& indices) {
  const std::int64_t count = rank.mesh.size(meshDim), index = rank.coordinate[meshDim];
  const std::int64_t size = to.lookedUp[std::size_t(to.dim)], step = (size + count - 1) / count;
  const std::int64_t start = std::min(size, step * index);
  const std::int64_t length = shardSize(Placement::shard(0), size, count, index);
  KERF_TRY(const Tensor below, callTensorOp("aten.lt.Scalar"_op, {indices, start}));
  KERF_TRY(const Tensor above, callTensorOp("aten.ge.Scalar"_op, {indices, start + length}));
  KERF_TRY(const Tensor mask, callTensorOp("aten.logical_or.default"_op, {below, above}));
  KERF_TRY(const Tensor shifted, callTensorOp("aten.sub.Scalar"_op, {indices, start}));
  to.mask->mask = mask;
  return callTensorOp("aten.masked_fill.Scalar"_op, {shifted, mask, std::int64_t{0}});
}

Result<Tensor> madePartial(MeshRank& rank, std::size_t meshDim, const Placement& to, const Tensor& local) {
  const auto count = double(rank.mesh.size(meshDim));
  if (to.kind == Placement::Kind::MaskPartial) return maskedIndices(rank, meshDim, to, local);
  if (to.kind == Placement::Kind::NormPartial)
    return callTensorOp("aten.div.Scalar"_op, {local, std::pow(count, 1 / to.norm)});
  if (to.reduction == "sum") return callTensorOp("aten.div.Scalar"_op, {local, count});
  if (to.reduction == "avg" || to.reduction == "min" || to.reduction == "max") return local;
  return fail(ErrorCode::UnsupportedOp, "redistribute from R to {} is not supported", to.text());
}

Result<Tensor> gathered(MeshRank& rank, const RedistributeStep& step, const Tensor& local) {
  const Group group = rank.group(step.meshDim);
  ++rank.issued[allGatherName];
  KERF_TRY(Tensor joined, allGather(rank.ranks, group, local, step.from.dim));
  if (step.from.kind != Placement::Kind::StridedShard) return joined;
  const std::int64_t size = joined.size(step.from.dim);
  KERF_TRY(const Tensor order, Tensor::zeros(DType::Int64, {size}));
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < group.size(); ++i)
    for (const std::int64_t index : shardIndices(step.from, size, group.size(), i))
      order.data<std::int64_t>()[index] = at++;
  return callTensorOp("aten.index_select.default"_op, {joined, step.from.dim, order});
}

Result<Tensor> run(MeshRank& rank, const RedistributeStep& step, const Tensor& local) {
  const Group group = rank.group(step.meshDim);
  const Placement &from = step.from, &to = step.to;
  if (to.isPartial()) {
    if (from.isReplicate()) return madePartial(rank, step.meshDim, to, local);
    return fail(ErrorCode::UnsupportedOp, "redistribute from {} to {} is not supported", from.text(), to.text());
  }
  if (from.isReplicate()) return shardOf(local, to, group.size(), rank.coordinate[step.meshDim]);
  if (from.isShard() && to.isReplicate()) return gathered(rank, step, local);
  if (from.isShard()) {
    ++rank.issued[allGatherName];
    return exchangeShards(rank.ranks, group, local, from.dim, to.dim);
  }
  KERF_TRY(const Tensor ready, beforeReduction(from, local));
  ++rank.issued[to.isReplicate() ? allReduceName : reduceScatterName];
  KERF_TRY(Tensor reduced, to.isReplicate() ? allReduce(rank.ranks, group, ready, from.reduction)
                                            : reduceScatter(rank.ranks, group, ready, from.reduction, to.dim));
  return afterReduction(from, std::move(reduced));
}

}  // namespace

Result<Tensor> redistribute(MeshRank& rank, const Tensor& local, const Spec& from, const Placements& to) {
  if (to.size() != rank.mesh.dims() || from.placements.size() != rank.mesh.dims())
    return fail(ErrorCode::BadUsage, "a mesh of {} dimensions needs as many placements, got {}", rank.mesh.dims(),
                placementsText(to));
  Tensor current = local;
  for (const RedistributeStep& step : planRedistribution(from, to, rank.mesh)) {
    if (rank.mesh.size(step.meshDim) == 1 && !step.to.isPartial() && step.to.kind != Placement::Kind::MaskPartial)
      continue;
    KERF_TRY(current, run(rank, step, current));
  }
  return current;
}

Result<Tensor> fullTensor(MeshRank& rank, const Tensor& local, const Spec& spec) {
  return redistribute(rank, local, spec, Placements(rank.mesh.dims()));
}

Result<Tensor> localPart(const MeshRank& rank, const Tensor& whole, const Placements& placements) {
  Tensor part = whole;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (!placements[i].isShard()) continue;
    KERF_TRY(part, shardOf(part, placements[i], rank.mesh.size(i), rank.coordinate[i]));
  }
  return part;
}

}  // namespace kerf::inline distributed::inline sharding
