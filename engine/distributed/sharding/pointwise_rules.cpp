// Element-wise ops: results follow the operand with the most shards; sums pass through linear ones.
#include <algorithm>
#include <array>

#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline sharding {
namespace {

/// Sizes of the operands broadcast together.
Sizes broadcastSizes(const std::vector<const ShardedOperand*>& operands) {
  Sizes common;
  for (const ShardedOperand* operand : operands) {
    const Sizes& sizes = operand->spec.sizes;
    if (sizes.size() > common.size()) common.insert(common.begin(), sizes.size() - common.size(), 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = common[common.size() - sizes.size() + i];
      if (size == 1) size = sizes[i];
    }
  }
  return common;
}

/// Placements of a result as those of an operand that is broadcast to it.
Placements beforeBroadcast(const Placements& placements, const Sizes& common, const Sizes& sizes, bool dropsPartials) {
  Placements result = placements;
  const auto missing = std::int64_t(common.size()) - std::int64_t(sizes.size());
  for (Placement& placement : result) {
    if (placement.isPartial() && dropsPartials) placement = Placement::replicate();
    if (!placement.isShard()) continue;
    const std::int64_t dim = placement.dim - missing;
    const bool kept = dim >= 0 && sizes[std::size_t(dim)] == common[std::size_t(placement.dim)];
    placement = kept ? placement.onDim(dim) : Placement::replicate();
  }
  return result;
}

bool isOneOf(const ShardingCall& call, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, std::string_view(call.args.op->schema.name)) != names.end();
}

bool isNumberValue(const Value& value) { return value.as<std::int64_t>() || value.as<double>() || value.as<bool>(); }

bool hasNumber(const ShardingCall& call) {
  for (std::size_t i = 0; i < call.args.values.size(); ++i)
    if (!call.args.op->schema.arguments[i].keywordOnly && isNumberValue(call.args.values[i])) return true;
  return false;
}

/// Whether a scalar operand lets powers of a norm through: it must not be negative.
bool scalesNorm(const ShardingCall& call) {
  if (!isOneOf(call, {"aten::div", "aten::div_", "aten::mul", "aten::mul_"})) return false;
  return call.args.values.size() > 1 && isNumberValue(call.args.values[1]) && call.args.number(1) >= 0;
}

/// Whether a pending sum passes the op.
bool passes(const ShardingCall& call, const Placement& placement, int linearity, std::string_view kept) {
  if (kept == "all" || (!kept.empty() && placement.isPartialOf(kept))) return true;
  if (linearity < 0 || placement.kind == Placement::Kind::MaskPartial) return false;
  if (placement.kind == Placement::Kind::NormPartial) return scalesNorm(call);
  if (placement.reduction != "sum" && placement.reduction != "avg") return false;
  return !(isOneOf(call, {"aten::add", "aten::add_", "aten::sub", "aten::sub_"}) && hasNumber(call));
}

const ShardedOperand* followed(const ShardingCall& call, const std::vector<const ShardedOperand*>& operands) {
  if (call.isInplace()) return operands[0];
  if (const ShardedOperand* out = call.out()) return out;
  const ShardedOperand* best = nullptr;
  std::int64_t shards = -1, dims = -1;
  for (const ShardedOperand* operand : operands) {
    const std::int64_t count = operand->spec.shards(call.mesh), rank = operand->spec.dims();
    if (count < shards || (count == shards && rank <= dims)) continue;
    best = operand;
    shards = count;
    dims = rank;
  }
  return best;
}

/// Which operands still have partials after the result's placements are laid on them.
bool dropsPartials(const ShardedOperand* operand, const ShardedOperand* leader, const Placements& out, int linearity,
                   std::string_view kept) {
  if (operand == leader) return false;
  if (linearity == 2) return true;
  if (kept.empty()) return false;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].isPartial() && operand->spec.placements[i].isPartial() && !(out[i] == operand->spec.placements[i]))
      return true;
  return false;
}

/// A pending sum may be divided, but nothing may be divided by its parts.
bool isDivisor(const ShardingCall& call, const ShardedOperand* operand) {
  return operand->argument == 1 && isOneOf(call, {"aten::div", "aten::div_"});
}

