#include "engine/distributed/graphs/graph_steps.h"

#include <algorithm>
#include <cmath>

namespace kerf::inline distributed::inline graphs {

std::string groupName(const DeviceMesh& mesh, std::size_t meshDim, const Sizes& coordinate) {
  if (mesh.dims() == 1) return "0";
  int rank = 0;
  for (std::size_t d = 0; d < mesh.dims(); ++d) rank = int(rank * mesh.size(d) + coordinate[d]);
  return fmt::format("ranks_{}", fmt::join(mesh.group(rank, meshDim).ranks, "_"));
}

Result<Tensor> GraphSteps::call(const OpTarget& op, const ValueList& args) const {
  return OpRunner(m_tracer)(op, args);
}

Result<Tensor> GraphSteps::collective(const OpTarget& op, const ValueList& args) const {
  KERF_TRY(const Tensor started, call(op, args));
  return call("_c10d_functional.wait_tensor.default"_op, {started});
}

Result<Tensor> GraphSteps::slice(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t end) const {
  if (start == 0 && end >= tensor.size(dim)) return tensor;
  KERF_TRY(const Tensor view, call("aten.slice.Tensor"_op, {tensor, dim, start, end}));
  return call("aten.clone.default"_op, {view});
}

Result<Tensor> GraphSteps::padded(const Tensor& tensor, std::int64_t dim, std::int64_t size) const {
  if (tensor.size(dim) == size) return tensor;
  Sizes padding(std::size_t(2 * (tensor.dim() - dim)), 0);
  padding.back() = size - tensor.size(dim);
  return call("aten.constant_pad_nd.default"_op, {tensor, intList(padding), 0.0});
}

/// Parts that lie behind each other along `from` laid behind each other along `to`.
Result<Tensor> GraphSteps::moved(const Tensor& tensor, std::int64_t from, std::int64_t to, std::int64_t parts) const {
  if (from == to) return tensor;
  KERF_TRY(const Value pieces, m_tracer.call("aten.split.Tensor"_op,
                                             {tensor, std::max<std::int64_t>(1, tensor.size(from) / parts), from}, {}));
  return call("aten.cat.default"_op, {pieces, to});
}

/// The elements at these positions along `dim`, as slices of positions that follow each other.
Result<Tensor> GraphSteps::picked(const Tensor& tensor, std::int64_t dim, const Sizes& positions) const {
  std::vector<Tensor> stretches;
  for (std::size_t at = 0; at < positions.size();) {
    std::size_t end = at + 1;
    while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
    KERF_TRY(Tensor stretch, call("aten.slice.Tensor"_op, {tensor, dim, positions[at], positions[end - 1] + 1}));
    stretches.push_back(std::move(stretch));
    at = end;
  }
  if (stretches.empty()) {
    KERF_TRY(const Tensor none, call("aten.slice.Tensor"_op, {tensor, dim, std::int64_t{0}, std::int64_t{0}}));
    return call("aten.clone.default"_op, {none});
  }
  return call("aten.cat.default"_op, {tensorList(stretches), dim});
}

/// The parts of ranks, padded to the longest, lie behind each other; the whole takes its elements from all of them.
Result<Tensor> GraphSteps::gatherStrided(const Tensor& local, const RedistributeStep& step, std::int64_t size) const {
  const std::int64_t parts = m_mesh.size(step.meshDim), dim = step.from.dim;
  const std::int64_t each = shardSize(step.from, size, parts, 0);
  KERF_TRY(const Tensor equal, padded(local, dim, each));
  KERF_TRY(const Tensor all, collective("_c10d_functional.all_gather_into_tensor.default"_op,
                                        {equal, parts, groupName(m_mesh, step.meshDim, m_coordinate)}));
  KERF_TRY(const Tensor joined, moved(all, 0, dim, parts));
  Sizes positions(std::size_t(size), 0);
  for (std::int64_t rank = 0; rank < parts; ++rank) {
    std::int64_t at = rank * each;
    for (const std::int64_t index : shardIndices(step.from, size, parts, rank)) positions[std::size_t(index)] = at++;
  }
  return picked(joined, dim, positions);
}

Result<Tensor> GraphSteps::gather(const Tensor& local, const RedistributeStep& step, std::int64_t size) const {
  if (step.from.kind == Placement::Kind::StridedShard) return gatherStrided(local, step, size);
  const std::int64_t parts = m_mesh.size(step.meshDim), each = (size + parts - 1) / parts, dim = step.from.dim;
  KERF_TRY(const Tensor equal, padded(local, dim, each));
  KERF_TRY(const Tensor all, collective("_c10d_functional.all_gather_into_tensor.default"_op,
                                        {equal, parts, groupName(m_mesh, step.meshDim, m_coordinate)}));
  KERF_TRY(const Tensor whole, moved(all, 0, dim, parts));
  return slice(whole, dim, 0, size);
}

Result<Tensor> GraphSteps::part(const Tensor& whole, const RedistributeStep& step) const {
  if (step.to.kind == Placement::Kind::StridedShard)
    return picked(
        whole, step.to.dim,
        shardIndices(step.to, whole.size(step.to.dim), m_mesh.size(step.meshDim), m_coordinate[step.meshDim]));
  const std::int64_t parts = m_mesh.size(step.meshDim), size = whole.size(step.to.dim),
                     each = (size + parts - 1) / parts;
  const std::int64_t start = std::min(size, each * m_coordinate[step.meshDim]);
  return slice(whole, step.to.dim, start, std::min(size, start + each));
}

/// Before and after a reduction, norms are their powers, and looked-up rows of other ranks are zeros.
Result<Tensor> GraphSteps::reduce(const Tensor& local, const RedistributeStep& step) const {
  Tensor ready = local;
  if (step.from.kind == Placement::Kind::NormPartial) {
    KERF_TRY(ready, call("aten.pow.Tensor_Scalar"_op, {ready, step.from.norm}));
  }
  if (step.from.kind == Placement::Kind::MaskPartial) {
    if (!step.from.mask->mask) return fail(ErrorCode::UnsupportedOp, "a masked partial value has lost its mask");
    Tensor mask = *step.from.mask->mask;
    while (mask.dim() < ready.dim()) {
      KERF_TRY(mask, call("aten.unsqueeze.default"_op, {mask, std::int64_t{-1}}));
    }
    KERF_TRY(ready, call("aten.masked_fill.Scalar"_op, {ready, mask, 0.0}));
  }
  const bool scatters = step.to.isShard();
  KERF_TRY(Tensor reduced,
           scatters ? scatter(ready, step)
                    : collective("_c10d_functional.all_reduce.default"_op,
                                 {ready, step.from.reduction, groupName(m_mesh, step.meshDim, m_coordinate)}));
  if (step.from.kind != Placement::Kind::NormPartial) return reduced;
  return call("aten.pow.Tensor_Scalar"_op, {reduced, 1.0 / step.from.norm});
}

Result<Tensor> GraphSteps::scatter(const Tensor& local, const RedistributeStep& step) const {
  const std::int64_t parts = m_mesh.size(step.meshDim), dim = step.to.dim, size = local.size(dim);
  const std::int64_t each = (size + parts - 1) / parts;
  KERF_TRY(const Tensor equal, padded(local, dim, each * parts));
  KERF_TRY(const Tensor rows, moved(equal, dim, 0, parts));
  KERF_TRY(const Tensor own,
           collective("_c10d_functional.reduce_scatter_tensor.default"_op,
                      {rows, step.from.reduction, parts, groupName(m_mesh, step.meshDim, m_coordinate)}));
  const std::int64_t start = std::min(size, each * m_coordinate[step.meshDim]);
  return slice(own, dim, 0, std::min(each, size - start));
}

Result<Tensor> GraphSteps::partial(const Tensor& local, const RedistributeStep& step) const {
  const Placement& to = step.to;
  const std::int64_t parts = m_mesh.size(step.meshDim);
  if (!step.from.isReplicate())
    return fail(ErrorCode::UnsupportedOp, "redistribute from {} to {} is not supported", step.from.text(), to.text());
  if (to.kind == Placement::Kind::MaskPartial) {
    const std::int64_t size = to.lookedUp[std::size_t(to.dim)], each = (size + parts - 1) / parts;
    const std::int64_t start = std::min(size, each * m_coordinate[step.meshDim]), end = std::min(size, start + each);
    KERF_TRY(const Tensor below, call("aten.lt.Scalar"_op, {local, start}));
    KERF_TRY(const Tensor above, call("aten.ge.Scalar"_op, {local, end}));
    KERF_TRY(const Tensor mask, call("aten.logical_or.default"_op, {below, above}));
    KERF_TRY(const Tensor shifted, call("aten.sub.Scalar"_op, {local, start}));
    to.mask->mask = mask;
    return call("aten.masked_fill.Scalar"_op, {shifted, mask, std::int64_t{0}});
  }
  if (to.kind == Placement::Kind::NormPartial)
    return call("aten.div.Scalar"_op, {local, std::pow(double(parts), 1 / to.norm)});
  if (to.reduction == "sum") return call("aten.div.Scalar"_op, {local, double(parts)});
  if (to.reduction == "avg" || to.reduction == "min" || to.reduction == "max") return local;
  return fail(ErrorCode::UnsupportedOp, "redistribute from R to {} is not supported", to.text());
}

Result<Tensor> GraphSteps::exchange(std::size_t meshDim, std::int64_t dim, const Tensor& pieces, const Sizes& sent,
                                    const Sizes& received) const {
  const auto rowsFirst = [&](const Tensor& tensor) -> Result<Tensor> {
    if (dim == 0) return tensor;
    KERF_TRY(const Tensor view, call("aten.transpose.int"_op, {tensor, std::int64_t{0}, dim}));
    return OpRunner(m_tracer)("aten.clone.default"_op, {view}, {{"memory_format", MemoryFormat::Contiguous}});
  };
  KERF_TRY(const Tensor rows, rowsFirst(pieces));
  KERF_TRY(const Tensor come,
           collective("_c10d_functional.all_to_all_single.default"_op,
                      {rows, intList(received), intList(sent), groupName(m_mesh, meshDim, m_coordinate)}));
  return rowsFirst(come);
}

Result<Tensor> GraphSteps::step(const Tensor& local, const RedistributeStep& step, std::int64_t wholeSize) const {
  if (step.to.isPartial()) return partial(local, step);
  if (step.from.isReplicate()) return part(local, step);
  if (step.from.isPartial()) return reduce(local, step);
  KERF_TRY(const Tensor whole, gather(local, step, wholeSize));
  return step.to.isReplicate() ? Result<Tensor>(whole) : part(whole, step);
}

Result<Tensor> GraphSteps::redistribute(const Tensor& local, const Spec& from, const Placements& to) const {
  Spec current = from;
  Tensor tensor = local;
  for (const RedistributeStep& next : planRedistribution(from, to, m_mesh)) {
    Spec around = current;  // the other shards stay
    around.placements[next.meshDim] = Placement::replicate();
    const Sizes sizes = localSizes(around, m_mesh, m_coordinate);
    KERF_TRY(tensor, step(tensor, next, next.from.isShard() ? sizes[std::size_t(next.from.dim)] : 0));
    current.placements[next.meshDim] = next.to;
  }
  return tensor;
}

}  // namespace kerf::inline distributed::inline graphs
