// Searches in sorted boundaries as loops: as many steps as the number of boundaries has bits, without a branch.
//
//   before: searchsorted(edges: [100], x: [4096])
//   after:  for i0 < 4096: n = 0; 7 times, for 50, 25, … 1 more: n = edges[n + 50] < x[i0] ? n + 51 : n; …
#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

/// Where the boundaries of a call and the values that are looked for stand among its arguments.
struct Search {
  std::size_t boundaries, values;
  bool right;
};

Search searchOf(const BoundArguments& bound) {
  const bool isBucketize = bound.op->schema.name == "aten::bucketize";
  const bool right = bound.boolean(3) || (!isBucketize && !bound.none(4) && bound.text(4) == "right");
  return {isBucketize ? 1u : 0u, isBucketize ? 0u : 1u, right};
}

bool coversSearch(const BoundArguments& bound) {
  const Search search = searchOf(bound);
  const Tensor &boundaries = bound.tensor(search.boundaries), &values = bound.tensor(search.values);
  if (bound.values.size() > 5 && bound.tensorIf(5)) return false;  // a sorter
  if (boundaries.symSizes().isSymbolic() || boundaries.dim() == 0 || boundaries.sizes().back() == 0) return false;
  if (boundaries.dtype() != values.dtype() || boundaries.dtype() == DType::Bool) return false;
  if (boundaries.dim() == 1) return true;
  if (search.boundaries == 1 || values.symSizes().isSymbolic() || values.dim() != boundaries.dim()) return false;
  return std::equal(values.sizes().begin(), values.sizes().end() - 1, boundaries.sizes().begin());
}

/// How many boundaries are before the value: less than it, or not greater where equal ones count too. NaN is behind
/// all. Halves what is left as PyTorch's kernel does, so that boundaries out of order give the same: of `left`
/// boundaries, or of one less, the middle one is asked.
int searchLoop(Call c) {
  const Search search = searchOf(c.bound);
  const Tensor& boundaries = c.bound.tensor(search.boundaries);
  const DType dtype = computeType(boundaries.dtype());
  const int value = c.b.convert(c.operands.at(search.values, 0, affinePlaces(c.map)), dtype);
  const std::int64_t count = boundaries.sizes().back();
  std::vector<Place> places = boundaries.dim() == 1 ? std::vector<Place>(1) : affinePlaces(c.map);
  int before = c.number(0), isOneLess = c.number(0);
  for (std::int64_t left = count; left > 0; left /= 2) {
    const bool isEven = left % 2 == 0, isLast = left == 1;
    const int half = isEven ? c.b.binary(Sub, c.number(left / 2), isOneLess) : c.number(left / 2);
    const int middle = c.b.binary(Add, before, half);
    places.back() = {{}, isLast ? c.b.binary(Minimum, middle, c.number(count - 1)) : middle};
    const int boundary = c.b.convert(c.operands.at(search.boundaries, 0, places), dtype);
    int isBefore = c.b.unary(Not, c.b.binary(search.right ? Gt : Ge, boundary, value));
    if (isLast) isBefore = c.b.binary(And, isBefore, c.b.binary(Eq, isOneLess, c.number(0)));
    before = c.b.select(isBefore, c.b.binary(Add, middle, c.number(1)), before);
    isOneLess = isEven ? c.b.select(isBefore, c.number(1), isOneLess) : c.b.select(isBefore, isOneLess, c.number(0));
  }
  return c.b.convert(before, c.dtype);
}

constexpr OpFacts searching(const char* op) {
  OpFacts row = elementLowering(op, searchLoop, coversSearch);
  row.lowering.cost = 100;
  return row;
}

constexpr OpFacts searchLoweringsRows[] = {
    searching("aten::bucketize.Tensor"),
    searching("aten::searchsorted.Tensor"),
};

const OpRegistration searchLowerings({.facts = searchLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
