// Gradients of scatter, index_add, index_copy and their like: self with parts written over by, or reduced with, those
// of another tensor.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// scatter(self, dim, index, src or value)
void scattered(Backward& b) {
  b.give(0, {"aten.scatter.value"_op, {b.grad(), b[1], b[2], 0}});
  if (b.wants(3)) b.give(3, {"aten.gather.default"_op, {b.grad(), b[1], b[2]}});
}
std::vector<Formula> scatteredNumberTangent(Forward& f) {
  return {{"aten.scatter.value"_op, {f.tangent(), f[1], f[2], 0}}};
}
void scatterAdded(Backward& b) {
  b.give(0, b.grad());
  if (b.wants(3)) b.give(3, {"aten.gather.default"_op, {b.grad(), b[1], b[2]}});
}

/// The parts of `x` that `index` names along a dimension, in the sizes of `source`, which may have no dimensions.
Formula partsAt(const Formulas& p, const Formula& x, std::size_t source) {
  const Formula parts("aten.index_select.default"_op, {x, p[1], p[2]});
  return reshape(parts, p.args.tensor(source).symSizes());
}
/// index_add(self, dim, index, source, alpha)
void indexAdded(Backward& b) {
  b.give(0, b.grad());
  if (b.wants(3)) b.give(3, scaledBy(partsAt(b, b.grad(), 3), b[4]));
}
void indexCopied(Backward& b) {
  b.give(0, {"aten.index_fill.int_Scalar"_op, {b.grad(), b[1], b[2], 0}});
  if (b.wants(3)) b.give(3, partsAt(b, b.grad(), 3));
}
/// index_fill(self, dim, index, value)
void indexFilled(Backward& b) {
  b.give(0, {"aten.index_fill.int_Scalar"_op, {b.grad(), b[1], b[2], 0}});
  if (b.wants(3)) b.give(3, sum({"aten.index_select.default"_op, {b.grad(), b[1], b[2]}}));
}
std::vector<Formula> indexFilledTangent(Forward& f) {
  return {{"aten.index_fill.int_Scalar"_op, {f.tangent(), f[1], f[2], 0}}};
}

/// masked_scatter(self, mask, source): the k-th element that the mask lets through is the k-th of source. Counting them
/// is a running sum, so that no size depends on data.
void maskScattered(Backward& b) {
  if (b.wants(0)) b.give(0, maskedFill(b.grad(), b[1], 0));
  if (!b.wants(2)) return;
  const Formula mask = b(reshape(expand(b[1], b.call.result().symSizes()), SymSizes{-1}));
  const Formula count("aten.cumsum.default"_op, {mask, 0});
  const SymInt numel = b.args.tensor(2).symNumel();
  if (guardOrFalse(numel == 0)) return b.give(2, zerosLike(b[2]));
  const Formula place = clamp(plus(count, -1), Value(std::int64_t{0}), Value(numel - 1));
  const Formula flow = where(mask, reshape(b.grad(), SymSizes{-1}), 0);
  const Formula row("aten.index_add.default"_op, {newZeros(b.grad(), SymSizes{numel}), 0, place, flow});
  b.give(2, reshape(row, b.sizes(2)));
}

// scatter_reduce(self, dim, index, src, reduce, include_self) and index_reduce(self, dim, index, source, reduce,
// include_self): the result's change is a · (self's) + the sum over places of b · (the source's)

struct Weights {
  Formula self;
  Formula source;
};

/// What tells the two ops apart: how the source goes into self's places, and self's parts to the source's.
struct Places {
  Formulas& p;
  bool wholeRows;  ///< index_reduce

  Formula added(const Formula& to, const Formula& source) const {
    return {wholeRows ? "aten.index_add.default"_op : "aten.scatter_add.default"_op, {to, p[1], p[2], source}};
  }
  Formula taken(const Formula& from) const {
    if (wholeRows) return partsAt(p, from, 3);
    return {"aten.gather.default"_op, {from, p[1], p[2]}};
  }
  Formula cleared(const Formula& self) const {
    if (wholeRows) return {"aten.index_fill.int_Scalar"_op, {self, p[1], p[2], 0}};
    return {"aten.scatter.value"_op, {self, p[1], p[2], 0}};
  }
  Formula reduced(const Formula& self, const Formula& source) const {
    return {p.args.op->id, {self, p[1], p[2], source, p[4]}, {{"include_self", p[5].value()}}};
  }
};

