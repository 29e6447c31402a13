// Gradients of products of reflections Q = H₁ · H₂ · … with Hᵢ = 1 - τᵢ · vᵢ · vᵢᴴ, where vᵢ is column i below a one on
// the diagonal: linalg_householder_product and ormqr. One step per reflection.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

struct Reflections {
  Conjugates c;
  std::vector<Formula> vectors;  ///< columns of one
  std::vector<Formula> scales;   ///< τ, as matrices of one element

  std::size_t size() const { return scales.size(); }
  /// H · x, Hᴴ · x, and the change of H · x with H's own.
  Formula applied(std::size_t i, const Formula& x) const {
    return x - scales[i] * matmul(vectors[i], matmul(c.adjoint(vectors[i]), x));
  }
  Formula appliedAdjoint(std::size_t i, const Formula& x) const {
    return x - c.conj(scales[i]) * matmul(vectors[i], matmul(c.adjoint(vectors[i]), x));
  }
};

Formula columnOf(const Formula& a, std::int64_t i) { return slice(a, -1, i, i + 1); }

/// `parts`: the matrix with the vectors and the vector of scales.
Reflections reflections(Formulas& p, const CallRecord& call, std::int64_t count, const Formula& matrix,
                        const Formula& scales, bool withOnes) {
  Reflections r{.c = Conjugates(call), .vectors = {}, .scales = {}};
  const Tensor& given = call.args.tensor(0);
  Formula below = lower(matrix, -1);
  if (withOnes) {
    const Formula eye("aten.eye.m"_op, {rowCount(given), columnCount(given)},
                      {{"dtype", given.dtype()}, {"device", given.device()}});
    below = below + eye;
  }
  const Formula columns = p(below);
  for (std::int64_t i = 0; i < count; ++i) {
    r.vectors.push_back(p(columnOf(columns, i)));
    r.scales.push_back(p(asRow(columnOf(scales, i))));
  }
  return r;
}
Reflections reflections(Formulas& p, const CallRecord& call) {
  const std::int64_t count = call.args.tensor(1).symSizes().back();
  return reflections(p, call, count, p[0], p[1], true);
}
/// A call that multiplies with Q is one that multiplies `right` from the left, whatever its side.
struct ReflectedFlows {
  Formula matrix, scales;
};

/// Gradients of Re <flow, Q · right> by the vectors' matrix and the scales.
ReflectedFlows flowsBack(Formulas& p, const CallRecord& call, const Reflections& r, const Formula& flow,
                         const Formula& right) {
  const Tensor& matrix = call.args.tensor(0);
  std::vector<Formula> behind{p(right)};  // Hᵢ₊₁ · … · right, for the last reflection first
  for (std::size_t i = r.size(); i-- > 1;) behind.push_back(p(r.applied(i, behind.back())));
  std::vector<Formula> columns, scales;
  Formula before = p(flow);
  for (std::size_t i = 0; i < r.size(); ++i) {
    const Formula v = r.vectors[i], x = behind[r.size() - 1 - i];
    const Formula through = p(matmul(before, matmul(r.c.adjoint(x), v)));  // of Hᵢ, on v
    const Formula across = p(matmul(x, matmul(r.c.adjoint(before), v)));   // of its adjoint
    scales.push_back(p(squeeze(-matmul(r.c.adjoint(v), through), -2)));
    columns.push_back(p(-(r.c.conj(r.scales[i]) * through + r.scales[i] * across)));
    before = p(r.appliedAdjoint(i, before));
  }
  const SymInt others = columnCount(matrix) - SymInt(std::int64_t(r.size()));
  Formula all = r.size() == 0 ? zerosLike(p[0]) : lower(cat(columns, -1), -1);
  if (r.size() > 0 && guardOrTrue(others != 0))
    all = {"aten.constant_pad_nd.default"_op, {all, Formula(intList(SymSizes{0, others}))}};
  return {all, r.size() == 0 ? zerosLike(p[1]) : cat(scales, -1)};
}

