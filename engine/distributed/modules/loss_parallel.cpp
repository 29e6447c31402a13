#include "engine/distributed/modules/loss_parallel.h"

#include <cmath>

#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline modules {
namespace {

using Reduction = CrossEntropyOptions::Reduction;

/// One rank's share of the classes.
struct ClassShard {
  std::int64_t dim = 1;  ///< of the classes among the logits
  std::int64_t start = 0, size = 0;
};

Result<ClassShard> shardOfClasses(const DTensorOps& ops, const Tensor& logits) {
  const Spec* spec = ops.specOf(logits);
  ClassShard shard{logits.dim() >= 2 ? 1 : 0, 0, 0};
  if (spec == nullptr || ops.mesh().dims() != 1 || !spec->placements[0].isShardOf(shard.dim))
    return fail(ErrorCode::UnsupportedOp,
                "loss_parallel needs logits sharded along dimension {} of a mesh of one dimension", shard.dim);
  const auto at = std::size_t(shard.dim);
  shard.start = localOffsets(*spec, ops.mesh(), ops.rank().coordinate)[at];
  shard.size = localSizes(*spec, ops.mesh(), ops.rank().coordinate)[at];
  return shard;
}

/// What the loss and its gradient are made of.
struct LossPieces {
  ClassShard shard;
  Tensor logProbabilities;  ///< of this rank's classes
  Tensor elsewhere;         ///< targets that are other ranks' classes, or ignored
  Tensor inside;            ///< targets counted from this rank's first class; 0 elsewhere
  Tensor weights;           ///< of each target; 0 where it is ignored
};

Result<Tensor> allReduced(const DTensorOps& ops, const Tensor& tensor, std::string_view op) {
  MeshRank& rank = ops.rank();
  ++rank.issued["c10d_functional.all_reduce"];
  return allReduce(rank.ranks, rank.group(0), tensor, op);
}

Result<Tensor> logSoftmax(const DTensorOps& ops, const Tensor& own, const ClassShard& shard) {
  const Value dims = intList({shard.dim});
  Sizes reduced = own.sizes();
  reduced[std::size_t(shard.dim)] = 1;
  KERF_TRY(const Tensor ownMax, shard.size > 0 ? callTensorOp("aten.amax.default"_op, {own, dims, true})
                                               : callTensorOp("aten.full.default"_op, {intList(reduced), -HUGE_VAL},
                                                              {{"dtype", own.dtype()}}));
  KERF_TRY(const Tensor max, allReduced(ops, ownMax, "max"));
  KERF_TRY(const Tensor shifted, callTensorOp("aten.sub.Tensor"_op, {own, max}));
  KERF_TRY(const Tensor powers, callTensorOp("aten.exp.default"_op, {shifted}));
  KERF_TRY(const Tensor ownSum, callTensorOp("aten.sum.dim_IntList"_op, {powers, dims, true}));
  KERF_TRY(const Tensor sum, allReduced(ops, ownSum, "sum"));
  KERF_TRY(const Tensor logSum, callTensorOp("aten.log.default"_op, {sum}));
  return callTensorOp("aten.sub.Tensor"_op, {shifted, logSum});
}

Result<void> findTargets(LossPieces& pieces, const Tensor& targets, const CrossEntropyOptions& options) {
  const ClassShard& shard = pieces.shard;
  KERF_TRY(const Tensor ignored, callTensorOp("aten.eq.Scalar"_op, {targets, options.ignoredIndex}));
  KERF_TRY(const Tensor below, callTensorOp("aten.lt.Scalar"_op, {targets, shard.start}));
  KERF_TRY(const Tensor above, callTensorOp("aten.ge.Scalar"_op, {targets, shard.start + shard.size}));
  KERF_TRY(const Tensor outside, callTensorOp("aten.logical_or.default"_op, {below, above}));
  KERF_TRY(pieces.elsewhere, callTensorOp("aten.logical_or.default"_op, {outside, ignored}));
  KERF_TRY(const Tensor counted, callTensorOp("aten.sub.Scalar"_op, {targets, shard.start}));
  KERF_TRY(pieces.inside, callTensorOp("aten.masked_fill.Scalar"_op, {counted, pieces.elsewhere, std::int64_t{0}}));
  KERF_TRY(Tensor weights,
           callTensorOp("aten.ones_like.default"_op, {targets}, {{"dtype", pieces.logProbabilities.dtype()}}));
  if (options.weight) {
    KERF_TRY(const Tensor known, callTensorOp("aten.masked_fill.Scalar"_op, {targets, ignored, std::int64_t{0}}));
    KERF_TRY(const Tensor flat, callTensorOp("aten.reshape.default"_op, {known, intList({-1})}));
    KERF_TRY(const Tensor looked,
             callTensorOp("aten.index_select.default"_op, {*options.weight, std::int64_t{0}, flat}));
    KERF_TRY(weights, callTensorOp("aten.reshape.default"_op, {looked, intList(targets.sizes())}));
  }
  KERF_TRY(pieces.weights, callTensorOp("aten.masked_fill.Scalar"_op, {weights, ignored, 0.0}));
  return {};
}

/// The negative weighted log probability of each target.
Result<Tensor> lossOfTargets(const DTensorOps& ops, const LossPieces& pieces) {
  KERF_TRY(Tensor own, callTensorOp("aten.zeros_like.default"_op, {pieces.weights}));
  if (pieces.shard.size > 0) {
    const std::int64_t dim = pieces.shard.dim;
    KERF_TRY(const Tensor index, callTensorOp("aten.unsqueeze.default"_op, {pieces.inside, dim}));
    KERF_TRY(const Tensor picked, callTensorOp("aten.gather.default"_op, {pieces.logProbabilities, dim, index}));
    KERF_TRY(const Tensor flat, callTensorOp("aten.squeeze.dim"_op, {picked, dim}));
    KERF_TRY(own, callTensorOp("aten.masked_fill.Scalar"_op, {flat, pieces.elsewhere, 0.0}));
  }
  KERF_TRY(const Tensor all, allReduced(ops, own, "sum"));
  KERF_TRY(const Tensor negative, callTensorOp("aten.neg.default"_op, {all}));
  return callTensorOp("aten.mul.Tensor"_op, {negative, pieces.weights});
}

/// (softmax - one at the target) · weight · flow.
Result<Tensor> gradientOfLogits(const LossPieces& pieces, const Tensor& flow) {
  const std::int64_t dim = pieces.shard.dim;
  KERF_TRY(const Tensor probabilities, callTensorOp("aten.exp.default"_op, {pieces.logProbabilities}));
  Tensor slope = probabilities;
  if (pieces.shard.size > 0) {
    KERF_TRY(const Tensor index, callTensorOp("aten.unsqueeze.default"_op, {pieces.inside, dim}));
    KERF_TRY(const Tensor here, callTensorOp("aten.logical_not.default"_op, {pieces.elsewhere}));
    KERF_TRY(const Tensor typed, here.to(probabilities.dtype()));
    KERF_TRY(const Tensor source, callTensorOp("aten.unsqueeze.default"_op, {typed, dim}));
    KERF_TRY(const Tensor zeros, callTensorOp("aten.zeros_like.default"_op, {probabilities}));
    KERF_TRY(const Tensor ones, callTensorOp("aten.scatter.src"_op, {zeros, dim, index, source}));
    KERF_TRY(slope, callTensorOp("aten.sub.Tensor"_op, {probabilities, ones}));
  }
  KERF_TRY(const Tensor weighted, callTensorOp("aten.mul.Tensor"_op, {pieces.weights, flow}));
  KERF_TRY(const Tensor wide, callTensorOp("aten.unsqueeze.default"_op, {weighted, dim}));
  return callTensorOp("aten.mul.Tensor"_op, {slope, wide});
}

}  // namespace