/// A condition as 0 and 1 in the dtype of `like`.
Formula indicator(const Formula& condition, const Formula& like) { return where(condition, onesLike(like), 0); }

/// One factor that is 0 leaves the product of the others, two leave nothing.
Weights ofProduct(const Places& at, const Formula& result) {
  Formulas& p = at.p;
  const Formula self = p[0], source = p[3];
  const Formula selfZero = p(equals(self, 0)), other = p(maskedFill(self, selfZero, 1));
  const Formula zero = p(equals(source, 0));
  const Formula zeros = at.taken(at.added(zerosLike(self), indicator(zero, source)));
  const Formula single = p(zero & equals(zeros, 1));
  const Formula without = at.taken(at.reduced(self, maskedFill(source, single, 1)));
  const Formula rest = at.taken(result) / maskedFill(source, zero, 1);
  return {at.reduced(other, source) / other, where(single, without, rest)};
}
Weights ofMean(const Places& at) {
  Formulas& p = at.p;
  const Formula start = p.args.boolean(5) ? onesLike(p[0]) : zerosLike(p[0]);
  const Formula count = p(at.added(start, onesLike(p[3])));
  const Formula share = p(Formula("aten.reciprocal.default"_op, {maskedFill(count, equals(count, 0), 1)}));
  return {share, at.taken(share)};
}
/// All that reach the extremum share it.
Weights ofExtremum(const Places& at, const Formula& result) {
  Formulas& p = at.p;
  const Formula own = p(indicator(equals(p[0], result), p[0]));
  const Formula theirs = p(indicator(equals(p[3], at.taken(result)), p[3]));
  const Formula first = p.args.boolean(5) ? own : at.cleared(own);
  const Formula count = p(at.added(first, theirs));
  const Formula share = p(Formula("aten.reciprocal.default"_op, {maskedFill(count, equals(count, 0), 1)}));
  return {own * share, theirs * at.taken(share)};
}

Weights weightsOf(const Places& at, const Formula& result) {
  Formulas& p = at.p;
  const std::string reduce = p.args.text(4);
  Weights weights{onesLike(p[0]), onesLike(p[3])};
  if (reduce == "prod") weights = ofProduct(at, result);
  if (reduce == "mean") weights = ofMean(at);
  if (reduce == "amax" || reduce == "amin") weights = ofExtremum(at, result);
  if (!p.args.boolean(5)) weights.self = at.cleared(weights.self);
  return weights;
}

template <bool wholeRows>
void reducedInto(Backward& b) {
  const Places at{b, wholeRows};
  const bool isSum = b.args.text(4) == "sum";
  if (isSum) {
    b.give(0, b.args.boolean(5) ? b.grad() : at.cleared(b.grad()));
    return b.give(3, at.taken(b.grad()));
  }
  const Weights weights = weightsOf(at, b.result());
  b.give(0, b.grad() * weights.self);
  if (b.wants(3)) b.give(3, at.taken(b.grad()) * weights.source);
}
template <bool wholeRows>
std::vector<Formula> reducedIntoTangent(Forward& f) {
  const Places at{f, wholeRows};
  const Weights weights = weightsOf(at, f.result());
  return {at.added(f.orZeros(0) * weights.self, f.orZeros(3) * weights.source)};
}

constexpr OpFacts scatterDerivativesTable[] = {
    jointlyLinear<scattered>("aten::scatter.src"),
    differentiable<scattered, scatteredNumberTangent>("aten::scatter.value"),
    withoutDerivative("aten::scatter.reduce"),
    withoutDerivative("aten::scatter.value_reduce"),
    jointlyLinear<scatterAdded>("aten::scatter_add"),
    jointlyLinear<indexAdded>("aten::index_add"),
    jointlyLinear<indexCopied>("aten::index_copy"),
    differentiable<indexFilled, indexFilledTangent>("aten::index_fill.int_Scalar"),
    jointlyLinear<indexFilled>("aten::index_fill.int_Tensor"),
    jointlyLinear<maskScattered>("aten::masked_scatter"),
    differentiable<reducedInto<false>, reducedIntoTangent<false>>("aten::scatter_reduce.two"),
    differentiable<reducedInto<true>, reducedIntoTangent<true>>("aten::index_reduce"),
};

const OpRegistration scatterDerivatives({.facts = scatterDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