Strategy pointwiseOver(const ShardingCall& call, const std::vector<const ShardedOperand*>& operands, int linearity,
                       std::string_view kept) {
  const ShardedOperand* leader = followed(call, operands);
  std::vector<const ShardedOperand*> broadcast;
  for (const ShardedOperand* operand : operands)
    if (operand != call.out()) broadcast.push_back(operand);
  const Sizes common = broadcastSizes(broadcast);
  Placements out = leader->spec.placements;
  for (Placement& placement : out) {
    if (placement.isShard()) placement.dim += std::int64_t(common.size()) - leader->spec.dims();
    if (placement.isPartial() && (isDivisor(call, leader) || !passes(call, placement, linearity, kept)))
      placement = Placement::replicate();
  }
  Strategy strategy{{out}, {}, {}};
  for (const ShardedOperand* operand : operands)
    strategy.inputs.push_back(
        operand == call.out()
            ? out
            : beforeBroadcast(out, common, operand->spec.sizes, dropsPartials(operand, leader, out, linearity, kept)));
  return strategy;
}

template <int linearity>
Result<Strategies> linear(const ShardingCall& call) {
  return pointwiseStrategies(call, linearity);
}
Result<Strategies> pointwise(const ShardingCall& call) { return pointwiseStrategies(call); }
Result<Strategies> keepsMax(const ShardingCall& call) { return pointwiseStrategies(call, -1, "max"); }
Result<Strategies> keepsMin(const ShardingCall& call) { return pointwiseStrategies(call, -1, "min"); }
Result<Strategies> keepsAll(const ShardingCall& call) { return pointwiseStrategies(call, -1, "all"); }

/// Ops that PyTorch places by their decompositions: the cheapest shard of any dimension, not that of an operand.
Result<Strategies> cheapestShard(const ShardingCall& call) {
  const Sizes& sizes = call.outputs[0].sizes();
  std::vector<OneDim> choices{OneDim(1 + call.operands.size())};
  for (std::int64_t d = 0; d < std::int64_t(sizes.size()); ++d) {
    OneDim choice{Placement::shard(d)};
    for (const ShardedOperand& operand : call.operands)
      choice.push_back(beforeBroadcast({Placement::shard(d)}, sizes, operand.spec.sizes, true)[0]);
    choices.push_back(std::move(choice));
  }
  return expandToMesh(call, withShardKinds(call, choices, 1), 1);
}

/// _foreach_ ops: item by item.
template <int linearity>
Result<Strategies> listwise(const ShardingCall& call) {
  std::size_t count = call.items(0).size();
  Strategy whole;
  whole.inputs.assign(call.operands.size(), call.replicated());
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<const ShardedOperand*> own;
    for (const ShardedOperand& operand : call.operands)
      if (operand.item < 0 || operand.item == int(i)) own.push_back(&operand);
    const Strategy one = pointwiseOver(call, own, linearity, {});
    whole.outputs.push_back(one.outputs[0]);
    for (std::size_t k = 0; k < own.size(); ++k)
      whole.inputs[std::size_t(own[k] - call.operands.data())] = one.inputs[k];
  }
  return Strategies{std::move(whole)};
}

constexpr ShardingRow linearRows[] = {
    {"aten.add.Tensor", linear<1>},   {"aten.add_.Tensor", linear<1>},    {"aten.sub.Tensor", linear<1>},
    {"aten.sub_.Tensor", linear<1>},  {"aten.div.Scalar", linear<0>},     {"aten.div_.Scalar", linear<0>},
    {"aten.div.Tensor", linear<2>},   {"aten.div_.Tensor", linear<2>},    {"aten.mul.Scalar", linear<0>},
    {"aten.mul_.Scalar", linear<0>},  {"aten.mul.Tensor", linear<2>},     {"aten.mul_.Tensor", linear<2>},
    {"aten.neg.default", linear<0>},  {"aten.neg_.default", linear<0>},   {"aten.maximum.default", keepsMax},
    {"aten.maximum.out", keepsMax},   {"aten.minimum.default", keepsMin}, {"aten.minimum.out", keepsMin},
    {"aten.copy_.default", keepsAll},
};
const ShardingRegistration linearRegistration(linearRows);

