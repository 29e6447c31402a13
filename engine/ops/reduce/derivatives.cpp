// Gradients and sharding of sums, means, products, variances and norms.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/reduce/reduction_dims.h"

namespace kerf::inline ops {
namespace {

using Tangents = std::vector<Formula>;

/// The result's gradient, as wide as self.
Formula spread(Backward& b, const ReductionDims& dims) { return expand(dims.restored(b.grad()), b.sizes()); }

void sum(Backward& b) { b.give(0, spread(b, reductionDims(b.args))); }
void mean(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  b.give(0, over(spread(b, dims), dims.count));
}
/// NaN counts as nothing.
Formula known(const Formula& x) { return {"aten.logical_not.default"_op, {isnan(x)}}; }
void nansum(Backward& b) { b.give(0, spread(b, reductionDims(b.args)) * known(b[0])); }
Tangents nansumTangent(Forward& f) { return {reductionDims(f.args).sum(f.tangent() * known(f[0]))}; }

// Products, without dividing by factors that may be 0: for each factor the product of those before and behind it

Formula productOfOthers(Formulas& p, const Formula& x, std::int64_t dim) {
  const SymInt length = x.dim() == 0 ? SymInt(1) : x.sizes()[std::size_t(dim)];
  if (x.dim() == 0 || guardOrFalse(length == 1)) return onesLike(x);
  const Formula first = p(onesLike(slice(x, dim, 0, 1)));
  const auto flip = [&](const Formula& a) { return Formula("aten.flip.default"_op, {a, intList({dim})}); };
  const auto running = [&](const Formula& a) { return Formula("aten.cumprod.default"_op, {a, dim}); };
  const Formula before = running(cat({first, p(slice(x, dim, 0, length - 1))}, dim));
  const Formula behind = flip(running(cat({first, p(flip(slice(x, dim, 1, length)))}, dim)));
  return p(before * behind);
}
/// prod(self), prod.dim_int(self, dim, keepdim)
Formula productOfOthers(Formulas& p) {
  const Formula self = p[0];
  if (p.args.op->schema.overload == "dim_int" && self.dim() > 0) {
    const std::int64_t dim = p.args.integer(1);
    return productOfOthers(p, self, dim < 0 ? dim + self.dim() : dim);
  }
  return reshape(productOfOthers(p, p(reshape(self, SymSizes{-1})), 0), self.sizes());
}
void prod(Backward& b) {
  if (guardOrFalse(b.args.tensor(0).symNumel() == 0)) return b.give(0, zerosLike(b[0]));
  const bool complex = isComplex(b[0].dtype());
  const Formula others = productOfOthers(b);
  b.give(0, reductionDims(b.args).restored(b.grad()) * (complex ? Formula("aten._conj.default"_op, {others}) : others));
}
Tangents prodTangent(Forward& f) {
  if (guardOrFalse(f.args.tensor(0).symNumel() == 0)) return {zerosLike(f.result())};
  return {reductionDims(f.args).sum(f.tangent() * productOfOthers(f))};
}

// Variances: 2 · (x - mean) / (n - correction)

Formula deviation(const Formula& self, const ReductionDims& dims) {
  return self - (dims.all ? mean(self) : mean(self, dims.dims, true));
}
Formula varianceSlope(const Formula& flow, const Formula& self, const ReductionDims& dims) {
  const double left = double(std::int64_t(dims.count)) - dims.correction;
  return times(flow, 2 / left) * deviation(self, dims);
}
/// The gradient of a standard deviation as that of the variance.
Formula asVariance(const Formula& grad, const Formula& root) {
  return maskedFill(grad / times(root, 2), equals(root, 0), 0);
}
void var(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  b.give(0, varianceSlope(dims.restored(b.grad()), b[0], dims));
}
void std(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  b.give(0, varianceSlope(dims.restored(asVariance(b.grad(), b.result())), b[0], dims));
}
Formula realPart(const Formula& z, bool complex) { return complex ? Formula("aten.real.default"_op, {z}) : z; }
/// Re(conj(a) · b): what b changes a length by.
Formula along(const Formula& a, const Formula& b, bool complex) {
  return realPart((complex ? Formula("aten._conj.default"_op, {a}) : a) * b, complex);
}
Formula varTangentOf(Forward& f, const ReductionDims& dims) {
  return dims.sum(along(varianceSlope(onesLike(f[0]), f[0], dims), f.tangent(), isComplex(f[0].dtype())));
}
Formula stdTangentOf(const Formula& variance, const Formula& root) {
  return maskedFill(variance / times(root, 2), equals(root, 0), 0);
}
Tangents varTangent(Forward& f) { return {varTangentOf(f, reductionDims(f.args))}; }
Tangents stdTangent(Forward& f) { return {stdTangentOf(varTangentOf(f, reductionDims(f.args)), f.result())}; }

/// var_mean and std_mean; either result may have no gradient.
template <bool root>
void moments(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  Formula total;
  if (b.has(0)) {
    const Formula grad = root ? asVariance(b.grad(), b.result()) : b.grad();
    total = b(varianceSlope(dims.restored(grad), b[0], dims));
  }
  if (b.has(1)) {
    const Formula fromMean = over(expand(dims.restored(b.grad(1)), b.sizes()), dims.count);
    total = total.isNone() ? fromMean : total + fromMean;
  }
  b.give(0, total);
}
template <bool root>
Tangents momentsTangent(Forward& f) {
  const ReductionDims dims = reductionDims(f.args);
  const Formula variance = varTangentOf(f, dims);
  return {root ? stdTangentOf(variance, f.result()) : variance, over(dims.sum(f.tangent()), dims.count)};
}

// log(sum(exp(x)))

Formula softmaxLike(const Formulas& p, const ReductionDims& dims, const Formula& result) {
  return exp(p[0] - dims.restored(result));
}
void logsumexp(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  const Formula share = softmaxLike(b, dims, b.result());
  const bool complex = isComplex(b[0].dtype());
  b.give(0, dims.restored(b.grad()) * (complex ? Formula("aten._conj.default"_op, {share}) : share));
}
Tangents logsumexpTangent(Forward& f) {
  const ReductionDims dims = reductionDims(f.args);
  return {dims.sum(f.tangent() * softmaxLike(f, dims, f.result()))};
}

// Norms

/// norm(self, p), norm(self, p, dim, keepdim), linalg_vector_norm(self, ord, dim, keepdim)
void norm(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  const double order = b.args.none(1) ? 2 : b.args.number(1);
  b.give(0, dims.restored(b.grad()) * normSlope(b, b[0], order, dims.restored(b.result()), dims));
}
Tangents normTangent(Forward& f) {
  const ReductionDims dims = reductionDims(f.args);
  const double order = f.args.none(1) ? 2 : f.args.number(1);
  const Formula slope = normSlope(f, f[0], order, dims.restored(f.result()), dims);
  return {dims.sum(along(slope, f.tangent(), isComplex(f[0].dtype())))};
}

/// renorm(self, p, dim, maxnorm): slices along `dim` with a larger norm are scaled down to it.
struct Renorm {
  ReductionDims dims;
  Formula norm, tooLarge, inverse, slope;

