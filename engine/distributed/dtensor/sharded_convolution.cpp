#include "engine/distributed/dtensor/sharded_convolution.h"

#include <algorithm>

namespace kerf::inline distributed::inline dtensor {
namespace {

bool isConvolution(const BoundArguments& call) {
  return call.op->id == "aten.convolution.default"_op || call.op->id == "aten.convolution_backward.default"_op;
}

/// The place of an argument's tensor among the operands: arguments before it that are none have no operand.
std::size_t operandOf(const BoundArguments& call, std::size_t argument) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < argument; ++i) place += call.values[i].isTensor() ? 1 : 0;
  return place;
}

}  // namespace

bool isShardedConvolution(const BoundArguments& call, const Strategy& strategy) {
  if (!isConvolution(call)) return false;
  return std::ranges::any_of(strategy.inputs[operandOf(call, convolvedInput(call))],
                             [](const Placement& placement) { return placement.isShard() && placement.dim >= 2; });
}

Result<std::vector<ShardedConvolution::ShardedAxis>> ShardedConvolution::axesOf(const BoundArguments& whole,
                                                                                const Strategy& strategy) const {
  const std::size_t input = convolvedInput(whole);
  const Placements& placements = strategy.inputs[operandOf(whole, input)];
  std::vector<ShardedAxis> axes;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (!placements[i].isShard() || placements[i].dim < 2) continue;
    const std::int64_t dim = placements[i].dim;
    KERF_TRY(HaloPlan plan, planHalo(windowOf(whole, dim), whole.tensor(input).size(dim), m_mesh.size(i)));
    axes.push_back({i, dim, std::move(plan)});
  }
  return axes;
}

Result<Tensor> ShardedConvolution::slice(const Tensor& tensor, std::int64_t dim, std::int64_t start,
                                         std::int64_t size) const {
  if (start == 0 && size == tensor.size(dim)) return tensor;
  return m_run("aten.slice.Tensor"_op, {tensor, dim, start, start + size});
}

Result<Tensor> ShardedConvolution::padded(const Tensor& tensor, std::int64_t dim, std::int64_t before,
                                          std::int64_t after) const {
  if (before == 0 && after == 0) return tensor;
  Sizes padding(std::size_t(2 * (tensor.dim() - dim)), 0);
  padding[padding.size() - 2] = before;
  padding.back() = after;
  return m_run("aten.constant_pad_nd.default"_op, {tensor, intList(padding), 0.0});
}

/// This rank's part as what its windows read, padding included.
Result<Tensor> ShardedConvolution::widened(const Tensor& own, const ShardedAxis& axis) const {
  const auto me = std::size_t(m_coordinate[axis.meshDim]);
  const HaloPlan& plan = axis.plan;
  Sizes sent, received;
  std::vector<Tensor> pieces;
  for (std::size_t other = 0; other < plan.parts.size(); ++other) {
    const IndexRange out = plan.piece(me, other);
    sent.push_back(out.size());
    received.push_back(plan.piece(other, me).size());
    if (out.size() == 0) continue;
    KERF_TRY(Tensor piece, slice(own, axis.dim, out.start - plan.parts[me].own.start, out.size()));
    pieces.push_back(std::move(piece));
  }
  KERF_TRY(const Tensor nothing, slice(own, axis.dim, 0, 0));
  KERF_TRY(const Tensor all, pieces.empty()       ? Result<Tensor>(nothing)
                             : pieces.size() == 1 ? Result<Tensor>(pieces[0])
                                                  : m_run("aten.cat.default"_op, {tensorList(pieces), axis.dim}));
  KERF_TRY(const Tensor read, m_exchange.exchange(axis.meshDim, axis.dim, all, sent, received));
  return padded(read, axis.dim, plan.parts[me].zerosBefore, plan.parts[me].zerosAfter);
}

/// The gradient of what the windows read as that of this rank's part: those of its halos come back and are added.
Result<Tensor> ShardedConvolution::narrowed(const Tensor& wide, const ShardedAxis& axis) const {
  const auto me = std::size_t(m_coordinate[axis.meshDim]);
  const HaloPlan& plan = axis.plan;
  const HaloPart& part = plan.parts[me];
  Sizes sent, received;
  for (std::size_t other = 0; other < plan.parts.size(); ++other) {
    sent.push_back(plan.piece(other, me).size());
    received.push_back(plan.piece(me, other).size());
  }
  KERF_TRY(const Tensor read, slice(wide, axis.dim, part.zerosBefore, part.reads.size()));
  KERF_TRY(const Tensor all, m_exchange.exchange(axis.meshDim, axis.dim, read, sent, received));
  std::optional<Tensor> sum;
  std::int64_t at = 0;
  for (std::size_t other = 0; other < plan.parts.size(); ++other) {
    const IndexRange range = plan.piece(me, other);
    if (range.size() == 0) continue;
    KERF_TRY(const Tensor piece, slice(all, axis.dim, at, range.size()));
    at += range.size();
    KERF_TRY(const Tensor placed, padded(piece, axis.dim, range.start - part.own.start, part.own.end - range.end));
    KERF_TRY(sum, sum ? m_run("aten.add.Tensor"_op, {*sum, placed}) : Result<Tensor>(placed));
  }
  if (sum) return *sum;
  KERF_TRY(const Tensor nothing, slice(all, axis.dim, 0, 0));
  return padded(nothing, axis.dim, 0, part.own.size());
}

Result<Value> ShardedConvolution::run(const BoundArguments& whole, const BoundArguments& parts,
                                      const Strategy& strategy) const {
  KERF_TRY(const std::vector<ShardedAxis> axes, axesOf(whole, strategy));
  BoundArguments local = parts;
  const std::size_t input = convolvedInput(parts), padding = parts.position("padding");
  const auto spatial = std::size_t(parts.tensor(input).dim() - 2);
  Sizes pads = parts.sizes(padding);
  if (pads.size() <= 1) pads.assign(spatial, pads.empty() ? 0 : pads[0]);
  for (const ShardedAxis& axis : axes) {
    KERF_TRY(Tensor wide, widened(local.tensor(input), axis));
    local.values[input] = Value(std::move(wide));
    pads[std::size_t(axis.dim - 2)] = 0;
  }
  local.values[padding] = intList(pads);
  KERF_TRY(Value result, callRow(*parts.op, local, m_run));
  if (!result.isList() || !result.list()[0].isTensor()) return result;
  ValueList gradients = result.list();
  for (std::size_t i = axes.size(); i-- > 0;) {
    KERF_TRY(Tensor own, narrowed(gradients[0].tensor(), axes[i]));
    gradients[0] = Value(std::move(own));
  }
  return Value(std::move(gradients));
}

}  // namespace kerf::inline distributed::inline dtensor
