// Ops that make, copy, join and look up tensors.
#include <algorithm>

#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline sharding {
namespace {

/// As it is, partial or not.
Result<Strategies> same(const ShardingCall& call) {
  return Strategies{{{call.operands[0].spec.placements}, {call.operands[0].spec.placements}, {}}};
}

/// New values: what was partial is not.
Result<Strategies> like(const ShardingCall& call) {
  const Placements& given = call.operands[0].spec.placements;
  return Strategies{{{withoutPartials(given)}, {given}, {}}};
}

/// fill_ and zero_ write the same number everywhere: of a pending sum it would be counted by each rank.
Result<Strategies> filled(const ShardingCall& call) {
  const Placements& given = call.operands[0].spec.placements;
  for (const Placement& placement : given)
    if (placement.isPartial() && call.args.op->schema.name != "aten::zero_" && !placement.isPartialOf("avg") &&
        !placement.isPartialOf("max") && !placement.isPartialOf("min"))
      return fail(ErrorCode::UnsupportedOp, "{} of {} would be counted by every rank", call.args.opName(),
                  placementsText(given));
  return same(call);
}

/// The number of fill_ as a tensor, which must be whole.
Result<Strategies> filledWith(const ShardingCall& call) {
  const Placements& given = call.operands[0].spec.placements;
  if (call.operands[0].spec.isPartial())
    return fail(ErrorCode::UnsupportedOp, "{} of {} would be counted by every rank", call.args.opName(),
                placementsText(given));
  return Strategies{{{given}, {given, call.replicated()}, {}}};
}

Result<Strategies> newTensor(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  Strategies result{{{call.replicated()}, {spec.placements}, 0.0}};
  const bool isOfGivenSize = call.outputs[0].sizes() == spec.sizes;
  const bool needsEven = call.args.op->schema.name == "aten::new_empty_strided";
  if (isOfGivenSize && spec.isSharded() && !(needsEven && !isEvenlyShardable(spec, call.mesh)))
    result.push_back({{withoutPartials(spec.placements)}, {spec.placements}, -0.1});
  return result;
}

Result<Strategies> random(const ShardingCall& call) {
  const Spec& spec = call.operands[0].spec;
  if (spec.isPartial()) return fail(ErrorCode::UnsupportedOp, "{} of a partial tensor", call.args.opName());
  return same(call);
}

Result<Strategies> scatter(const ShardingCall& call) {
  return expandToMesh(call, {OneDim(1 + call.operands.size())}, 1);
}

Result<Strategies> scatterAdd(const ShardingCall& call) {
  const Spec &self = call.spec(0), &index = call.spec(2);
  const std::int64_t dim = call.dimension("dim", self.dims());
  std::vector<OneDim> choices{OneDim(4)};
  for (std::int64_t d = 0; self.dims() == index.dims() && d < self.dims(); ++d)
    if (d != dim && self.sizes[std::size_t(d)] == index.sizes[std::size_t(d)])
      choices.push_back(OneDim(4, Placement::shard(d)));
  return expandToMesh(call, choices, 1);
}

Result<Strategies> gather(const ShardingCall& call) {
  const Spec &self = call.spec(0), &index = call.spec(2);
  const std::int64_t dim = call.dimension("dim", self.dims());
  std::vector<OneDim> choices{OneDim(3)};
  if (dim < index.dims() && index.sizes[std::size_t(dim)] == 1) {
    const Placement masked = Placement::maskPartial(self.sizes, dim);
    choices.push_back({masked, Placement::shard(dim), masked});
  }
  choices.push_back({Placement::shard(dim), Placement::replicate(), Placement::shard(dim)});
  for (std::int64_t d = 0; self.dims() == index.dims() && d < self.dims(); ++d)
    if (d != dim && self.sizes[std::size_t(d)] == index.sizes[std::size_t(d)])
      choices.push_back(OneDim(3, Placement::shard(d)));
  return expandToMesh(call, choices, 1);
}

Result<Strategies> embedding(const ShardingCall& call) {
  const Spec &weight = call.spec(0), &indices = call.spec(1);
  const Placement masked = Placement::maskPartial(weight.sizes, 0), whole;
  std::vector<OneDim> choices{
      OneDim(3), {Placement::shard(indices.dims()), Placement::shard(1), whole}, {masked, Placement::shard(0), masked}};
  for (std::int64_t d = 0; d < indices.dims(); ++d)
    choices.push_back({Placement::shard(d), whole, Placement::shard(d)});
  return expandToMesh(call, choices, 1);
}

Result<Strategies> embeddingBackward(const ShardingCall& call) {
  const Spec &grad = call.spec(0), &indices = call.spec(1);
  const Placement sum = Placement::partial(), whole;
  std::vector<OneDim> choices{OneDim(3), {Placement::shard(1), Placement::shard(grad.dims() - 1), whole}};
  for (std::int64_t d = 0; d < indices.dims(); ++d) choices.push_back({sum, Placement::shard(d), Placement::shard(d)});
  choices.push_back({sum, sum, whole});
  return expandToMesh(call, choices, 1);
}

Placement merged(const Placement& before, const Placement& next) {
  if (before == next) return before;
  if (before.isPartial()) return next.isShard() ? next : next.isPartial() ? Placement::replicate() : before;
  if (before.isShard()) return next.isShard() ? Placement::replicate() : before;
  return next;
}

Result<Strategies> stack(const ShardingCall& call) {
  const auto items = call.items(0);
  if (items.empty()) return fail(ErrorCode::BadInput, "{} of no tensors", call.args.opName());
  Placements follow = items[0]->spec.placements;
  for (const ShardedOperand* item : items)
    for (std::size_t i = 0; i < follow.size(); ++i) follow[i] = merged(follow[i], item->spec.placements[i]);
  const std::int64_t dim = call.dimension("dim", items[0]->spec.dims() + 1);
  return Strategies{{{shiftedAfterInsert(follow, dim)}, std::vector<Placements>(items.size(), follow), {}}};
}

Result<Strategies> cat(const ShardingCall& call) {
  const auto items = call.items(0);
  Strategies result;
  for (const ShardedOperand* item : items) {
    const Placements follow = withoutShardOf(item->spec.placements, call.dimension("dim", item->spec.dims()));
    if (std::ranges::any_of(result, [&](const Strategy& known) { return known.outputs[0] == follow; })) continue;
    result.push_back({{follow}, std::vector<Placements>(items.size(), follow), {}});
  }
  if (result.empty()) return fail(ErrorCode::BadInput, "{} of no tensors", call.args.opName());
  return result;
}

/// Which dimensions of self tensors look up, in order.
struct Lookups {
  Sizes dims;
  std::vector<std::size_t> operands;  ///< their places among the operands
  bool areConsecutive() const {
    for (std::size_t i = 1; i < dims.size(); ++i)
      if (dims[i] != dims[i - 1] + 1) return false;
    return true;
  }
};

/// Index tensors together: sharded alike where they are, replicated where they differ.
Result<Strategies> lookedUp(const ShardingCall& call, const Lookups& lookups) {
  Strategy strategy;
  for (const ShardedOperand& operand : call.operands)
    strategy.inputs.push_back(withoutPartials(operand.spec.placements));
  for (std::size_t m = 0; m < call.meshDims(); ++m)  // rows of parts of a sum are parts of rows of the sum
    if (const Placement& given = call.spec(0).placements[m]; given.kind == Placement::Kind::Partial)
      strategy.inputs[0][m] = given;
  std::int64_t indexDims = 0;
  for (const std::size_t i : lookups.operands) indexDims = std::max(indexDims, call.operands[i].spec.dims());
  const std::int64_t at = lookups.areConsecutive() ? lookups.dims[0] : 0;
  Placements out(call.meshDims());
  for (std::size_t m = 0; m < call.meshDims(); ++m) {
    Placement index = strategy.inputs[lookups.operands[0]][m];
    for (const std::size_t i : lookups.operands) {
      const bool isAlike = strategy.inputs[i][m] == index &&
                           call.operands[i].spec.sizes == call.operands[lookups.operands[0]].spec.sizes;
      if (!isAlike) index = Placement::replicate();
    }
    Placement& value = strategy.inputs[0][m];
    if (value.isPartial() || call.outputs[0].dim() == 0) index = Placement::replicate();
    for (const std::size_t i : lookups.operands) strategy.inputs[i][m] = index;
    const bool isLookedUp = value.isShard() && std::ranges::find(lookups.dims, value.dim) != lookups.dims.end();
    if (isLookedUp || (value.isShard() && index.isShard())) value = Placement::replicate();
    if (value.isShard()) {
      const auto before = std::ranges::count_if(lookups.dims, [&](std::int64_t d) { return d < value.dim; });
      out[m] = value.dim < at ? value : value.onDim(value.dim + indexDims - before);
    } else if (index.isShard()) {
      out[m] = index.onDim(index.dim + at);
    } else if (value.isPartial()) {
      out[m] = value;
    }
  }
  strategy.outputs = {out};
  return Strategies{std::move(strategy)};
}

Result<Strategies> indexTensor(const ShardingCall& call) {
  Lookups lookups;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].argument != 1) continue;
    if (call.operands[i].spec.dtype == DType::Bool)
      return fail(ErrorCode::UnsupportedOp, "{} with a mask has a size that depends on values", call.args.opName());
    lookups.dims.push_back(call.operands[i].item);
    lookups.operands.push_back(i);
  }
  if (lookups.dims.empty()) return same(call);
  return lookedUp(call, lookups);
}

