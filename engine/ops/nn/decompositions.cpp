// Decompositions of softmax and its relatives: maxima are taken out before the exponential, as everywhere.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// The argument in the dtype that is computed in, dense.
Formula computed(Formulas& p) { return p(to(contiguous(p[0]), opMathType(p.args.tensor(0).dtype()))); }

/// x - amax(x, dim)
Formula shifted(Formulas& p, const Formula& x, std::int64_t dim) {
  if (guardOrFalse(p.args.tensor(0).symNumel() == 0)) return x;
  const Formula top = p(amax(x, {dim}, true));
  return p(x - top);
}
/// In the dtype of the argument, unless half_to_float says otherwise.
Result<Value> inDType(Formulas& p, const Formula& result) {
  return p.done(p.args.boolean(2) ? result : to(result, p.args.tensor(0).dtype()));
}

/// _softmax(self, dim, half_to_float).
Result<Value> softmax(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::int64_t dim = args.integer(1);
  const Formula powers = p(exp(shifted(p, computed(p), dim)));
  return inDType(p, powers / sum(powers, {dim}, true));
}
Result<Value> logSoftmax(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::int64_t dim = args.integer(1);
  const Formula low = shifted(p, computed(p), dim);
  const Formula total = p(log(sum(exp(low), {dim}, true)));
  return inDType(p, low - total);
}

/// softmax(self, dim, dtype) and log_softmax(self, dim, dtype).
template <bool logarithm>
Result<Value> softmaxOrLogSoftmax(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const OpId op = logarithm ? "aten._log_softmax.default"_op : "aten._softmax.default"_op;
  const Formula x = args.none(2) ? p[0] : to(p[0], *args.dtypeIf(2));
  return p.done({op, {x, p[1], false}});
}
/// _safe_softmax(self, dim, dtype): 0 in rows of -inf.
Result<Value> safeSoftmax(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula out = p({"aten.softmax.int"_op, {p[0], p[1], p[2]}});
  const Formula masked = p(equals(p[0], -HUGE_VAL));
  const Formula rows = p({"aten.all.dim"_op, {masked, p[1], true}});
  const Formula zeros = p(zerosLike(out));
  return p.done(where(rows, zeros, out));
}

/// In the dtype that the forward op took, where the gradient's differs.
Formula asInput(const BoundArguments& args, const Formula& x) {
  return args.tensor(0).dtype() == *args.dtypeIf(3) ? x : to(x, *args.dtypeIf(3));
}

/// _softmax_backward_data(grad_output, output, dim, input_dtype): out · (grad - Σ grad·out).
Result<Value> softmaxBackwardData(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula weighted = p(p[0] * p[1]);
  const Formula flows = p(weighted - p[1] * sum(weighted, {args.integer(2)}, true));
  return p.done(contiguous(p(asInput(args, flows))));
}
/// The same with one rounding of the product and the difference.
Result<Value> fusedSoftmaxBackwardData(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula weighted = p(p[0] * p[1]);
  const Formula total = p(sum(weighted, {args.integer(2)}, true));
  const Formula flows = p({"prims.fma.default"_op, {-p[1], total, weighted}});
  return p.done(contiguous(p(asInput(args, flows))));
}
Result<Value> logSoftmaxBackwardData(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula flows = p(p[0] - exp(p[1]) * sum(p[0], {args.integer(2)}, true));
  return p.done(asInput(args, flows));
}

constexpr OpFacts layerDecompositionsTable[] = {
    decomposes("aten::_softmax", softmax),
    decomposes("aten::_log_softmax", logSoftmax),
    decomposes("aten::softmax.int", softmaxOrLogSoftmax<false>),
    decomposes("aten::log_softmax.int", softmaxOrLogSoftmax<true>),
    decomposes("aten::_safe_softmax", safeSoftmax),
    decomposes("aten::_softmax_backward_data", inWideMath<softmaxBackwardData>),
    decomposes("aten::_log_softmax_backward_data", inWideMath<logSoftmaxBackwardData>),
};

constexpr TableProgram programs[] = {
    {"aten::_softmax_backward_data", inOpMath<fusedSoftmaxBackwardData>},
};

const OpRegistration layerDecompositions({.facts = layerDecompositionsTable, .programs = programs});

}  // namespace

}  // namespace kerf::inline ops
