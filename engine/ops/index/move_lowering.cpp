// Moves of elements as loops: every element of the result is one element of an operand, or a constant.
//
//   before: cat = aten.cat([x: [4, 8], y: [4, 2]], 1)
//   after:  for i0 < 4: for i1 < 10: cat[10*i0 + i1] = i1 < 8 ? x[8*i0 + i1] : y[2*i0 + i1 - 8]
#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

/// More pieces than these are better copied one by one.
constexpr std::size_t mostPieces = 8;

std::size_t wrapped(std::int64_t dim, std::size_t rank) {
  return std::size_t(dim < 0 ? dim + std::int64_t(rank) : dim);
}

int both(Call c, int a, int b) { return a < 0 ? b : b < 0 ? a : c.b.binary(And, a, b); }

/// begin <= place; -1 where that holds anyway.
int notBefore(Call c, const Affine& place, SymInt begin) {
  if (begin.isIdentical(0)) return -1;
  return c.b.binary(Ge, c.b.index(place), c.size(begin));
}

int before(Call c, const Affine& place, SymInt end) { return c.b.binary(Lt, c.b.index(place), c.size(end)); }

// --- pieces side by side

bool coversCat(const BoundArguments& bound) {
  const auto pieces = bound.tensors(0);
  const auto isLikeFirst = [&](const Tensor& piece) { return piece.dim() == pieces[0].dim() && piece.dim() > 0; };
  return !pieces.empty() && pieces.size() <= mostPieces && std::ranges::all_of(pieces, isLikeFirst);
}

int pieceOfCat(Call c) {
  const auto pieces = c.bound.tensors(0);
  const std::size_t dim = wrapped(c.bound.integer(1), c.map.size());
  std::vector<SymInt> begins{0};
  for (const Tensor& piece : pieces) begins.push_back(begins.back() + piece.symSizes()[dim]);
  int result = -1;
  for (std::size_t k = pieces.size(); k-- > 0;) {
    const bool isLast = k + 1 == pieces.size();
    const int ends = isLast ? -1 : before(c, c.map[dim], begins[k + 1]);
    const int within = both(c, notBefore(c, c.map[dim], begins[k]), ends);
    IndexMap place = c.map;
    place[dim] = place[dim] + Affine::number(SymInt(0) - begins[k]);
    const int stored = within < 0 ? c.operands.at(0, k, affinePlaces(place)) : c.operands.atWhere(0, k, place, within);
    const int element = c.b.convert(stored, c.dtype);
    result = isLast ? element : c.b.select(ends, element, result);
  }
  return result;
}

bool coversStack(const BoundArguments& bound) { return bound.values[0].list().size() <= mostPieces; }

int stack(Call c) {
  const std::size_t count = c.bound.tensors(0).size();
  const std::size_t dim = wrapped(c.bound.integer(1), c.map.size());
  IndexMap place = c.map;
  place.erase(place.begin() + std::ptrdiff_t(dim));
  int result = -1;
  for (std::size_t k = count; k-- > 0;) {
    const int isIt = c.b.binary(Eq, c.b.index(c.map[dim]), c.number(std::int64_t(k)));
    const int element = c.b.convert(c.operands.atWhere(0, k, place, isIt), c.dtype);
    result = result < 0 ? element : c.b.select(isIt, element, result);
  }
  return result;
}

// --- padding

/// "x" of pad [left, right, top, bottom, …] from the last dimension on.
int constantPad(Call c) {
  const SymSizes pad = c.bound.symSizes(1);
  const SymSizes& sizes = c.bound.tensor(0).symSizes();
  IndexMap place = c.map;
  int within = -1;
  for (std::size_t d = sizes.size(), p = 0; d-- > 0 && p + 1 < pad.size(); p += 2) {
    place[d] = place[d] + Affine::number(SymInt(0) - pad[p]);
    const bool needsNone = !pad[p].isSymbolic() && !pad[p + 1].isSymbolic() && pad[p].bits() <= 0;
    if (!needsNone) within = both(c, within, c.b.binary(Ge, c.b.index(place[d]), c.number(0)));
    if (!needsNone || pad[p + 1].bits() > 0) within = both(c, within, before(c, place[d], sizes[d]));
  }
  if (within < 0) return c.operands.at(0, 0, affinePlaces(place));
  const int element = c.b.convert(c.operands.atWhere(0, 0, place, within), computeType(c.dtype));
  return c.b.select(within, element, c.b.constant(c.bound.numberIf(2).value_or(0), c.dtype));
}

enum class Fold : std::uint8_t { Reflect, Replicate };

