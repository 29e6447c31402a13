// Layers and losses: what they normalize must be whole; batches may be sharded.
#include <algorithm>

#include "engine/distributed/sharding/halo_plan.h"
#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline sharding {
namespace {

Result<Strategies> softmax(const ShardingCall& call) {
  const Placements to = replicatedOn(call.spec(0).placements, {call.dimension("dim", call.spec(0).dims())});
  return Strategies{{{to}, {to}, {}}};
}

Result<Strategies> softmaxBackward(const ShardingCall& call) {
  const Spec &grad = call.spec(0), &out = call.spec(1);
  const Spec& leader = grad.shards(call.mesh) >= out.shards(call.mesh) ? grad : out;
  const Placements to = replicatedOn(leader.placements, {call.dimension("dim", grad.dims())});
  return Strategies{{{to}, {to, to}, {}}};
}

/// Placements of the targets of logits placed like that.
Placements ofTargets(const Placements& logits, std::int64_t channels) {
  Placements result = logits;
  for (Placement& placement : result) placement.dim -= placement.isShard() && placement.dim >= channels ? 1 : 0;
  return result;
}

constexpr std::int64_t noReduction = 0, meanReduction = 1;

std::int64_t reductionOf(const ShardingCall& call) {
  const Value value = call.named("reduction");
  return value.as<std::int64_t>() ? *value.as<std::int64_t>() : meanReduction;
}

Placements whereSharded(const Placements& placements, const char* reduction) {
  Placements result = placements;
  for (Placement& placement : result)
    if (placement.isShard()) placement = Placement::partial(reduction);
  return result;
}

std::int64_t channelDim(const Spec& logits) { return logits.dims() >= 2 ? 1 : 0; }

/// The mean of parts is the mean of the whole where every part counts the same number of targets: not with weights,
/// which each part would divide by its own.
Result<Strategies> lossForward(const ShardingCall& call) {
  const Spec& logits = call.spec(0);
  const std::int64_t reduction = reductionOf(call), channels = channelDim(logits);
  Placements input = replicatedOn(logits.placements, {channels});
  const ShardedOperand* weight = call.find(2);
  if (reduction == meanReduction && weight != nullptr) input = call.replicated();
  const Placements target = ofTargets(input, channels);
  const Spec& targets = call.spec(1);
  if (reduction == meanReduction && !isEvenlyShardable({target, targets.sizes}, call.mesh))
    return fail(ErrorCode::UnsupportedOp, "{}: the mean over an unevenly sharded batch {} would be biased",
                call.args.opName(), placementsText(target));
  Strategy strategy{{}, {input, target}, {}};
  if (weight != nullptr) strategy.inputs.push_back(call.replicated());
  if (reduction == noReduction)
    strategy.outputs = {target, call.replicated()};
  else
    strategy.outputs = {whereSharded(target, reduction == meanReduction ? "avg" : "sum"), whereSharded(target, "sum")};
  return Strategies{std::move(strategy)};
}

Result<Strategies> lossBackward(const ShardingCall& call) {
  const Spec& logits = call.spec(1);
  const std::int64_t channels = channelDim(logits);
  const Placements input = replicatedOn(logits.placements, {channels}), target = ofTargets(input, channels);
  Strategy strategy{{input}, {}, {}};
  for (const ShardedOperand& operand : call.operands) {
    if (operand.argument == 1)
      strategy.inputs.push_back(input);
    else if (operand.argument == 2 || (operand.argument == 0 && reductionOf(call) == noReduction))
      strategy.inputs.push_back(target);
    else
      strategy.inputs.push_back(call.replicated());
  }
  return Strategies{std::move(strategy)};
}

std::int64_t normalizedFrom(const ShardingCall& call, const Spec& input) {
  const Value shape = call.named("normalized_shape");
  return input.dims() - (shape.isList() ? std::int64_t(shape.list().size()) : 1);
}

Result<Strategies> norm(const ShardingCall& call) {
  const Placements to = replicatedFrom(call.spec(0).placements, normalizedFrom(call, call.spec(0)));
  Strategy strategy{{to}, std::vector<Placements>(call.operands.size(), call.replicated()), {}};
  strategy.inputs[0] = to;
  return Strategies{std::move(strategy)};
}

/// Gradients of weight and bias are sums over the sharded rows.
Result<Strategies> normBackward(const ShardingCall& call) {
  const Placements to = replicatedFrom(call.spec(1).placements, normalizedFrom(call, call.spec(1)));
  const Placements ofWeight = whereSharded(to, "sum");
  Strategy strategy{{to, ofWeight, ofWeight}, {}, {}};
  for (const ShardedOperand& operand : call.operands) {
    const std::string& name = call.args.op->schema.arguments[operand.argument].name;
    strategy.inputs.push_back(name == "weight" || name == "bias" ? call.replicated() : to);
  }
  return Strategies{std::move(strategy)};
}

/// Where an input may stay: sharded batches, and widths and heights whose halos can be planned.
Placements convolved(const ShardingCall& call, const Spec& input) {
  const Value transposed = call.named("transposed");
  const bool* isTransposed = transposed.as<bool>();
  Placements result = input.placements;
  std::vector<std::int64_t> taken;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Placement& given = input.placements[i];
    if (given.isShardOf(0)) continue;
    const bool isSpatial = given.kind == Placement::Kind::Shard && given.dim >= 2 && given.dim < input.dims() &&
                           std::ranges::find(taken, given.dim) == taken.end() &&
                           (isTransposed == nullptr || !*isTransposed);
    const bool isPlanned =
        isSpatial && planHalo(windowOf(call.args, given.dim), input.sizes[std::size_t(given.dim)], call.mesh.size(i));
    if (isPlanned)
      taken.push_back(given.dim);
    else
      result[i] = Placement::replicate();
  }
  return result;
}

