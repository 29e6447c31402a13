// Parts of a tensor, and tensors of which a part is given and the rest is 0, as loops.
//
//   before: slice_backward(grad: [5, 12], [20, 12], 0, 3, 8, 1)
//   after:  for i0 < 20: for i1 < 12: out[12*i0 + i1] = 3 <= i0 < 8 ? grad[12*i0 + i1 - 36] : 0
#include <algorithm>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Element = const ElementCall&;

/// Counted from the front; only of a number that isWithin(dim, rank).
std::size_t dimensionAt(std::int64_t dim, std::size_t rank) {
  return std::size_t(dim < 0 ? dim + std::int64_t(rank) : dim);
}

/// Whether a number counts one of `size` things from the front, or negative from the end.
bool isWithin(std::int64_t number, std::int64_t size) { return number >= -size && number < size; }

/// The gradient where it was taken from, which is where `isPart`; 0 elsewhere.
int givenPart(Element c, const IndexMap& place, int isPart) {
  return c.b.convert(c.operands.atWhere(0, 0, place, isPart), c.dtype);
}

bool hasKnownSizes(const BoundArguments& bound, std::size_t rankOfGradient) {
  const SymSizes& gradient = bound.tensor(0).symSizes();
  return !gradient.isSymbolic() && !bound.symSizes(1).isSymbolic() && gradient.size() == rankOfGradient;
}

// slice_backward(grad, input_sizes, dim, start, end, step)

bool coversSlice(const BoundArguments& bound) {
  const std::size_t rank = bound.symSizes(1).size();
  if (!hasKnownSizes(bound, rank) || !bound.integerIf(3) || bound.integerIf(5) != 1) return false;
  if (!isWithin(bound.integer(2), std::int64_t(rank))) return false;
  Sizes sizes = bound.symSizes(1).numbers();
  const std::size_t dim = dimensionAt(bound.integer(2), rank);
  const std::int64_t size = sizes[dim], start = bound.integer(3), own = bound.tensor(0).sizes()[dim];
  sizes[dim] = own;
  const std::int64_t first = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  return first + own <= size && bound.tensor(0).sizes() == sizes;
}

int sliceBackward(Element c) {
  const std::size_t dim = dimensionAt(c.bound.integer(2), c.map.size());
  const std::int64_t size = c.bound.symSizes(1).numbers()[dim], start = c.bound.integer(3);
  const std::int64_t first = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
  const int at = c.b.index(c.map[dim]);
  const int isPart = c.b.binary(ExprOp::And, c.b.binary(ExprOp::Ge, at, c.number(first)),
                                c.b.binary(ExprOp::Lt, at, c.number(first + c.bound.tensor(0).sizes()[dim])));
  IndexMap place = c.map;
  place[dim] = place[dim] + Affine::number(-first);
  return givenPart(c, place, isPart);
}

// select_backward(grad, input_sizes, dim, index)

bool coversSelect(const BoundArguments& bound) {
  const SymSizes whole = bound.symSizes(1);
  if (whole.size() == 0 || !hasKnownSizes(bound, whole.size() - 1) || !bound.integerIf(3)) return false;
  Sizes sizes = whole.numbers();
  if (!isWithin(bound.integer(2), std::int64_t(sizes.size()))) return false;
  const std::size_t dim = dimensionAt(bound.integer(2), sizes.size());
  if (!isWithin(bound.integer(3), sizes[dim])) return false;
  sizes.erase(sizes.begin() + std::ptrdiff_t(dim));
  return bound.tensor(0).sizes() == sizes;
}

int selectBackward(Element c) {
  const std::size_t dim = dimensionAt(c.bound.integer(2), c.map.size());
  const std::int64_t index = c.bound.integer(3), size = c.bound.symSizes(1).numbers()[dim];
  const int isPart = c.b.binary(ExprOp::Eq, c.b.index(c.map[dim]), c.number(index < 0 ? index + size : index));
  IndexMap place = c.map;
  place.erase(place.begin() + std::ptrdiff_t(dim));
  return givenPart(c, place, isPart);
}

// tril(self, diagonal), triu(self, diagonal)

/// A diagonal that added to a row stays a number; those so far outside are all alike.
SymInt nearDiagonal(SymInt diagonal) {
  constexpr std::int64_t farthest = 1LL << 62;
  return diagonal.isSymbolic() ? diagonal : SymInt(std::clamp(diagonal.bits(), -farthest, farthest));
}

/// Whether the column, less the diagonal, stands so to the row.
template <ExprOp Compare>
int triangle(const PointwiseCall& c) {
  const std::size_t rank = c.map.size();
  const int row = c.b.index(c.map[rank - 2] + Affine::number(nearDiagonal(c.bound.symInteger(1))));
  return c.b.select(c.b.binary(Compare, c.b.index(c.map[rank - 1]), row), c.x(0), c.number(0));
}

constexpr OpFacts partLoweringsRows[] = {
    elementLowering("aten::slice_backward", sliceBackward, coversSlice),
    elementLowering("aten::select_backward", selectBackward, coversSelect),
    pointwiseLowering("aten::tril", OperandTypes::Any, triangle<ExprOp::Le>, 3),
    pointwiseLowering("aten::triu", OperandTypes::Any, triangle<ExprOp::Ge>, 3),
};

const OpRegistration partLowerings({.facts = partLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
