#include "engine/ops/reduce/reduction_dims.h"

#include <algorithm>
#include <cmath>

namespace kerf::inline ops {
namespace {

/// Position of an argument by name; -1 where the schema has none.
std::int64_t positionOf(const BoundArguments& args, std::string_view name) {
  const auto& arguments = args.op->schema.arguments;
  const auto found = std::ranges::find(arguments, name, &SchemaArgument::name);
  return found == arguments.end() ? -1 : found - arguments.begin();
}

Formula sgn(const Formula& x) { return {"aten.sgn.default"_op, {x}}; }

}  // namespace

Formula ReductionDims::restored(const Formula& x) const { return kept || all ? x : unsqueezed(x, dims); }

Formula ReductionDims::sum(const Formula& x) const { return all && !kept ? ops::sum(x) : ops::sum(x, dims, kept); }

ReductionDims reductionDims(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  ReductionDims result;
  result.count = self.symNumel();
  const std::int64_t dim = positionOf(args, "dim"), keep = positionOf(args, "keepdim");
  const std::int64_t correction = positionOf(args, "correction");
  if (correction >= 0) result.correction = args.numberIf(std::size_t(correction)).value_or(1);
  if (keep >= 0) result.kept = args.boolean(std::size_t(keep));
  if (dim >= 0 && !args.none(std::size_t(dim)))
    result.dims =
        args.values[std::size_t(dim)].isList() ? args.sizes(std::size_t(dim)) : Sizes{args.integer(std::size_t(dim))};
  result.all = result.dims.empty() || self.dim() == 0;
  if (result.all) {
    result.dims.clear();
    for (std::int64_t d = 0; d < self.dim(); ++d) result.dims.push_back(d);
    return result;
  }
  for (std::int64_t& d : result.dims) d = d < 0 ? d + self.dim() : d;
  std::ranges::sort(result.dims);
  result.count = 1;
  for (const std::int64_t d : result.dims) result.count *= self.symSize(d);
  return result;
}

ReductionDims allBut(const Tensor& self, std::int64_t dim) {
  ReductionDims result{.all = false, .kept = true};
  const std::int64_t left = dim < 0 ? dim + self.dim() : dim;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != left) result.dims.push_back(d);
  return result;
}

Formula normSlope(Formulas& p, const Formula& self, double order, const Formula& norm, const ReductionDims& dims) {
  if (order == 0) return zerosLike(self);
  if (order == 1) return sgn(self);
  const Formula none = p(equals(norm, 0));
  if (order == 2) return maskedFill(self / norm, none, 0);
  if (std::isinf(order)) {
    const Formula extreme = p(equals(abs(self), norm));
    return sgn(self) * extreme / sum(extreme, dims.dims, true);
  }
  const Formula scale = maskedFill(Formula("aten.reciprocal.default"_op, {pow(norm, order - 1)}), none, 0);
  if (order > 2) return self * pow(abs(self), order - 2) * scale;
  const Formula steep = maskedFill(pow(abs(self), order - 1), equals(self, 0), 0);
  return sgn(self) * steep * scale;
}

}  // namespace kerf::inline ops
