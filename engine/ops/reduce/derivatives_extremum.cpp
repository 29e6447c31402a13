// Gradients of extrema, medians and sorting: what is chosen takes the gradient, by its place or shared among equals.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/reduce/reduction_dims.h"

namespace kerf::inline ops {
namespace {

using Tangents = std::vector<Formula>;

// Shared among equals

/// Elements that are the result, and how many there are behind each.
struct Chosen {
  Formula is, count;

  Chosen(Formulas& p, const ReductionDims& dims, const Formula& result) {
    is = p(equals(p[0], dims.restored(result)));
    count = p(dims.all ? sum(is) : sum(is, dims.dims, true));
  }
};
/// amax, amin: the gradient along the dimensions, in equal parts.
void shared(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  const Chosen chosen(b, dims, b.result());
  b.give(0, dims.restored(b.grad()) * chosen.is / chosen.count);
}
Formula sharedTangentOf(Forward& f, const Formula& result) {
  const ReductionDims dims = reductionDims(f.args);
  const Chosen chosen(f, dims, result);
  return dims.sum(f.tangent() * chosen.is / chosen.count);
}
Tangents sharedTangent(Forward& f) { return {sharedTangentOf(f, f.result())}; }

/// max, min, median of the whole tensor. Of a median that is NaN all NaN are the result.
Formula isResult(Formulas& p, const Formula& result) {
  return {"aten.logical_or.default"_op,
          {equals(p[0], result), Formula("aten.logical_and.default"_op, {isnan(p[0]), isnan(result)})}};
}
void sharedByAll(Backward& b) {
  const Formula chosen = b(isResult(b, b.result()));
  b.give(0, chosen * (b.grad() / sum(chosen)));
}
Tangents sharedByAllTangent(Forward& f) {
  const Formula chosen = f(isResult(f, f.result()));
  return {sum(f.tangent() * chosen) / sum(chosen)};
}

void aminmax(Backward& b) {
  const ReductionDims dims = reductionDims(b.args);
  Formula total;
  for (const std::size_t k : {std::size_t(0), std::size_t(1)}) {
    if (!b.has(k)) continue;
    const Chosen chosen(b, dims, b.result(k));
    const Formula part = b(dims.restored(b.grad(k)) * chosen.is / chosen.count);
    total = total.isNone() ? part : total + part;
  }
  b.give(0, total);
}
Tangents aminmaxTangent(Forward& f) { return {sharedTangentOf(f, f.result(0)), sharedTangentOf(f, f.result(1))}; }

// By place: the second result says where the first was taken, along the argument "dim"

struct Taken {
  std::int64_t dim = 0;
  bool isGone = false;  ///< the dimension is not in the result

  Taken(const Formulas& p, const Formula& indices) {
    const std::size_t at = p.args.position("dim");
    const std::int64_t rank = p[0].dim(), given = p.args.integer(at);
    dim = given < 0 ? given + std::max<std::int64_t>(rank, 1) : given;
    isGone = indices.dim() < rank;
  }
  Formula with(const Formula& x) const { return isGone ? unsqueeze(x, dim) : x; }
  Formula without(const Formula& x) const { return isGone ? squeeze(x, dim) : x; }
};
void taken(Backward& b) {
  if (!b.has(0)) return;
  const Taken at(b, b.result(1));
  b.give(0, {"aten.scatter.src"_op, {newZeros(b.grad(), b.sizes()), at.dim, at.with(b.result(1)), at.with(b.grad())}});
}
Tangents takenTangent(Forward& f) {
  const Taken at(f, f.result(1));
  return {at.without({"aten.gather.default"_op, {f.tangent(), at.dim, at.with(f.result(1))}}), {}};
}
/// cummax, cummin: an element may be taken many times.
void takenOften(Backward& b) {
  if (!b.has(0)) return;
  const Taken at(b, b.result(1));
  b.give(0, {"aten.scatter_add.default"_op, {newZeros(b.grad(), b.sizes()), at.dim, b.result(1), b.grad()}});
}

constexpr OpFacts extremumDerivativesTable[] = {
    differentiable<shared, sharedTangent>("aten::amax"),
    differentiable<shared, sharedTangent>("aten::amin"),
    differentiable<aminmax, aminmaxTangent>("aten::aminmax"),
    differentiable<sharedByAll, sharedByAllTangent>("aten::max"),
    differentiable<sharedByAll, sharedByAllTangent>("aten::min"),
    differentiable<sharedByAll, sharedByAllTangent>("aten::median"),
    differentiable<sharedByAll, sharedByAllTangent>("aten::nanmedian"),
    differentiable<taken, takenTangent>("aten::max.dim"),
    differentiable<taken, takenTangent>("aten::min.dim"),
    differentiable<taken, takenTangent>("aten::median.dim"),
    differentiable<taken, takenTangent>("aten::nanmedian.dim"),
    differentiable<taken, takenTangent>("aten::kthvalue"),
    differentiable<taken, takenTangent>("aten::mode"),
    differentiable<taken, takenTangent>("aten::sort"),
    differentiable<taken, takenTangent>("aten::topk"),
    differentiable<takenOften, takenTangent>("aten::cummax"),
    differentiable<takenOften, takenTangent>("aten::cummin"),
};

const OpRegistration extremumDerivatives({.facts = extremumDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
