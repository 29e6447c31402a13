// Gradients of LU factors. A = P · L · U; where A is not square, the other rows of L, or columns of U, follow from the
// square part.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

struct LuTerms {
  Conjugates c;
  SymInt rows, columns, square;
  bool tall, wide;
  Formula order, l, u;  ///< order none: no pivots

  Formula ordered(const Formula& a) const { return order.isNone() ? a : matmul(order, a); }
  Formula unordered(const Formula& a) const { return order.isNone() ? a : matmul(transposed(order), a); }
  Formula topRows(const Formula& a) const { return tall ? firstRows(a, square) : a; }
  Formula leftColumns(const Formula& a) const { return wide ? firstColumns(a, square) : a; }
};

LuTerms luTerms(const CallRecord& call, const Formula& order, const Formula& l, const Formula& u) {
  const SymInt rows = rowCount(call.args.tensor(0)), columns = columnCount(call.args.tensor(0));
  return {.c = Conjugates(call),
          .rows = rows,
          .columns = columns,
          .square = symMin(rows, columns),
          .tall = guardOrFalse(rows > columns),
          .wide = guardOrFalse(rows < columns),
          .order = order,
          .l = l,
          .u = u};
}
/// linalg_lu(A, *, pivot) → (P, L, U).
LuTerms luTerms(const CallRecord& call) {
  const Formula order = call.args.boolean(1) ? Formula(call.results[0]) : Formula();
  return luTerms(call, order, call.results[1], call.results[2]);
}
/// linalg_lu_factor_ex(A, *, pivot, check_errors) → (LU, pivots, info).
LuTerms factorTerms(Formulas& p, const CallRecord& call) {
  const bool pivot = call.args.boolean(1);
  const auto parts = p.several<3>({"aten.lu_unpack.default"_op, {call.results[0], call.results[1], true, pivot}});
  return luTerms(call, pivot ? parts[0] : Formula(), parts[1], parts[2]);
}

/// What flows to A from what flows to L and U.
Formula luFlow(Formulas& p, const LuTerms& t, const Formula& gradL, const Formula& gradU) {
  const Conjugates& c = t.c;
  const Formula l = t.topRows(t.l), u = t.leftColumns(t.u);
  Formula byL = matmul(c.adjoint(l), lower(t.topRows(gradL), -1));
  Formula byU = matmul(upper(t.leftColumns(gradU)), c.adjoint(u));
  if (t.wide) byL = byL - matmul(otherColumns(gradU, t.square), c.adjoint(otherColumns(t.u, t.square)));
  if (t.tall) byU = byU - matmul(c.adjoint(otherRows(t.l, t.square)), otherRows(gradL, t.square));
  const Formula inner = lower(byL, -1) + upper(byU);
  const auto underU = [&](const Formula& a) { return solvedTriangular(c.adjoint(u), a, false, /*left=*/false); };
  const auto overL = [&](const Formula& a) { return solvedTriangular(c.adjoint(l), a, true, true, /*unit=*/true); };
  if (t.wide) return t.ordered(overL(cat({p(underU(inner)), p(otherColumns(gradU, t.square))}, -1)));
  if (t.tall) return t.ordered(underU(cat({p(overL(inner)), p(otherRows(gradL, t.square))}, -2)));
  return t.ordered(overL(underU(inner)));
}

struct LuTangents {
  Formula l, u;            ///< of the square part
  Formula otherL, otherU;  ///< of what follows from it
};
LuTangents luTangents(const LuTerms& t, const Formula& change) {
  const Formula moved = t.unordered(change), l = t.topRows(t.l), u = t.leftColumns(t.u);
  const Formula half = solvedTriangular(l, t.leftColumns(t.topRows(moved)), false, true, /*unit=*/true);
  const Formula inner = solvedTriangular(u, half, true, /*left=*/false);
  LuTangents tangents{.l = matmul(l, lower(inner, -1)), .u = matmul(upper(inner), u), .otherL = {}, .otherU = {}};
  if (t.wide)
    tangents.otherU = solvedTriangular(l, otherColumns(moved, t.square), false, true, /*unit=*/true) -
                      matmul(lower(inner, -1), otherColumns(t.u, t.square));
  if (t.tall)
    tangents.otherL = solvedTriangular(u, otherRows(moved, t.square), true, /*left=*/false) -
                      matmul(otherRows(t.l, t.square), upper(inner));
  return tangents;
}
Formula joined(Formulas& p, const Formula& a, const Formula& b, std::int64_t dim) {
  return b.isNone() ? a : cat({p(a), p(b)}, dim);
}

void lu(Backward& b) {
  if (b.has(1) || b.has(2)) b.give(0, luFlow(b, luTerms(b.call), b.orZeros(1), b.orZeros(2)));
}
std::vector<Formula> luForward(Forward& f) {
  const LuTangents t = luTangents(luTerms(f.call), f.tangent(0));
  return {Formula(), joined(f, t.l, t.otherL, -2), joined(f, t.u, t.otherU, -1)};
}

void luFactor(Backward& b) {
  if (!b.has(0)) return;
  const LuTerms t = factorTerms(b, b.call);
  b.give(0, luFlow(b, t, t.leftColumns(b.grad()), t.topRows(b.grad())));
}
std::vector<Formula> luFactorForward(Forward& f) {
  const LuTangents t = luTangents(factorTerms(f, f.call), f.tangent(0));
  return {joined(f, joined(f, t.l + t.u, t.otherL, -2), t.otherU, -1), Formula(), Formula()};
}

// lu_unpack(LU, pivots, unpack_data, unpack_pivots) → (P, L, U)

void luUnpack(Backward& b) {
  if (!b.has(1) && !b.has(2)) return;
  const SymInt rows = rowCount(b.args.tensor(0)), columns = columnCount(b.args.tensor(0));
  const auto padded = [](const Formula& a, const SymSizes& padding) {
    return Formula("aten.constant_pad_nd.default"_op, {a, Formula(intList(padding))});
  };
  Formula byL = b.has(1) ? lower(b.grad(1), -1) : Formula(), byU = b.has(2) ? upper(b.grad(2)) : Formula();
  if (!byL.isNone() && guardOrFalse(rows < columns)) byL = padded(byL, {0, columns - rows});
  if (!byU.isNone() && guardOrFalse(rows > columns)) byU = padded(byU, {0, 0, 0, rows - columns});
  b.give(0, sumOf({byL, byU}));
}
std::vector<Formula> luUnpackForward(Forward& f) {
  if (!f.args.boolean(2)) return {};
  const SymInt rows = rowCount(f.args.tensor(0)), columns = columnCount(f.args.tensor(0));
  const Formula change = f.tangent(0);
  return {Formula(), lower(guardOrFalse(rows < columns) ? firstColumns(change, rows) : change, -1),
          upper(guardOrFalse(rows > columns) ? firstRows(change, columns) : change)};
}

constexpr OpFacts luDerivativesTable[] = {
    differentiable<lu, luForward>("aten::linalg_lu"),
    differentiable<luFactor, luFactorForward>("aten::linalg_lu_factor_ex"),
    differentiable<luUnpack, luUnpackForward>("aten::lu_unpack"),
};

const OpRegistration luDerivatives({.facts = luDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
