// Writes at places that are counted over the whole of a tensor without gaps, as loops.
//
//   before: put(x: [64, 10], index: [512], v: [512], True)
//   after:  for i0 < 640: put[i0] = x[i0]
//           for i0 < 512 (serial): put[index[i0]] += v[i0]
#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/index/writing.h"

namespace kerf::inline ops {
namespace {

/// Elements follow one another from the storage's start on, so that the last dimension counts on through all of them.
bool isFlat(const Tensor& tensor) {
  if (tensor.isSymbolic() || tensor.dim() == 0 || tensor.numel() == 0) return false;
  return tensor.strides() == contiguousStrides(tensor.sizes()) && tensor.offset() == 0;
}

/// A place counted over all elements of a tensor that isFlat.
std::vector<Place> flatPlaces(const Tensor& tensor, Place place) {
  std::vector<Place> places(tensor.sizes().size());
  places.back() = std::move(place);
  return places;
}

// put(self, index, source, accumulate)

bool coversPut(const BoundArguments& bound) {
  const Tensor &self = bound.tensor(0), &index = bound.tensor(1), &source = bound.tensor(2);
  if (!isFlat(self) || source.dtype() != self.dtype() || !isIndexType(index.dtype())) return false;
  return !index.isSymbolic() && !source.isSymbolic() && index.numel() > 0 && index.sizes() == source.sizes();
}

WriteLoops loopsOverIndex(const BoundArguments& bound) {
  const SymSizes& sizes = bound.tensor(1).symSizes();
  return {sizes, std::vector<bool>(sizes.size(), true)};
}

Write putElement(const WriteCall& c) {
  const Tensor& self = c.bound.tensor(0);
  const int at = c.operands.index(1, 0, c.map, {SymInt(self.numel()), 0, true});
  const int value = c.b.convert(c.operands.at(2, 0, affinePlaces(c.map)), computeType(c.dtype));
  const bool adds = c.bound.boolean(3);
  const ExprOp op = c.dtype == DType::Bool ? ExprOp::Or : ExprOp::Add;
  return {flatPlaces(self, {{}, at}),
          [&b = c.b, value, op, adds](int there) { return adds ? b.binary(op, there, value) : value; }, adds};
}

// as_strided_scatter(self, src, size, stride, storage_offset)

bool coversStrided(const BoundArguments& bound) {
  const Tensor &self = bound.tensor(0), &source = bound.tensor(1);
  const SymSizes sizes = bound.symSizes(2), strides = bound.symSizes(3);
  if (!isFlat(self) || source.isSymbolic() || sizes.isSymbolic() || strides.isSymbolic()) return false;
  const bool isKnown = bound.none(4) || bound.integerIf(4).has_value();
  if (!isKnown || source.dtype() != self.dtype() || sizes.size() != strides.size()) return false;
  if (source.sizes() != sizes.numbers() || source.numel() == 0) return false;
  const Tensor view = self.viewAs(sizes, strides, bound.integerIf(4).value_or(0));
  std::int64_t last = view.offset();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (view.strides()[d] < 0) return false;
    std::int64_t span = 0;
    if (__builtin_mul_overflow(view.sizes()[d] - 1, view.strides()[d], &span) ||
        __builtin_add_overflow(last, span, &last))
      return false;
  }
  return view.offset() >= 0 && last < self.numel() && isInjective(sizes.numbers(), strides.numbers());
}

/// No two elements share memory: of those the last one stays in an order of its own.
WriteLoops loopsOverView(const BoundArguments& bound) {
  const SymSizes sizes = bound.symSizes(2);
  return {sizes, std::vector<bool>(sizes.size(), false)};
}

Write writeStrided(const WriteCall& c) {
  const Sizes strides = c.bound.symSizes(3).numbers();
  Affine at = Affine::number(c.bound.integerIf(4).value_or(0));
  for (std::size_t d = 0; d < strides.size(); ++d) at = at + c.map[d] * SymInt(strides[d]);
  const int value = c.b.convert(c.operands.at(1, 0, affinePlaces(c.map)), computeType(c.dtype));
  return {flatPlaces(c.bound.tensor(0), {at}), [value](int) { return value; }, false};
}

constexpr std::uint32_t selfAndSource = 0b101, selfAndPart = 0b11;
constexpr WriteLowering flatPuts{coversPut, elementOfSelf, loopsOverIndex, putElement, selfAndSource};
constexpr WriteLowering stridedWrites{coversStrided, elementOfSelf, loopsOverView, writeStrided, selfAndPart};

constexpr OpFacts flatWriteLoweringsRows[] = {
    writeLowering("aten::put", flatPuts),
    writeLowering("aten::as_strided_scatter", stridedWrites),
};

const OpRegistration flatWriteLowerings({.facts = flatWriteLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
