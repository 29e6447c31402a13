// Gradients of Fourier transforms, which are linear, and of what else is in this folder.
#include "engine/ops/core/flow_terms.h"
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// _fft_c2c(self, dim, normalization, forward): the transform back, scaled alike.
void complexTransform(Backward& b) {
  b.give(0, {"aten._fft_c2c.default"_op, {b.grad(), b[1], b[2], !b.args.boolean(3)}});
}

/// The last of the transformed dimensions, which one-sided transforms halve; none where nothing is transformed.
std::int64_t halvedDim(const Formulas& p) {
  const std::int64_t dim = p.args.sizes(1).back();
  return dim < 0 ? dim + p.args.tensor(0).dim() : dim;
}

/// _fft_r2c(self, dim, normalization, onesided): what a one-sided transform left out counts as zero.
void realTransform(Backward& b) {
  Formula grad = b.grad();
  if (b.args.boolean(3) && b.wants(0)) {
    const auto dim = std::size_t(halvedDim(b));
    const SymInt half = b.call.result().symSizes()[dim];
    SymSizes sizes = b.call.result().symSizes();
    sizes[dim] = b.sizes()[dim];
    if (guardOrTrue(sizes[dim] > half))
      grad = {"aten.slice_scatter.default"_op, {newZeros(grad, sizes), grad, std::int64_t(dim), std::int64_t{0}, half}};
  }
  const Formula back("aten._fft_c2c.default"_op, {grad, b[1], b[2], false});
  b.give(0, {"aten.real.default"_op, {back}});
}

/// _fft_c2r(self, dim, normalization, last_dim_size): values that stand for their mirror images too count twice.
void transformToReal(Backward& b) {
  if (!b.wants(0)) return;
  const Formula half("aten._fft_r2c.default"_op, {b.grad(), b[1], b[2], true});
  const auto dim = halvedDim(b);
  const SymInt doubled = b.args.symInteger(3) - b.sizes()[std::size_t(dim)];
  if (guardOrFalse(doubled <= 0)) return b.give(0, half);
  const SymInt end = doubled + SymInt(1);
  const Formula both = times(slice(half, dim, 1, end), 2);
  b.give(0, {"aten.slice_scatter.default"_op, {half, both, dim, std::int64_t{1}, end}});
}

/// fill_diagonal_(self, fill_value, wrap).
Formula withoutDiagonal(const Formulas& p, const Formula& a) {
  return {"aten.fill_diagonal_.default"_op, {clone(a), std::int64_t{0}, p[2]}};
}
void filledDiagonal(Backward& b) { b.give(0, withoutDiagonal(b, b.grad())); }
std::vector<Formula> filledDiagonalForward(Forward& f) { return {withoutDiagonal(f, f.tangent(0))}; }

constexpr OpFacts fourierDerivativesTable[] = {
    linear<complexTransform>("aten::_fft_c2c"),
    linear<realTransform>("aten::_fft_r2c"),
    linear<transformToReal>("aten::_fft_c2r"),
    differentiable<filledDiagonal, filledDiagonalForward>("aten::fill_diagonal_"),
    notDifferentiable("aten::is_same_size"),
    notDifferentiable("aten::bartlett_window"),
    notDifferentiable("aten::blackman_window"),
    notDifferentiable("aten::hamming_window"),
    notDifferentiable("aten::hann_window"),
    notDifferentiable("aten::kaiser_window"),
};

const OpRegistration fourierDerivatives({.facts = fourierDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