Result<Tensor> lossParallelCrossEntropy(const DTensorOps& ops, const Tensor& logits, const Tensor& targets,
                                        const CrossEntropyOptions& options) {
  LossPieces pieces;
  KERF_TRY(pieces.shard, shardOfClasses(ops, logits));
  const Tensor& own = ops.local(logits);
  KERF_TRY(pieces.logProbabilities, logSoftmax(ops, own, pieces.shard));
  KERF_CHECK(findTargets(pieces, targets, options));
  KERF_TRY(Tensor loss, lossOfTargets(ops, pieces));
  std::optional<Tensor> total;
  if (options.reduction != Reduction::None) {
    KERF_TRY(loss, callTensorOp("aten.sum.default"_op, {loss}));
  }
  if (options.reduction == Reduction::Mean) {
    KERF_TRY(total, callTensorOp("aten.sum.default"_op, {pieces.weights}));
    KERF_TRY(loss, callTensorOp("aten.div.Tensor"_op, {loss, *total}));
  }
  const Tensor result = ops.fromLocal(loss, metaTensor(loss.dtype(), loss.sizes()), Placements(ops.mesh().dims()));
  const Placements placements = ops.specOf(logits)->placements;
  ops.note({logits}, {result}, [&ops, pieces, total, placements, logits](const ValueList& grads) -> Result<ValueList> {
    KERF_TRY(Tensor flow, ops.full(grads[0].tensor()));
    if (total) {
      KERF_TRY(flow, callTensorOp("aten.div.Tensor"_op, {flow, *total}));
    }
    KERF_TRY(const Tensor gradient, gradientOfLogits(pieces, flow));
    return ValueList{Value(ops.fromLocal(gradient, metaTensor(gradient.dtype(), logits.sizes()), placements))};
  });
  return result;
}

}  // namespace kerf::inline distributed::inline modules
