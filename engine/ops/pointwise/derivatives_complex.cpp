// Derivatives of what takes complex numbers apart and puts them together. All but angle, sgn and polar are linear over
// the real numbers.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Formula real(const Formula& z) { return {"aten.real.default"_op, {z}}; }
Formula imag(const Formula& z) { return {"aten.imag.default"_op, {z}}; }
Formula complex(const Formula& re, const Formula& im) { return {"aten.complex.default"_op, {re, im}}; }
Formula conj(const Formula& z) { return {"aten._conj.default"_op, {z}}; }

void conjugate(Backward& b) { b.give(0, conj(b.grad())); }
void conjugatePhysically(Backward& b) { b.give(0, {"aten.conj_physical.default"_op, {b.grad()}}); }
void same(Backward& b) { b.give(0, b.grad()); }
void negated(Backward& b) { b.give(0, -b.grad()); }
void realPart(Backward& b) {
  const bool complexSelf = isComplex(b[0].dtype());
  b.give(0, complexSelf ? complex(b.grad(), zerosLike(b.grad())) : b.grad());
}
void imaginaryPart(Backward& b) { b.give(0, complex(zerosLike(b.grad()), b.grad())); }
void asReal(Backward& b) { b.give(0, {"aten.view_as_complex.default"_op, {contiguous(b.grad())}}); }
void asComplex(Backward& b) { b.give(0, {"aten.view_as_real.default"_op, {b.grad()}}); }
void joined(Backward& b) {
  b.give(0, real(b.grad()));
  b.give(1, imag(b.grad()));
}

/// view_as_complex needs the last dimension dense, which a tangent's may not be.
std::vector<Formula> asComplexTangent(Forward& f) {
  return {{"aten.view_as_complex.default"_op, {contiguous(f.tangent())}}};
}

/// abs · exp(i · angle)
void polar(Backward& b) {
  const Formula re = real(b.grad()), im = imag(b.grad()), cosine = cos(b[1]), sine = sin(b[1]);
  b.give(0, re * cosine + im * sine);
  b.give(1, b[0] * (im * cosine - re * sine));
}
std::vector<Formula> polarTangent(Forward& f) {
  const Formula cosine = cos(f[1]), sine = sin(f[1]);
  const Formula length = f.orZeros(0), turn = f[0] * f.orZeros(1);
  return {complex(length * cosine - turn * sine, length * sine + turn * cosine)};
}

/// i · z / |z|², by which a change of z turns it; 0 at 0.
Formula turning(const Formula& z) {
  const Formula length = square(abs(z));
  return where(equals(z, 0.0), 0.0, complex(-imag(z), real(z)) / length);
}
void angle(Backward& b) {
  if (isComplex(b[0].dtype())) return b.give(0, b.grad() * turning(b[0]));
  b.give(0, zerosLike(b[0]));
}
std::vector<Formula> angleTangent(Forward& f) {
  if (isComplex(f[0].dtype())) return {real(f.tangent() * conj(turning(f[0])))};
  return {zerosLike(f.tangent())};
}

/// z / |z|: what is across z remains, divided by its length.
Formula across(const Formula& flow, const Formula& z, const Formula& sign) {
  const Formula along = real(flow * conj(sign));
  return where(equals(z, 0.0), 0.0, (flow - along * sign) / abs(z));
}
void sgn(Backward& b) {
  if (isComplex(b[0].dtype())) return b.give(0, across(b.grad(), b[0], b.result()));
  b.give(0, zerosLike(b[0]));
}
std::vector<Formula> sgnTangent(Forward& f) {
  if (isComplex(f[0].dtype())) return {across(f.tangent(), f[0], f.result())};
  return {zerosLike(f.tangent())};
}

constexpr OpFacts complexDerivativesTable[] = {
    linear<conjugate>("aten::conj"),
    linear<conjugate>("aten::_conj"),
    linear<conjugate>("prims::conj"),
    linear<conjugatePhysically>("aten::conj_physical"),
    linear<conjugatePhysically>("aten::_conj_physical"),
    linear<conjugatePhysically>("prims::conj_physical"),
    linear<same>("aten::resolve_conj"),
    linear<same>("aten::resolve_neg"),
    linear<negated>("aten::_neg_view"),
    linear<realPart>("aten::real"),
    linear<imaginaryPart>("aten::imag"),
    linear<asReal>("aten::view_as_real"),
    differentiable<asComplex, asComplexTangent>("aten::view_as_complex"),
    jointlyLinear<joined>("aten::complex"),
    differentiable<polar, polarTangent>("aten::polar"),
    differentiable<angle, angleTangent>("aten::angle"),
    differentiable<sgn, sgnTangent>("aten::sgn"),
};

const OpRegistration complexDerivatives({.facts = complexDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
