// Gradients of products of matrices and vectors.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

bool isColumnMajor(const Tensor& a) {
  return guardOrFalse(a.symStride(0) == 1) && guardOrFalse(a.symStride(1) == a.symSize(0));
}
Formula t(const Formula& a) { return {"aten.t.default"_op, {a}}; }
Formula mm(const Formula& a, const Formula& b) { return {"aten.mm.default"_op, {a, b}}; }
Formula bmm(const Formula& a, const Formula& b) { return {"aten.bmm.default"_op, {a, b}}; }
Formula mv(const Formula& a, const Formula& b) { return {"aten.mv.default"_op, {a, b}}; }
Formula outer(const Formula& a, const Formula& b) { return {"aten.outer.default"_op, {a, b}}; }
Formula turned(const Formula& a) { return {"aten.transpose.int"_op, {a, 1, 2}}; }

/// What flows to arguments `first` and `second` of their matrix product; column-major ones get column-major gradients,
/// as a linear layer's transposed weight.
void giveMm(Backward& b, std::size_t first, std::size_t second, const Formula& alpha) {
  const Conjugates c(b.call);
  const Formula grad = b.grad(), x = b[first], y = b[second];
  b.give(first,
         scaledBy(isColumnMajor(b.args.tensor(first)) ? t(mm(c.conj(y), t(grad))) : mm(grad, c.conj(t(y))), alpha));
  b.give(second,
         scaledBy(isColumnMajor(b.args.tensor(second)) ? t(mm(t(grad), c.conj(x))) : mm(c.conj(t(x)), grad), alpha));
}
void giveBmm(Backward& b, std::size_t first, std::size_t second, const Formula& grad, const Formula& alpha) {
  const Conjugates c(b.call);
  b.give(first, scaledBy(bmm(grad, c.conj(turned(b[second]))), alpha));
  b.give(second, scaledBy(bmm(c.conj(turned(b[first])), grad), alpha));
}

void mmRule(Backward& b) { giveMm(b, 0, 1, 1); }
void bmmRule(Backward& b) { giveBmm(b, 0, 1, b.grad(), 1); }
void mvRule(Backward& b) {
  const Conjugates c(b.call);
  b.give(0, outer(b.grad(), c.conj(b[1])));
  b.give(1, mv(c.conj(t(b[0])), b.grad()));
}
void dotRule(Backward& b) {
  const Conjugates c(b.call);
  b.give(0, b.grad() * c.conj(b[1]));
  b.give(1, b.grad() * c.conj(b[0]));
}
/// Σ conj(self) · other
void vdotRule(Backward& b) {
  b.give(0, Conjugates(b.call).conj(b.grad()) * b[1]);
  b.give(1, b.grad() * b[0]);
}
/// Its first argument's tangent is conjugated by the op itself.
std::vector<Formula> vdotForward(Forward& f) {
  const auto vdot = [](const Formula& a, const Formula& b) { return Formula("aten.vdot.default"_op, {a, b}); };
  return {sumOf({f.has(0) ? vdot(f.tangent(0), f[1]) : Formula(), f.has(1) ? vdot(f[0], f.tangent(1)) : Formula()})};
}

// X(self, a, b, *, beta, alpha) = beta · self + alpha · product(a, b)

void giveAdded(Backward& b) { b.give(0, scaledBy(b.grad(), b[3])); }
void addmm(Backward& b) {
  giveAdded(b);
  giveMm(b, 1, 2, b[4]);
}
void baddbmm(Backward& b) {
  giveAdded(b);
  giveBmm(b, 1, 2, b.grad(), b[4]);
}
void addmv(Backward& b) {
  const Conjugates c(b.call);
  giveAdded(b);
  b.give(1, scaledBy(outer(b.grad(), c.conj(b[2])), b[4]));
  b.give(2, scaledBy(mv(c.conj(t(b[1])), b.grad()), b[4]));
}
void addr(Backward& b) {
  const Conjugates c(b.call);
  giveAdded(b);
  b.give(1, scaledBy(mv(b.grad(), c.conj(b[2])), b[4]));
  b.give(2, scaledBy(mv(t(b.grad()), c.conj(b[1])), b[4]));
}
void addbmm(Backward& b) {
  giveAdded(b);
  const SymSizes batches{b.sizes(1)[0], b.sizes(1)[1], b.sizes(2)[2]};
  giveBmm(b, 1, 2, expand(unsqueeze(b.grad(), 0), batches), b[4]);
}
/// Products of one tangent and the other factor; the op adds what self has.
std::vector<Formula> addedForward(Forward& f) {
  const KeywordValues alpha{{"beta", Value(std::int64_t{1})}, {"alpha", f.args.values[4]}};
  Formula total = f.has(0) ? scaledBy(f.tangent(0), f[3]) : Formula(zerosLike(f.result()));
  for (const std::size_t i : {std::size_t(1), std::size_t(2)}) {
    if (!f.has(i)) continue;
    total = Formula(f.args.op->id, {total, i == 1 ? f.tangent(1) : f[1], i == 2 ? f.tangent(2) : f[2]}, alpha);
  }
  return {expand(total, f.call.result().symSizes())};
}

/// _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim): the gradient stands in the argument's place,
/// and what was summed is expanded.
void trilinear(Backward& b) {
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<Formula> args{b[0], b[1], b[2], b[3], b[4], b[5], b[3 + i], b[7]};
    args[i] = b.grad();
    args[3 + i] = b[6];
    b.give(i, {"aten._trilinear.default"_op, args});
  }
}

constexpr OpFacts productDerivativesTable[] = {
    linear<mmRule>("aten::mm"),
    linear<bmmRule>("aten::bmm"),
    linear<mvRule>("aten::mv"),
    linear<dotRule>("aten::dot"),
    linear<trilinear>("aten::_trilinear"),
    differentiable<vdotRule, vdotForward>("aten::vdot"),
    differentiable<addmm, addedForward>("aten::addmm"),
    differentiable<baddbmm, addedForward>("aten::baddbmm"),
    differentiable<addmv, addedForward>("aten::addmv"),
    differentiable<addr, addedForward>("aten::addr"),
    differentiable<addbmm, addedForward>("aten::addbmm"),
    notDifferentiable("aten::_int_mm"),
};

const OpRegistration productDerivatives({.facts = productDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