/// Positions may be shared out, where what they look up is whole.
Result<Strategies> indexSelect(const ShardingCall& call) {
  const std::int64_t rank = call.spec(0).dims(), dim = call.dimension("dim", rank);
  const Placement whole;
  std::vector<OneDim> choices;
  if (rank > 0) choices.push_back({Placement::shard(dim), whole, Placement::shard(0)});
  choices.push_back(OneDim(3));
  for (std::int64_t d = 0; d < rank; ++d)
    if (d != dim) choices.push_back({Placement::shard(d), Placement::shard(d), whole});
  for (const Placement& given : call.spec(0).placements)  // rows of parts of a sum are parts of rows of the sum
    if (given.kind == Placement::Kind::Partial) choices.push_back({given, given, whole});
  return expandToMesh(call, choices, 1);
}

Result<Strategies> indexPut(const ShardingCall& call) {
  const Spec &self = call.spec(0), &values = call.spec(2);
  const std::int64_t offset = self.dims() - values.dims();
  const auto lookups = std::int64_t(call.args.values[1].list().size());
  // Dimensions behind the looked-up ones line up; leading ones belong to the indices.
  const auto isFree = [&](std::int64_t dim) {
    return dim >= lookups && dim - offset >= 0 &&
           values.sizes[std::size_t(dim - offset)] == self.sizes[std::size_t(dim)];
  };
  Strategies result;
  for (const Spec* leader : {&self, &values}) {
    Strategy strategy{{call.replicated()}, std::vector<Placements>(call.operands.size(), call.replicated()), {}};
    for (std::size_t m = 0; m < call.meshDims(); ++m) {
      const Placement& given = leader->placements[m];
      if (!given.isShard()) continue;
      const std::int64_t dim = leader == &self ? given.dim : given.dim + offset;
      if (!isFree(dim)) continue;
      strategy.inputs.front()[m] = strategy.outputs[0][m] = given.onDim(dim);
      strategy.inputs.back()[m] = given.onDim(dim - offset);
    }
    result.push_back(std::move(strategy));
  }
  return result;
}

