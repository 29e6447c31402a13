// Writes of few rows by index as loops: every element of the result asks each row whether it is meant.
//
//   before: index_put(cache: [1, 8, 2048, 64], [None, None, position: [1]], k: [1, 8, 1, 64])
//   after:  for i0 < 8: for i1 < 2048: for i2 < 64: … = position[0] == i1 ? k[64*i0 + i2] : cache[…]
#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/index/families.h"
#include "engine/ops/index/indexing.h"

namespace kerf::inline ops {
namespace {

/// More rows than these are written one after the other.
constexpr std::int64_t mostRows = 8;

bool isPosition(const Value& index) {
  if (!index.isTensor() || index.tensor().isSymbolic()) return false;
  const DType dtype = index.tensor().dtype();
  return isIntegral(dtype) && dtype != DType::Bool && dtype != DType::UInt8;
}

/// Whether the values spread over what is written.
bool spreads(const Tensor& values, const SymSizes& written) {
  const std::size_t rank = values.sizes().size();
  if (rank > written.size()) return false;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t size = values.sizes()[d];
    if (size != 1 && !SymInt(size).isIdentical(written[written.size() - rank + d])) return false;
  }
  return true;
}

bool coversIndexPut(const BoundArguments& bound) {
  const Tensor &self = bound.tensor(0), &values = bound.tensor(2);
  if (self.isSymbolic() || values.isSymbolic() || self.numel() == 0 || values.dtype() != self.dtype()) return false;
  bool any = false;
  for (const Value& index : bound.values[1].list()) {
    if (index.isNone()) continue;
    if (!isPosition(index)) return false;
    any = true;
  }
  if (!any || (bound.boolean(3) && self.dtype() == DType::Bool)) return false;
  const auto plan = planIndex(bound, self, bound.values[1]);
  if (!plan || !spreads(values, plan->resultSizes)) return false;
  std::int64_t rows = 1;
  for (const SymInt size : plan->indexSizes) rows *= size.isSymbolic() ? mostRows + 1 : size.bits();
  return rows <= mostRows;
}

/// `row`, counted over `sizes` in row-major order, as an index.
IndexMap indexOfRow(std::int64_t row, const SymSizes& sizes) {
  IndexMap map(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    map[d] = Affine::number(row % sizes[d].bits());
    row /= sizes[d].bits();
  }
  return map;
}

/// The element of a tensor that is spread over the space of `map`.
IndexMap spreadIndex(const Tensor& tensor, const IndexMap& map) {
  IndexMap result;
  const std::size_t rank = tensor.sizes().size();
  for (std::size_t d = 0; d < rank; ++d)
    result.push_back(tensor.sizes()[d] == 1 ? Affine{} : map[map.size() - rank + d]);
  return result;
}

int indexPut(const ElementCall& c) {
  const Tensor &self = c.bound.tensor(0), &values = c.bound.tensor(2);
  const auto plan = planIndex(c.bound, self, c.bound.values[1]);
  if (!plan) return c.number(0);  // which the shape rule has refused
  const bool adds = c.bound.boolean(3);
  const bool rounds = c.dtype == DType::Float16 || c.dtype == DType::BFloat16;  // after every row, as PyTorch does
  const DType wide = !adds || rounds ? computeType(c.dtype) : isFloating(c.dtype) ? DType::Float64 : DType::Int64;
  int result = c.b.convert(c.operands.at(0, 0, affinePlaces(c.map)), wide);
  std::int64_t rows = 1;
  for (const SymInt size : plan->indexSizes) rows *= size.bits();
  for (std::int64_t row = 0; row < rows; ++row) {
    const IndexMap own = indexOfRow(row, plan->indexSizes);
    IndexMap written;  // place in what self[indices] would be
    int isMeant = -1;
    for (std::size_t d = 0; d < c.map.size(); ++d) {
      if (!plan->indices[d]) {
        written.push_back(c.map[d]);
        continue;
      }
      const IndexMap at = spreadIndex(c.bound.values[1].list()[d].tensor(), own);
      const int index = c.operands.index(1, d, at, {self.symSizes()[d], std::int64_t(d), true});
      const int equal = c.b.binary(ExprOp::Eq, index, c.b.index(c.map[d]));
      isMeant = isMeant < 0 ? equal : c.b.binary(ExprOp::And, isMeant, equal);
    }
    written.insert(written.begin() + plan->firstIndexDim, own.begin(), own.end());
    const int value = c.b.convert(c.operands.at(2, 0, affinePlaces(spreadIndex(values, written))), wide);
    int put = adds ? c.b.binary(ExprOp::Add, result, value) : value;
    if (adds && rounds) put = c.b.convert(c.b.convert(put, c.dtype), wide);
    result = c.b.select(isMeant, put, result);
  }
  return result;
}

constexpr OpFacts puttingByIndex(const char* op) {
  OpFacts row = elementLowering(op, indexPut, coversIndexPut);
  row.lowering.cost = 16;
  return row;
}

constexpr OpFacts indexPutLoweringsRows[] = {
    puttingByIndex("aten::index_put"),
    puttingByIndex("aten::_unsafe_index_put"),
};

}  // namespace

OpFactRows indexPutLowerings() { return indexPutLoweringsRows; }

}  // namespace kerf::inline ops