int folded(Call c, Fold fold, int place, SymInt size) {
  const int first = c.number(0), last = c.size(size - 1);
  const int isBefore = c.b.binary(Lt, place, first), isBehind = c.b.binary(Gt, place, last);
  if (fold == Fold::Replicate) return c.b.select(isBefore, first, c.b.select(isBehind, last, place));
  const int mirrored = c.b.binary(Sub, c.b.binary(Add, last, last), place);
  return c.b.select(isBefore, c.b.binary(Sub, first, place), c.b.select(isBehind, mirrored, place));
}

template <Fold fold>
int foldingPad(Call c) {
  const SymSizes pad = c.bound.symSizes(1);
  const SymSizes& sizes = c.bound.tensor(0).symSizes();
  std::vector<Place> places = affinePlaces(c.map);
  for (std::size_t d = sizes.size(), p = 0; d-- > 0 && p + 1 < pad.size(); p += 2) {
    const int place = c.b.index(c.map[d] + Affine::number(SymInt(0) - pad[p]));
    places[d] = {{}, folded(c, fold, place, sizes[d])};
  }
  return c.operands.at(0, 0, places);
}

// --- other orders

int flip(Call c) {
  const SymSizes& sizes = c.bound.tensor(0).symSizes();
  std::vector<Place> places = affinePlaces(c.map);
  for (const std::int64_t dim : c.bound.sizes(1)) {
    const std::size_t d = wrapped(dim, sizes.size());
    places[d].affine = places[d].affine * SymInt(-1) + Affine::number(sizes[d] - 1);
  }
  return c.operands.at(0, 0, places);
}

bool coversRoll(const BoundArguments& bound) {
  return !bound.sizes(2).empty() && !bound.tensor(0).symSizes().isSymbolic() && !bound.symSizes(1).isSymbolic();
}

int roll(Call c) {
  const Sizes shifts = c.bound.sizes(1), dims = c.bound.sizes(2);
  Sizes total(c.map.size(), 0);
  for (std::size_t k = 0; k < dims.size(); ++k) total[wrapped(dims[k], total.size())] += shifts[k];
  std::vector<Place> places = affinePlaces(c.map);
  for (std::size_t d = 0; d < total.size(); ++d) {
    const std::int64_t size = c.bound.tensor(0).sizes()[d];
    const std::int64_t shift = size > 0 ? (total[d] % size + size) % size : 0;
    if (shift == 0) continue;
    const int place = c.b.index(c.map[d] + Affine::number(-shift));
    const int isBefore = c.b.binary(Lt, place, c.number(0));
    places[d] = {{}, c.b.select(isBefore, c.b.binary(Add, place, c.number(size)), place)};
  }
  return c.operands.at(0, 0, places);
}

// --- a part replaced

/// `source` where the condition holds, which then is the element at `place`; else the element of self.
int replaced(Call c, int condition, const IndexMap& place) {
  const int kept = c.b.convert(c.operands.at(0, 0, affinePlaces(c.map)), c.dtype);
  if (condition < 0) return c.b.convert(c.operands.at(1, 0, affinePlaces(place)), c.dtype);
  return c.b.select(condition, c.b.convert(c.operands.atWhere(1, 0, place, condition), c.dtype), kept);
}

/// Whether both are known, and the source has these sizes: a smaller one is spread over what it replaces.
bool replacesExactly(const BoundArguments& bound, const Sizes& replacedSizes) {
  const SymSizes& source = bound.tensor(1).symSizes();
  return !source.isSymbolic() && source.numbers() == replacedSizes;
}

bool isStatic(const BoundArguments& bound) { return !bound.tensor(0).symSizes().isSymbolic(); }

struct Range {
  std::int64_t first = 0, last = 0;
};

