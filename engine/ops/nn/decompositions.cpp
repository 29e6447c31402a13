// Decompositions of softmax and its relatives: maxima are taken out before the exponential, as everywhere.
#include "engine/ops/core/op_math.h"
#include "engine/ops/nn/families.h"

namespace kerf::inline ops {
namespace {

/// self - amax(self, dim).
Tensor shifted(CompositeSteps& s, const BoundArguments& args, const Value& dim) {
  if (guardOrFalse(args.tensor(0).symNumel() == 0)) return args.tensor(0);
  const Tensor top = s("aten.amax.default"_op, {args.values[0], dim, true});
  return s("aten.sub.Tensor"_op, {args.values[0], top});
}

/// _softmax(self, dim, half_to_float).
Result<Value> softmax(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Value dim = intList({args.integer(1)});
  const Tensor powers = s("aten.exp.default"_op, {shifted(s, args, dim)});
  const Tensor sum = s("aten.sum.dim_IntList"_op, {powers, dim, true});
  return s.done(s("aten.div.Tensor"_op, {powers, sum}));
}

Result<Value> logSoftmax(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Value dim = intList({args.integer(1)});
  const Tensor low = shifted(s, args, dim);
  const Tensor sum = s("aten.sum.dim_IntList"_op, {s("aten.exp.default"_op, {low}), dim, true});
  return s.done(s("aten.sub.Tensor"_op, {low, s("aten.log.default"_op, {sum})}));
}

/// _softmax_backward_data(grad_output, output, dim, input_dtype): out · (grad - Σ grad·out).
Result<Value> softmaxBackward(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Tensor weighted = s("aten.mul.Tensor"_op, {args.values[0], args.values[1]});
  const Tensor sum = s("aten.sum.dim_IntList"_op, {weighted, intList({args.integer(2)}), true});
  return s.done(s("aten.sub.Tensor"_op, {weighted, s("aten.mul.Tensor"_op, {args.values[1], sum})}));
}

constexpr OpFacts table[] = {
    {.op = "aten::_softmax", .decomposition = inOpMath<softmax>},
    {.op = "aten::_log_softmax", .decomposition = inOpMath<logSoftmax>},
    {.op = "aten::_softmax_backward_data", .decomposition = inOpMath<softmaxBackward>},
};

}  // namespace

OpFactRows layerDecompositions() { return table; }

}  // namespace kerf::inline ops
