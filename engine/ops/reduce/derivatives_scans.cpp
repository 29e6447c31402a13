// Gradients of running sums and products, and of reductions over segments.
#include <limits>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Tangents = std::vector<Formula>;

Formula flip(const Formula& x, std::int64_t dim) { return {"aten.flip.default"_op, {x, intList({dim})}}; }
Formula cumsum(const Formula& x, std::int64_t dim) { return {"aten.cumsum.default"_op, {x, dim}}; }
Formula cumprod(const Formula& x, std::int64_t dim) { return {"aten.cumprod.default"_op, {x, dim}}; }
Formula logcumsumexp(const Formula& x, std::int64_t dim) { return {"aten.logcumsumexp.default"_op, {x, dim}}; }
Formula transposed(const Formula& x, std::int64_t a, std::int64_t b) { return {"aten.transpose.int"_op, {x, a, b}}; }

/// Whether there is one element at most along a dimension.
bool isTrivial(const Tensor& tensor, std::int64_t dim) {
  return tensor.dim() == 0 || guardOrFalse(tensor.symSize(dim) <= 1);
}

/// Sums from the end.
void sums(Backward& b) {
  const std::int64_t dim = b.dim(1);
  const bool trivial = isTrivial(b.args.tensor(0), dim);
  b.give(0, trivial ? b.grad() : flip(cumsum(flip(b.grad(), dim), dim), dim));
}

/// Of each running product [..., i] by each factor [..., k]: the product of the other factors up to i, 0 before k. The
/// dimension comes last. Nothing is divided by factors, which may be 0.
Formula productSlopes(Formulas& p, const Formula& self, std::int64_t dim) {
  const Formula x = p(transposed(self, dim, -1));
  const SymInt length = x.sizes()[x.sizes().size() - 1];
  const Device device = x.tensor().device();
  const Formula place = p(arange(length, DType::Int64, device));
  const Formula row = p(unsqueeze(place, -1));
  SymSizes square = x.sizes();
  square.push_back(length);
  const Formula factors = p(expand(unsqueeze(x, -2), square));
  const Formula products = cumprod(where(equals(row, place), 1, factors), -1);
  return p(where(row <= place, products, 0));
}
void products(Backward& b) {
  const std::int64_t dim = b.dim(1);
  if (isTrivial(b.args.tensor(0), dim)) return b.give(0, b.grad());
  const Formula slopes = productSlopes(b, b[0], dim);
  const Formula grads = unsqueeze(transposed(b.grad(), dim, -1), -2);
  const bool complex = isComplex(b[0].dtype());
  const Formula flow = grads * (complex ? Formula("aten._conj.default"_op, {slopes}) : slopes);
  b.give(0, transposed(sum(flow, {-1}), dim, -1));
}
Tangents productsTangent(Forward& f) {
  const std::int64_t dim = f.dim(1);
  if (isTrivial(f.args.tensor(0), dim)) return {f.tangent()};
  const Formula slopes = productSlopes(f, f[0], dim);
  const Formula tangents = unsqueeze(transposed(f.tangent(), dim, -1), -1);
  return {transposed(sum(tangents * slopes, {-2}), dim, -1)};
}

/// logcumsumexp: gradients above and below 0 apart, each in logarithms.
void logSums(Backward& b) {
  const std::int64_t dim = b.dim(1);
  if (b.dims() == 0) return b.give(0, b.grad());
  const auto part = [&](const Formula& grad) {
    const Formula logs = b(where(grad > 0, log(grad), -std::numeric_limits<double>::infinity()));
    return exp(flip(logcumsumexp(flip(logs - b.result(), dim), dim), dim) + b[0]);
  };
  b.give(0, part(b.grad()) - part(b(-b.grad())));
}
Tangents logSumsTangent(Forward& f) {
  const std::int64_t dim = f.dim(1);
  if (f.dims() == 0) return {f.tangent()};
  const Formula highest = f(amax(f[0], {dim}, true));
  return {cumsum(f.tangent() * exp(f[0] - highest), dim) / exp(f.result() - highest)};
}

/// segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial); PyTorch has no forward mode of it.
void segments(Backward& b) {
  const auto named = [&](std::string_view name) { return b[b.args.position(name)].value(); };
  b.give(0, {"aten._segment_reduce_backward.default"_op,
             {contiguous(b.grad()), contiguous(b.result()), contiguous(b[0]), b[1]},
             {{"lengths", named("lengths")},
              {"offsets", named("offsets")},
              {"axis", named("axis")},
              {"initial", named("initial")}}});
}

constexpr OpFacts scanDerivativesTable[] = {
    linear<sums>("aten::cumsum"),
    differentiable<products, productsTangent>("aten::cumprod"),
    differentiable<logSums, logSumsTangent>("aten::logcumsumexp"),
    onlyBackward<segments>("aten::segment_reduce"),
    withoutDerivative("aten::_segment_reduce_backward"),
};

const OpRegistration scanDerivatives({.facts = scanDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
