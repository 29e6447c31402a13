// Gradients of singular values and vectors: A = U · S · Vᴴ. With dX = Uᴴ · dA · V and gaps[i, j] = S[j]² - S[i]²:
// dU = U · (dX · S + S · dXᴴ) / gaps, dV = V · (S · dX + dXᴴ · S) / gaps, and what lies outside of their columns.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

Formula withoutDiagonal(const Formula& a) { return a - diagonalMatrix(diagonal(a)); }
Formula imaginary(const Formula& a) { return {"aten.complex.default"_op, {zerosLike(a), a}}; }

/// The reduced factors of a call of _linalg_svd(A, full_matrices, compute_uv, *, driver) → (U, S, Vh).
struct SvdTerms {
  Conjugates c;
  SymInt count;  ///< singular values
  bool tall, wide;
  Formula u, s, vh;

  Formula gaps() const {
    const Formula squares = s * s;
    return asRow(squares) - asColumn(squares) + diagonalMatrix(onesLike(s));
  }
  Formula skew(const Formula& x) const { return withoutDiagonal(x - c.adjoint(x)); }
};
SvdTerms svdTerms(Formulas& p, const CallRecord& call) {
  const SymInt rows = rowCount(call.args.tensor(0)), columns = columnCount(call.args.tensor(0));
  SvdTerms t{.c = Conjugates(call),
             .count = symMin(rows, columns),
             .tall = guardOrFalse(rows > columns),
             .wide = guardOrFalse(rows < columns),
             .u = {},
             .s = call.results[1],
             .vh = {}};
  if (!p.args.boolean(2)) {
    const auto parts = p.several<3>({"aten._linalg_svd.default"_op, {p[0], false, true}});
    t.u = parts[0];
    t.vh = parts[2];
    return t;
  }
  const bool full = p.args.boolean(1);
  t.u = full && t.tall ? firstColumns(call.results[0], t.count) : Formula(call.results[0]);
  t.vh = full && t.wide ? firstRows(call.results[2], t.count) : Formula(call.results[2]);
  return t;
}

/// The phase that U and Vᴴ share is split between them.
Formula phaseFlow(const SvdTerms& t, const Formula& alongU, const Formula& alongV) {
  if (!t.c.isComplex()) return {};
  const auto phase = [](const Formula& a) { return a.isNone() ? a : imaginaryPart(diagonal(a)); };
  const Formula phases = sumOf({phase(alongU), negated(phase(alongV))});
  return phases.isNone() ? phases : diagonalMatrix(imaginary(times(phases / t.s, 0.5)));
}

void svd(Backward& b) {
  if (!b.has(0) && !b.has(1) && !b.has(2)) return;
  const SvdTerms t = svdTerms(b, b.call);
  if (!b.has(0) && !b.has(2)) return b.give(0, matmul(t.u * asRow(b.grad(1)), t.vh));
  const bool full = b.args.boolean(1);
  const Formula gradU = b.has(0) && full && t.tall ? firstColumns(b.grad(0), t.count) : b.grad(0);
  const Formula gradVh = b.has(2) && full && t.wide ? firstRows(b.grad(2), t.count) : b.grad(2);
  const Formula turnedU = t.c.adjoint(t.u), v = t.c.adjoint(t.vh);
  const Formula alongU = gradU.isNone() ? gradU : matmul(turnedU, gradU);
  const Formula alongV = gradVh.isNone() ? gradVh : matmul(t.vh, t.c.adjoint(gradVh));
  const Formula inner = sumOf({alongU.isNone() ? alongU : t.skew(alongU) / t.gaps() * asRow(t.s),
                               alongV.isNone() ? alongV : asColumn(t.s) * (t.skew(alongV) / t.gaps()),
                               b.has(1) ? diagonalMatrix(b.grad(1)) : Formula(), phaseFlow(t, alongU, alongV)});
  Formula left = matmul(t.u, inner);
  if (t.tall && !gradU.isNone()) {
    const Formula scaled = gradU / asRow(t.s);
    left = left + scaled - matmul(t.u, matmul(turnedU, scaled));
  }
  Formula whole = matmul(left, t.vh);
  if (t.wide && !gradVh.isNone()) {
    const Formula scaled = gradVh / asColumn(t.s);
    whole = whole + matmul(t.u, scaled - matmul(matmul(scaled, v), t.vh));
  }
  b.give(0, whole);
}

std::vector<Formula> svdForward(Forward& f) {
  const SvdTerms t = svdTerms(f, f.call);
  const Formula turnedU = t.c.adjoint(t.u), v = t.c.adjoint(t.vh), change = f.tangent(0);
  const Formula moved = matmul(turnedU, change, v), turned = t.c.adjoint(moved);
  const Formula values = t.c.isComplex() ? realPart(diagonal(moved)) : diagonal(moved);
  if (!f.args.boolean(2)) return {Formula(), values, Formula()};
  const Formula row = asRow(t.s), column = asColumn(t.s);
  Formula inU = withoutDiagonal((moved * row + column * turned) / t.gaps());
  Formula inV = withoutDiagonal((column * moved + turned * row) / t.gaps());
  if (t.c.isComplex()) {
    const Formula phase = diagonalMatrix(imaginary(times(imaginaryPart(diagonal(moved)) / t.s, 0.5)));
    inU = inU + phase;
    inV = inV - phase;
  }
  Formula changeU = matmul(t.u, inU), changeV = matmul(v, inV);
  if (t.tall) changeU = changeU + (matmul(change, v) - matmul(t.u, moved)) / row;
  if (t.wide) changeV = changeV + (matmul(t.c.adjoint(change), t.u) - matmul(v, turned)) / row;
  return {changeU, values, t.c.adjoint(changeV)};
}
Result<Value> svdJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  const Tensor& a = call.args.tensor(0);
  if (call.args.boolean(1) && call.args.boolean(2) && guardOrTrue(rowCount(a) != columnCount(a)))
    return fail(ErrorCode::UnsupportedOp, "_linalg_svd: full matrices have no tangents unless they are square");
  return jvpByRule(svdForward, call, tangents, run);
}

constexpr OpFacts svdDerivativesTable[] = {{.op = "aten::_linalg_svd", .gradient = ruleGradient<svd>, .jvp = svdJvp}};

const OpRegistration svdDerivatives({.facts = svdDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