/// The tangent of Q · right with those of vectors, scales and `right`; none: nothing changes.
Formula tangentOf(Forward& f, const Reflections& r, const Formula& right, const Formula& rightChange) {
  const Reflections change = reflections(f, f.call, std::int64_t(r.size()), f.orZeros(0), f.orZeros(1), false);
  Formula value = f(right), moved = rightChange.isNone() ? f(zerosLike(value)) : f(rightChange);
  for (std::size_t i = r.size(); i-- > 0;) {
    const Formula v = r.vectors[i], dv = change.vectors[i];
    const Formula along = matmul(r.c.adjoint(v), value);
    const Formula own = change.scales[i] * matmul(v, along) + r.scales[i] * matmul(dv, along) +
                        r.scales[i] * matmul(v, matmul(r.c.adjoint(dv), value));
    moved = f(r.applied(i, moved) - own);
    value = f(r.applied(i, value));
  }
  return moved;
}

// linalg_householder_product(input, tau): the first columns of Q

Formula firstUnits(const Tensor& a) {
  return {"aten.eye.m"_op, {rowCount(a), columnCount(a)}, {{"dtype", a.dtype()}, {"device", a.device()}}};
}
Formula units(const Tensor& a) { return expand(firstUnits(a), a.symSizes()); }

void householder(Backward& b) {
  const ReflectedFlows flows = flowsBack(b, b.call, reflections(b, b.call), b.grad(), units(b.args.tensor(0)));
  b.give(0, flows.matrix);
  b.give(1, flows.scales);
}
std::vector<Formula> householderForward(Forward& f) {
  return {tangentOf(f, reflections(f, f.call), units(f.args.tensor(0)), {})};
}

// ormqr(input, tau, other, left, transpose): op(Q) · other, or other · op(Q)

void ormqr(Backward& b) {
  const Conjugates c(b.call);
  const bool left = b.args.boolean(3), turned = b.args.boolean(4);
  b.give(2, {"aten.ormqr.default"_op, {b[0], b[1], b.grad(), left, !turned}});
  if (!b.wants(0) && !b.wants(1)) return;
  // <g, Q c> as it is; <g, Qᴴ c> = <c, Q g>; <g, c Q> = <gᴴ, Qᴴ cᴴ>; <g, c Qᴴ> = <gᴴ, Q cᴴ>
  const Formula grad = left ? b.grad() : c.adjoint(b.grad()), other = left ? b[2] : c.adjoint(b[2]);
  const bool swaps = turned == left;
  const ReflectedFlows flows = flowsBack(b, b.call, reflections(b, b.call), swaps ? other : grad, swaps ? grad : other);
  b.give(0, flows.matrix);
  b.give(1, flows.scales);
}
/// Of Q itself where Q · x is meant; other forms by the whole Q's tangent.
std::vector<Formula> ormqrForward(Forward& f) {
  const Conjugates c(f.call);
  const bool left = f.args.boolean(3), turned = f.args.boolean(4);
  Formula total;
  if (f.has(2)) total = {"aten.ormqr.default"_op, {f[0], f[1], f.tangent(2), left, turned}};
  if (!f.has(0) && !f.has(1)) return {total};
  const Tensor& a = f.args.tensor(0);
  SymSizes square = a.symSizes();
  square.back() = rowCount(a);
  const Formula eye("aten.eye.default"_op, {rowCount(a)}, {{"dtype", a.dtype()}, {"device", a.device()}});
  const Formula change = tangentOf(f, reflections(f, f.call), expand(eye, square), {});
  const Formula matrix = turned ? c.adjoint(change) : change;
  return {sumOf({total, left ? matmul(matrix, f[2]) : matmul(f[2], matrix)})};
}

constexpr OpFacts reflectionDerivativesTable[] = {
    differentiable<householder, householderForward>("aten::linalg_householder_product"),
    differentiable<ormqr, ormqrForward>("aten::ormqr"),
};

const OpRegistration reflectionDerivatives({.facts = reflectionDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