Result<Strategies> sliceScatter(const ShardingCall& call) {
  const Spec& self = call.spec(0);
  const Placements to = replicatedOn(self.placements, {call.dimension("dim", self.dims())});
  return Strategies{{{to}, {to, to}, {}}};
}

Result<Strategies> bucketize(const ShardingCall& call) {
  const Placements to = withoutPartials(call.spec(0).placements);
  return Strategies{{{to}, {to, call.replicated()}, {}}};
}

Result<Strategies> equal(const ShardingCall& call) {
  const Spec &self = call.spec(0), &other = call.spec(1);
  const Spec& leader = self.shards(call.mesh) >= other.shards(call.mesh) ? self : other;
  const Placements to = self.dims() == 0 || other.dims() == 0 ? call.replicated() : withoutPartials(leader.placements);
  return Strategies{{{}, {to, to}, {}}};
}

constexpr ShardingRow rows[] = {
    {"aten.clone.default", same},
    {"aten.contiguous.default", same},
    {"aten.detach.default", same},
    {"aten.alias.default", same},
    {"aten._to_copy.default", same},
    {"aten.empty_like.default", same},
    {"aten.fill_.Scalar", filled},
    {"aten.fill_.Tensor", filledWith},
    {"aten.zero_.default", filled},
    {"aten.ones_like.default", like},
    {"aten.zeros_like.default", like},
    {"aten.full_like.default", like},
    {"aten.rand_like.default", like},
    {"aten.randn_like.default", like},
    {"aten.randint_like.default", like},
    {"aten.randint_like.low_dtype", like},
    {"aten.new_empty.default", newTensor},
    {"aten.new_full.default", newTensor},
    {"aten.new_ones.default", newTensor},
    {"aten.new_zeros.default", newTensor},
    {"aten.new_empty_strided.default", newTensor},
    {"aten.normal_.default", random},
    {"aten.uniform_.default", random},
    {"aten.native_dropout.default", random},
    {"aten.bernoulli_.float", random},
    {"aten.bernoulli.default", random},
    {"aten.bernoulli.p", random},
    {"aten.scatter.value", scatter},
    {"aten.scatter.src", scatter},
    {"aten.scatter_.value", scatter},
    {"aten.scatter_.src", scatter},
    {"aten.scatter_add.default", scatterAdd},
    {"aten.gather.default", gather},
    {"aten.embedding.default", embedding},
    {"aten.embedding_dense_backward.default", embeddingBackward},
    {"aten.stack.default", stack},
    {"aten.cat.default", cat},
    {"aten.index.Tensor", indexTensor},
    {"aten.index_select.default", indexSelect},
    {"aten.index_put.default", indexPut},
    {"aten.index_put_.default", indexPut},
    {"aten._index_put_impl_.default", indexPut},
    {"aten.slice_scatter.default", sliceScatter},
    {"aten.bucketize.Tensor", bucketize},
    {"aten.equal.default", equal},
    {"aten._local_scalar_dense.default", replicatedStrategies},
};
const ShardingRegistration registration(rows);

}  // namespace
}  // namespace kerf::inline distributed::inline sharding
