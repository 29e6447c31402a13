// Reductions: a shard of a dimension that is reduced leaves a partial result, where the reduction allows that.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline sharding {
namespace {

struct Reduction {
  Sizes dims;
  bool keepsDims = false;
  bool isLinear = true;
  Placement partial = Placement::partial();  ///< what a reduced shard leaves
};

/// The dimensions that an argument names, all where it names none.
Sizes reducedDims(const ShardingCall& call, std::string_view name, std::int64_t rank) {
  Sizes dims;
  const Value value = call.named(name);
  if (const auto* one = value.as<std::int64_t>()) dims.push_back(*one);
  if (value.isList())
    for (const Value& item : value.list())
      if (const auto* dim = item.as<std::int64_t>()) dims.push_back(*dim);
  for (std::int64_t& dim : dims) dim += dim < 0 ? rank : 0;
  if (!dims.empty() && rank > 0) return dims;
  dims.resize(std::size_t(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

bool keepsDims(const ShardingCall& call) {
  const Value value = call.named("keepdim");
  return value.as<bool>() != nullptr && *value.as<bool>();
}

bool isReduced(const Reduction& reduction, std::int64_t dim) {
  return std::ranges::find(reduction.dims, dim) != reduction.dims.end();
}

Placements afterReduction(const Placements& placements, const Reduction& reduction) {
  Placements result = placements;
  for (Placement& placement : result) {
    if (!placement.isShard()) continue;
    if (isReduced(reduction, placement.dim)) {
      placement = reduction.partial;
      continue;
    }
    const auto before = std::ranges::count_if(reduction.dims, [&](std::int64_t d) { return d < placement.dim; });
    if (!reduction.keepsDims) placement.dim -= before;
  }
  return result;
}

/// The last rank has the smallest part; an empty one has no mean and no extremum.
bool hasEmptyPart(const Spec& spec, const DeviceMesh& mesh) {
  const Sizes sizes = localSizes(spec, mesh, mesh.coordinate(mesh.ranks() - 1));
  return std::ranges::find(sizes, 0) != sizes.end() && std::ranges::find(spec.sizes, 0) == spec.sizes.end();
}

/// Whether parts of the operand may be reduced on their own.
bool isSplittable(const Spec& spec, const DeviceMesh& mesh, const Reduction& reduction) {
  if (!reduction.isLinear) return false;
  if (reduction.partial.isPartialOf("avg"))
    for (const std::int64_t dim : reduction.dims)
      if (!isEvenlyShardableOn(spec, mesh, dim)) return false;
  const bool isPower = reduction.partial.kind == Placement::Kind::NormPartial && reduction.partial.norm > 0;
  const bool needsElements =
      !isPower && !reduction.partial.isPartialOf("sum") && !reduction.partial.isPartialOf("product");
  if (needsElements && hasEmptyPart(spec, mesh)) return false;
  return std::ranges::none_of(spec.placements, [&](const Placement& placement) {
    if (!placement.isPartial()) return false;
    return placement.kind != Placement::Kind::Partial || placement.reduction != reduction.partial.reduction;
  });
}

Strategy reduced(const Spec& spec, const DeviceMesh& mesh, const Reduction& reduction) {
  const Placements input =
      isSplittable(spec, mesh, reduction) ? spec.placements : replicatedOn(spec.placements, reduction.dims);
  return {{afterReduction(input, reduction)}, {input}, {}};
}

Reduction reductionOf(const ShardingCall& call, Placement partial, bool isLinear) {
  const std::int64_t rank = call.spec(0).dims();
  return {reducedDims(call, "dim", rank), keepsDims(call), isLinear, std::move(partial)};
}

Strategies reduction(const ShardingCall& call, Placement partial, bool isLinear = true) {
  return {reduced(call.spec(0), call.mesh, reductionOf(call, std::move(partial), isLinear))};
}

Result<Strategies> sum(const ShardingCall& call) { return reduction(call, Placement::partial("sum")); }
Result<Strategies> mean(const ShardingCall& call) { return reduction(call, Placement::partial("avg")); }
Result<Strategies> product(const ShardingCall& call) { return reduction(call, Placement::partial("product")); }
Result<Strategies> maximum(const ShardingCall& call) { return reduction(call, Placement::partial("max")); }
Result<Strategies> minimum(const ShardingCall& call) { return reduction(call, Placement::partial("min")); }
Result<Strategies> whole(const ShardingCall& call) { return reduction(call, Placement::partial(), false); }

/// Ops that give positions look at whole lines: those that were parts end alike on every rank, which any extremum of
/// them is.
Result<Strategies> positions(const ShardingCall& call, std::string_view op) {
  const Reduction like = reductionOf(call, Placement::partial(op), true);
  Strategy strategy = reduced(call.spec(0), call.mesh, like);
  strategy.inputs[0] = replicatedOn(call.spec(0).placements, like.dims);
  return Strategies{std::move(strategy)};
}
Result<Strategies> largest(const ShardingCall& call) { return positions(call, "max"); }
Result<Strategies> smallest(const ShardingCall& call) { return positions(call, "min"); }

/// Along one dimension, which stays.
Result<Strategies> scan(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  const Placements placements = replicatedOn(spec.placements, {call.dimension("dim", spec.dims())});
  return Strategies{{{placements}, {placements}, {}}};
}

/// What the powers of a norm leave.
Placement normPartial(const Value& order) {
  const double norm = order.as<double>()         ? *order.as<double>()
                      : order.as<std::int64_t>() ? double(*order.as<std::int64_t>())
                                                 : 2;
  if (std::isinf(norm)) return Placement::partial(norm > 0 ? "max" : "min");
  return norm == 0 ? Placement::partial("sum") : Placement::normPartial(norm);
}

/// Norms of norms are norms, but a partial sum is no part of one.
Reduction normOf(const Spec& spec, Reduction like) {
  if (spec.isPartial()) like.isLinear = false;
  return like;
}

Result<Strategies> vectorNorm(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  return Strategies{reduced(spec, call.mesh, normOf(spec, reductionOf(call, normPartial(call.args.values[1]), true)))};
}

Result<Strategies> foreachNorm(const ShardingCall& call) {
  Strategy strategy;
  for (const ShardedOperand* operand : call.items(0)) {
    Sizes all(operand->spec.sizes.size());
    std::iota(all.begin(), all.end(), 0);
    const Reduction like = normOf(operand->spec, {all, false, true, normPartial(call.args.values[1])});
    const Strategy one = reduced(operand->spec, call.mesh, like);
    strategy.outputs.push_back(one.outputs[0]);
    strategy.inputs.push_back(one.inputs[0]);
  }
  return Strategies{std::move(strategy)};
}

/// Sorted lines must be whole; other dimensions may be sharded.
Result<Strategies> sorted(const ShardingCall& call, std::int64_t fallback, std::size_t outputs) {
  const std::int64_t rank = call.spec(0).dims(), dim = call.dimension("dim", rank, fallback);
  std::vector<OneDim> choices{OneDim(outputs + 1)};
  for (std::int64_t d = 0; d < rank; ++d)
    if (d != dim) choices.push_back(OneDim(outputs + 1, Placement::shard(d)));
  return expandToMesh(call, choices, outputs);
}
Result<Strategies> sort(const ShardingCall& call) { return sorted(call, -1, 2); }
Result<Strategies> argsort(const ShardingCall& call) { return sorted(call, -1, 1); }

/// Counts of parts add up where the bins do not depend on the values.
Result<Strategies> histogram(const ShardingCall& call) {
  std::vector<OneDim> choices{OneDim(2)};
  const bool hasBounds = call.args.number(2) != 0 || call.args.number(3) != 0;
  for (std::int64_t d = 0; hasBounds && d < call.spec(0).dims(); ++d)
    choices.push_back({Placement::partial(), Placement::shard(d)});
  return expandToMesh(call, choices, 1);
}

constexpr ShardingRow rows[] = {
    {"aten.all.default", product},
    {"aten.all.dim", product},
    {"aten.sum.default", sum},
    {"aten.sum.dim_IntList", sum},
    {"aten.any.default", sum},
    {"aten.any.dim", sum},
    {"aten.prod.default", product},
    {"aten.prod.dim_int", product},
    {"aten.mean.default", mean},
    {"aten.mean.dim", mean},
    {"aten.max.default", maximum},
    {"aten.min.default", minimum},
    {"aten.amax.default", maximum},
    {"aten.amin.default", minimum},
    {"aten.max.dim", largest},
    {"aten.min.dim", smallest},
    {"aten.argmax.default", largest},
    {"aten.argmin.default", smallest},
    {"aten.cumsum.default", scan},
    {"aten.cumprod.default", scan},
    {"aten.logcumsumexp.default", scan},
    {"aten.std.correction", whole},
    {"aten.var.correction", whole},
    {"aten.var_mean.correction", whole},
    {"aten.logsumexp.default", whole},
    {"aten.linalg_vector_norm.default", vectorNorm},
    {"aten._foreach_norm.Scalar", foreachNorm},
    {"aten.topk.default", sort},
    {"aten.sort.default", sort},
    {"aten.sort.stable", sort},
    {"aten.argsort.default", argsort},
    {"aten.argsort.stable", argsort},
    {"aten.histc.default", histogram},
};
const ShardingRegistration registration(rows);

}  // namespace
}  // namespace kerf::inline distributed::inline sharding