#define KERF_FOREACH(name) {"aten._foreach_" name, listwise<-1>}
#define KERF_FOREACH_LINEAR(name) {"aten._foreach_" name, listwise<1>}
constexpr ShardingRow foreachRows[] = {
    KERF_FOREACH("abs.default"),        KERF_FOREACH("abs_.default"),
    KERF_FOREACH("addcdiv_.Scalar"),    KERF_FOREACH("addcdiv_.ScalarList"),
    KERF_FOREACH("addcdiv_.Tensor"),    KERF_FOREACH("addcmul.Scalar"),
    KERF_FOREACH("addcmul_.Scalar"),    KERF_FOREACH("addcmul_.ScalarList"),
    KERF_FOREACH("addcmul_.Tensor"),    KERF_FOREACH("clamp_max_.Scalar"),
    KERF_FOREACH("clamp_min_.Scalar"),  KERF_FOREACH("div_.List"),
    KERF_FOREACH("div_.Scalar"),        KERF_FOREACH("div_.ScalarList"),
    KERF_FOREACH("div_.Tensor"),        KERF_FOREACH("div.List"),
    KERF_FOREACH("div.Scalar"),         KERF_FOREACH("div.ScalarList"),
    KERF_FOREACH("div.Tensor"),         KERF_FOREACH("lerp_.Scalar"),
    KERF_FOREACH("maximum_.List"),      KERF_FOREACH("mul.Scalar"),
    KERF_FOREACH("mul.ScalarList"),     KERF_FOREACH("mul.Tensor"),
    KERF_FOREACH("mul.List"),           KERF_FOREACH("mul_.Scalar"),
    KERF_FOREACH("mul_.ScalarList"),    KERF_FOREACH("mul_.Tensor"),
    KERF_FOREACH("mul_.List"),          KERF_FOREACH("pow.List"),
    KERF_FOREACH("pow.ScalarList"),     KERF_FOREACH("neg.default"),
    KERF_FOREACH("neg_.default"),       KERF_FOREACH("reciprocal_.default"),
    KERF_FOREACH("sub.Scalar"),         KERF_FOREACH("sub_.Scalar"),
    KERF_FOREACH("sub.List"),           KERF_FOREACH("sub_.List"),
    KERF_FOREACH("sub.ScalarList"),     KERF_FOREACH("sub_.ScalarList"),
    KERF_FOREACH("sqrt.default"),       KERF_FOREACH("sqrt_.default"),
    KERF_FOREACH("zero_.default"),      KERF_FOREACH("exp.default"),
    KERF_FOREACH("exp_.default"),       KERF_FOREACH("cos.default"),
    KERF_FOREACH("cos_.default"),       KERF_FOREACH("log.default"),
    KERF_FOREACH("log_.default"),       KERF_FOREACH_LINEAR("add.Scalar"),
    KERF_FOREACH_LINEAR("add_.Scalar"), KERF_FOREACH_LINEAR("add_.ScalarList"),
    KERF_FOREACH("add.List"),           KERF_FOREACH("add_.List"),
};
const ShardingRegistration foreachRegistration(foreachRows);

constexpr ShardingRow decomposedRows[] = {
    {"aten.elu.default", cheapestShard},         {"aten.mish.default", cheapestShard},
    {"aten.leaky_relu.default", cheapestShard},  {"aten.softplus.default", cheapestShard},
    {"aten.hardtanh.default", cheapestShard},    {"aten.hardswish.default", cheapestShard},
    {"aten.hardsigmoid.default", cheapestShard}, {"aten.celu.default", cheapestShard},
    {"aten.threshold.default", cheapestShard},   {"aten.hardshrink.default", cheapestShard},
    {"aten.softshrink.default", cheapestShard},  {"aten.log_sigmoid.default", cheapestShard},
};
const ShardingRegistration decomposedRegistration(decomposedRows);

// Ops that are element-wise although their rows do not say so.
constexpr ShardingRow otherRows[] = {
    {"aten.masked_fill.Scalar", pointwise},
    {"aten.masked_fill_.Scalar", pointwise},
    {"aten.masked_fill.Tensor", pointwise},
    {"aten.where.self", pointwise},
    {"aten.add.out", pointwise},
    {"aten.exp.out", pointwise},
    {"aten.native_dropout_backward.default", pointwise},
};
const ShardingRegistration otherRegistration(otherRows);

}  // namespace

Result<Strategies> pointwiseStrategies(const ShardingCall& call, int linearity, std::string_view kept) {
  std::vector<const ShardedOperand*> operands;
  for (const ShardedOperand& operand : call.operands) operands.push_back(&operand);
  if (operands.empty()) return fail(ErrorCode::BadInput, "{} has no tensor to follow", call.args.opName());
  return Strategies{pointwiseOver(call, operands, linearity, kept)};
}

}  // namespace kerf::inline distributed::inline sharding