Result<Strategies> convolution(const ShardingCall& call) {
  const Placements to = convolved(call, call.spec(0));
  Strategy strategy{{to}, std::vector<Placements>(call.operands.size(), call.replicated()), {}};
  strategy.inputs[0] = to;
  return Strategies{std::move(strategy)};
}

Result<Strategies> convolutionBackward(const ShardingCall& call) {
  const Placements to = convolved(call, call.spec(1)), ofWeight = whereSharded(to, "sum");
  return Strategies{{{to, ofWeight, ofWeight}, {to, to, call.replicated()}, {}}};
}

constexpr ShardingRow rows[] = {
    {"aten._softmax.default", softmax},
    {"aten._log_softmax.default", softmax},
    {"aten._safe_softmax.default", softmax},
    {"aten._softmax_backward_data.default", softmaxBackward},
    {"aten._log_softmax_backward_data.default", softmaxBackward},
    {"aten.nll_loss_forward.default", lossForward},
    {"aten.nll_loss2d_forward.default", lossForward},
    {"aten.nll_loss_backward.default", lossBackward},
    {"aten.nll_loss2d_backward.default", lossBackward},
    {"aten.native_layer_norm.default", norm},
    {"aten._fused_rms_norm.default", norm},
    {"aten.native_layer_norm_backward.default", normBackward},
    {"aten._fused_rms_norm_backward.default", normBackward},
    {"aten.convolution.default", convolution},
    {"aten.convolution_backward.default", convolutionBackward},
    {"aten.tril.default", replicatedStrategies},
    {"aten.triu.default", replicatedStrategies},
    {"aten.diagonal.default", replicatedStrategies},
    {"aten.diagonal_copy.default", replicatedStrategies},
    {"aten.diag_embed.default", replicatedStrategies},
    {"aten._linalg_svd.default", replicatedStrategies},
    {"aten.linalg_qr.default", replicatedStrategies},
    {"aten._linalg_eigh.default", replicatedStrategies},
    {"aten.upsample_bilinear2d.default", replicatedStrategies},
    {"aten.upsample_nearest2d.default", replicatedStrategies},
    {"aten.upsample_bicubic2d.default", replicatedStrategies},
};
const ShardingRegistration registration(rows);

}  // namespace
}  // namespace kerf::inline distributed::inline sharding