  explicit Renorm(Formulas& p) : dims(allBut(p.args.tensor(0), p.args.integer(2))) {
    const double order = p.args.number(1);
    norm = p(Formula("aten.linalg_vector_norm.default"_op, {p[0], p[1], intList(dims.dims), true}));
    tooLarge = p(norm > p[3]);
    inverse = p(Formula("aten.reciprocal.default"_op, {plus(norm, 1e-7)}));
    slope = p(normSlope(p, p[0], order, norm, dims));
  }
};
void renorm(Backward& b) {
  const Renorm r(b);
  const bool complex = isComplex(b[0].dtype());
  const Formula pull = sum(along(b[0], b.grad(), complex), r.dims.dims, true);
  const Formula scaled = times(r.inverse, b[3]) * (b.grad() - r.inverse * (pull * r.slope));
  b.give(0, where(r.tooLarge, scaled, b.grad()));
}
Tangents renormTangent(Forward& f) {
  const Renorm r(f);
  const Formula change = sum(along(r.slope, f.tangent(), isComplex(f[0].dtype())), r.dims.dims, true);
  return {where(r.tooLarge, times(r.inverse, f[3]) * (f.tangent() - r.inverse * (change * f[0])), f.tangent())};
}

constexpr OpFacts partial(const char* op, const char* reduction) {
  return {.op = op, .sharding = {ShardingKind::Reduction, reduction}};
}

constexpr OpFacts reductionDerivativesTable[] = {
    linear<sum>("aten::sum"),
    linear<mean>("aten::mean"),
    differentiable<nansum, nansumTangent>("aten::nansum"),
    differentiable<prod, prodTangent>("aten::prod"),
    differentiable<var, varTangent>("aten::var.correction"),
    differentiable<std, stdTangent>("aten::std.correction"),
    differentiable<moments<false>, momentsTangent<false>>("aten::var_mean.correction"),
    differentiable<moments<true>, momentsTangent<true>>("aten::std_mean.correction"),
    differentiable<logsumexp, logsumexpTangent>("aten::logsumexp"),
    differentiable<norm, normTangent>("aten::norm.Scalar"),
    differentiable<norm, normTangent>("aten::norm.ScalarOpt_dim"),
    differentiable<norm, normTangent>("aten::linalg_vector_norm"),
    differentiable<renorm, renormTangent>("aten::renorm"),
    partial("aten::sum", "sum"),
    partial("aten::mean", "avg"),
    partial("aten::amax", "max"),
    partial("aten::amin", "min"),
    partial("aten::prod", "product"),
    partial("aten::max", "max"),
    partial("aten::min", "min"),
    partial("aten::any.dim", "or"),
    partial("aten::any", "or"),
    partial("aten::all", "and"),
};

const OpRegistration reductionDerivatives({.facts = reductionDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