Range sliceRange(const BoundArguments& bound, std::int64_t size) {
  const auto end = [&](std::size_t i, std::int64_t otherwise) {
    const std::int64_t at = bound.integerIf(i).value_or(otherwise);
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t first = end(3, 0);
  return {first, std::max(end(4, size), first)};
}

bool coversSlice(const BoundArguments& bound) {
  const auto isNumber = [&](std::size_t i) { return bound.none(i) || bound.integerIf(i).has_value(); };
  if (!isStatic(bound) || bound.integer(5) != 1 || !isNumber(3) || !isNumber(4)) return false;
  Sizes sizes = bound.tensor(0).sizes();
  std::int64_t& size = sizes[wrapped(bound.integer(2), sizes.size())];
  const Range range = sliceRange(bound, size);
  size = range.last - range.first;
  return replacesExactly(bound, sizes);
}

int sliceScatter(Call c) {
  const std::size_t dim = wrapped(c.bound.integer(2), c.map.size());
  const std::int64_t size = c.bound.tensor(0).sizes()[dim];
  const Range range = sliceRange(c.bound, size);
  const int within =
      both(c, notBefore(c, c.map[dim], range.first), range.last < size ? before(c, c.map[dim], range.last) : -1);
  IndexMap place = c.map;
  place[dim] = place[dim] + Affine::number(-range.first);
  return replaced(c, within, place);
}

bool coversSelect(const BoundArguments& bound) {
  if (!isStatic(bound) || !bound.integerIf(3)) return false;
  Sizes sizes = bound.tensor(0).sizes();
  sizes.erase(sizes.begin() + std::ptrdiff_t(wrapped(bound.integer(2), sizes.size())));
  return replacesExactly(bound, sizes);
}

int selectScatter(Call c) {
  const std::size_t dim = wrapped(c.bound.integer(2), c.map.size());
  const std::int64_t index = c.bound.integer(3), size = c.bound.tensor(0).sizes()[dim];
  const int isIt = c.b.binary(Eq, c.b.index(c.map[dim]), c.number(index < 0 ? index + size : index));
  IndexMap place = c.map;
  place.erase(place.begin() + std::ptrdiff_t(dim));
  return replaced(c, isIt, place);
}

bool coversDiagonal(const BoundArguments& bound) {
  if (!isStatic(bound)) return false;
  const Sizes& whole = bound.tensor(0).sizes();
  const std::int64_t offset = bound.integer(2);
  const std::size_t row = wrapped(bound.integer(3), whole.size()), column = wrapped(bound.integer(4), whole.size());
  Sizes sizes;
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (d != row && d != column) sizes.push_back(whole[d]);
  const std::int64_t rows = whole[row] + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns = whole[column] - std::max<std::int64_t>(offset, 0);
  sizes.push_back(std::max<std::int64_t>(0, std::min(rows, columns)));
  return replacesExactly(bound, sizes);
}

int diagonalScatter(Call c) {
  const std::int64_t offset = c.bound.integer(2);
  const std::size_t row = wrapped(c.bound.integer(3), c.map.size()), column = wrapped(c.bound.integer(4), c.map.size());
  const int isOnIt = c.b.binary(Eq, c.b.index(c.map[column]), c.b.index(c.map[row] + Affine::number(offset)));
  const int kept = c.b.convert(c.operands.at(0, 0, affinePlaces(c.map)), c.dtype);
  const std::int64_t length = c.bound.tensor(1).sizes().back();
  if (length == 0) return kept;
  std::vector<Place> places;
  for (std::size_t d = 0; d < c.map.size(); ++d)
    if (d != row && d != column) places.push_back({c.map[d]});
  // Counted by the outer one of row and column, so that a line reads one element: any, where none is on the diagonal.
  const Affine along = row < column ? c.map[row] + Affine::number(std::min<std::int64_t>(offset, 0))
                                    : c.map[column] + Affine::number(-std::max<std::int64_t>(offset, 0));
  const int within = c.b.binary(Maximum, c.b.binary(Minimum, c.b.index(along), c.number(length - 1)), c.number(0));
  places.push_back({{}, within});
  return c.b.select(isOnIt, c.b.convert(c.operands.at(1, 0, places), c.dtype), kept);
}

constexpr OpFacts moveLoweringsRows[] = {
    elementLowering("aten::cat", pieceOfCat, coversCat),
    elementLowering("aten::stack", stack, coversStack),
    elementLowering("aten::constant_pad_nd", constantPad),
    elementLowering("aten::reflection_pad1d", foldingPad<Fold::Reflect>),
    elementLowering("aten::reflection_pad2d", foldingPad<Fold::Reflect>),
    elementLowering("aten::reflection_pad3d", foldingPad<Fold::Reflect>),
    elementLowering("aten::replication_pad1d", foldingPad<Fold::Replicate>),
    elementLowering("aten::replication_pad2d", foldingPad<Fold::Replicate>),
    elementLowering("aten::replication_pad3d", foldingPad<Fold::Replicate>),
    elementLowering("aten::flip", flip),
    elementLowering("aten::roll", roll, coversRoll),
    elementLowering("aten::slice_scatter", sliceScatter, coversSlice),
    elementLowering("aten::select_scatter", selectScatter, coversSelect),
    elementLowering("aten::diagonal_scatter", diagonalScatter, coversDiagonal),
};

const OpRegistration moveLowerings({.facts = moveLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
