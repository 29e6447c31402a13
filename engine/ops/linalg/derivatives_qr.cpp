// Gradients of QR factors.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

// linalg_qr(A, mode) → (Q, R). dA · R⁻¹ = dQ + Q · W: W is upper triangular with a real diagonal, Qᴴ · dQ skew.
// A wide A is [A₁ A₂] with A₁ = Q · R₁ square and R₂ = Qᴴ · A₂.

/// X + Xᴴ with the real part of the diagonal counted once.
Formula symmetricOnce(const Conjugates& c, const Formula& x) {
  const Formula both = x + c.adjoint(x);
  const Formula diagonalOnce = c.isComplex() ? realPart(diagonal(x)) : diagonal(x);
  return both - diagonalMatrix(diagonalOnce);
}

/// A of as many columns as R has rows: [gQ + Q · sym(triu(gR · Rᴴ - Qᴴ · gQ))] · R⁻ᴴ; either flow may be none.
Formula qrFlow(const Conjugates& c, const Formula& q, const Formula& r, const Formula& gradQ, const Formula& gradR) {
  const Formula byR = gradR.isNone() ? gradR : matmul(gradR, c.adjoint(r));
  const Formula byQ = gradQ.isNone() ? gradQ : -matmul(c.adjoint(q), gradQ);
  const Formula inner = symmetricOnce(c, upper(sumOf({byR, byQ})));
  return solvedTriangular(c.adjoint(r), sumOf({gradQ, matmul(q, inner)}), false, /*left=*/false);
}

bool isWide(const CallRecord& call) {
  return guardOrFalse(rowCount(call.args.tensor(0)) < columnCount(call.args.tensor(0)));
}

void qr(Backward& b) {
  const Conjugates c(b.call);
  const Formula q = b.result(0), r = b.result(1);
  if (!isWide(b.call)) return b.give(0, qrFlow(c, q, r, b.grad(0), b.grad(1)));
  const SymInt rows = rowCount(b.args.tensor(0));
  const Formula square = firstColumns(r, rows);
  if (!b.has(1))
    return b.give(0, Formula("aten.constant_pad_nd.default"_op,
                             {qrFlow(c, q, square, b.grad(0), {}),
                              Formula(intList(SymSizes{0, columnCount(b.args.tensor(0)) - rows}))}));
  const Formula gradOther = otherColumns(b.grad(1), rows);
  const Formula gradQ = sumOf({b.grad(0), matmul(otherColumns(b[0], rows), c.adjoint(gradOther))});
  b.give(0, cat({b(qrFlow(c, q, square, gradQ, firstColumns(b.grad(1), rows))), b(matmul(q, gradOther))}, -1));
}

struct QrTangents {
  Formula q, r;
};
QrTangents qrTangents(const Conjugates& c, const Formula& q, const Formula& r, const Formula& change) {
  const Formula right = solvedTriangular(r, change, true, /*left=*/false);
  const Formula inner = matmul(c.adjoint(q), right);
  const Formula w = upper(symmetricOnce(c, inner));
  return {right - matmul(q, w), matmul(w, r)};
}
std::vector<Formula> qrForward(Forward& f) {
  const Conjugates c(f.call);
  const Formula q = f.result(0), r = f.result(1), change = f.tangent(0);
  if (!isWide(f.call)) {
    const QrTangents t = qrTangents(c, q, r, change);
    return {t.q, t.r};
  }
  const SymInt rows = rowCount(f.args.tensor(0));
  const QrTangents t = qrTangents(c, q, firstColumns(r, rows), firstColumns(change, rows));
  const Formula other =
      matmul(c.adjoint(q), otherColumns(change, rows)) + matmul(c.adjoint(t.q), otherColumns(f[0], rows));
  return {t.q, cat({f(t.r), f(other)}, -1)};
}

/// Only where the factors determine each other: with Q, and a complete Q no larger than the reduced one.
Result<void> checkMode(const CallRecord& call) {
  const std::string mode = call.args.text(1);
  const Tensor& a = call.args.tensor(0);
  if (mode == "r") return fail(ErrorCode::UnsupportedOp, "linalg_qr: without Q there is no gradient (mode 'r')");
  if (mode == "complete" && guardOrFalse(rowCount(a) > columnCount(a)))
    return fail(ErrorCode::UnsupportedOp, "linalg_qr: a complete Q has no gradient where A has more rows than columns");
  return {};
}
Result<ValueList> qrGradient(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  KERF_CHECK(checkMode(call));
  return gradientByRule(qr, call, grads, run);
}
Result<Value> qrJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  KERF_CHECK(checkMode(call));
  return jvpByRule(qrForward, call, tangents, run);
}

constexpr OpFacts qrDerivativesTable[] = {
    {.op = "aten::linalg_qr", .gradient = qrGradient, .jvp = qrJvp},
    withoutDerivative("aten::geqrf"),
};

const OpRegistration qrDerivatives({.facts = qrDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
