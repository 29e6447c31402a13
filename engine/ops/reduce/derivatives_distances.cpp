// Gradients of distances between the rows of two matrices, and between those of one.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/reduce/reduction_dims.h"

namespace kerf::inline ops {
namespace {

using Tangents = std::vector<Formula>;

Formula turned(const Formula& x) { return {"aten.transpose.int"_op, {x, -2, -1}}; }

/// _cdist_forward(x1, x2, p, compute_mode)
void distances(Backward& b) {
  if (b.wants(0)) b.give(0, {"aten._cdist_backward.default"_op, {contiguous(b.grad()), b[0], b[1], b[2], b.result()}});
  if (b.wants(1))
    b.give(1, {"aten._cdist_backward.default"_op,
               {contiguous(turned(b.grad())), b[1], b[0], b[2], contiguous(turned(b.result()))}});
}

/// The change of the norms of differences along the last dimension.
Formula lengthened(Formulas& p, const Formula& difference, const Formula& change, double order, const Formula& norm) {
  const Formula wide = p(difference);
  const ReductionDims last{.dims = {wide.dim() - 1}, .all = false, .kept = true};
  return sum(normSlope(p, wide, order, p(unsqueeze(norm, -1)), last) * change, {-1});
}
Tangents distancesTangentBy(Forward& f, double order) {
  const auto between = [](const Formula& a, const Formula& b) { return unsqueeze(a, -2) - unsqueeze(b, -3); };
  return {lengthened(f, between(f[0], f[1]), between(f.orZeros(0), f.orZeros(1)), order, f.result())};
}
Tangents distancesTangent(Forward& f) { return distancesTangentBy(f, f.args.number(2)); }
Tangents euclideanTangent(Forward& f) { return distancesTangentBy(f, 2); }

/// _euclidean_dist(x1, x2)
void euclidean(Backward& b) {
  const Formula ratio = b(maskedFill(b.grad() / b.result(), equals(b.result(), 0), 0));
  const auto product = [](const Formula& a, const Formula& c) { return Formula("aten.matmul.default"_op, {a, c}); };
  if (b.wants(0)) b.give(0, b[0] * sum(ratio, {-1}, true) - product(ratio, b[1]));
  if (b.wants(1)) b.give(1, b[1] * unsqueeze(sum(ratio, {-2}), -1) - product(turned(ratio), b[0]));
}

/// _pdist_forward(self, p): between each row and those behind it.
void pairs(Backward& b) {
  b.give(0, {"aten._pdist_backward.default"_op, {contiguous(b.grad()), b[0], b[1], b.result()}});
}
Tangents pairsTangent(Forward& f) {
  const SymInt rows = f.args.tensor(0).symSize(0);
  const Formula both = f({"aten.triu_indices.default"_op, {rows, rows, 1}, {{"device", f[0].tensor().device()}}});
  const Formula first = f(select(both, 0, 0)), second = f(select(both, 0, 1));
  const auto between = [&](const Formula& x) {
    return Formula("aten.index_select.default"_op, {x, 0, first}) -
           Formula("aten.index_select.default"_op, {x, 0, second});
  };
  return {lengthened(f, between(f[0]), between(f.tangent()), f.args.number(1), f.result())};
}

constexpr OpFacts distanceDerivativesTable[] = {
    differentiable<distances, distancesTangent>("aten::_cdist_forward"),
    differentiable<euclidean, euclideanTangent>("aten::_euclidean_dist"),
    differentiable<pairs, pairsTangent>("aten::_pdist_forward"),
    withoutDerivative("aten::_cdist_backward"),
    withoutDerivative("aten::_pdist_backward"),
};

const OpRegistration distanceDerivatives({.facts = distanceDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
