// Writes of rows by index as loops. Of few rows: every element of the result asks each row whether it is meant.
//
//   before: index_put(cache: [1, 8, 2048, 64], [None, None, position: [1]], k: [1, 8, 1, 64])
//   after:  for i0 < 8: for i1 < 2048: for i2 < 64: … = position[0] == i1 ? k[64*i0 + i2] : cache[…]
//
// Of more rows: one after the other.
//
//   before: index_put(x: [1000, 64], [i: [512]], v: [512, 64], True)
//   after:  for i0 < 1000: for i1 < 64: put[64*i0 + i1] = x[64*i0 + i1]
//           for i0 < 512 (serial): for i1 < 64: put[i1 + 64*i[i0]] += v[64*i0 + i1]
#include <algorithm>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/index/writing.h"
#include "engine/ops/kernels/indexing.h"

namespace kerf::inline ops {
namespace {

/// More rows than these are not asked for by every element.
constexpr std::int64_t mostRows = 8;

bool isPosition(const Value& index) { return index.isTensor() && isIndexType(index.tensor().dtype()); }

/// Whether the values spread over what is written.
bool spreads(const Tensor& values, const SymSizes& written) {
  const SymSizes& sizes = values.symSizes();
  if (sizes.size() > written.size()) return false;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (!isOne(sizes[d]) && !sameSize(sizes[d], written[written.size() - sizes.size() + d])) return false;
  return true;
}

bool coversWrites(const BoundArguments& bound) {
  const Tensor &self = bound.tensor(0), &values = bound.tensor(2);
  if (mayBeEmpty(self.symSizes()) || values.dtype() != self.dtype()) return false;
  bool any = false;
  for (const Value& index : bound.values[1].list()) {
    if (index.isNone()) continue;
    if (!isPosition(index)) return false;
    any = true;
  }
  if (!any) return false;
  const auto plan = planIndex(bound, self, bound.values[1]);
  return plan && !mayBeEmpty(plan->resultSizes) && spreads(values, plan->resultSizes);
}

bool coversIndexPut(const BoundArguments& bound) {
  const auto isNumbered = [](const Value& index) { return index.isNone() || !index.tensor().isSymbolic(); };
  if (bound.boolean(3) && bound.tensor(0).dtype() == DType::Bool) return false;
  if (!coversWrites(bound) || bound.tensor(0).isSymbolic() || bound.tensor(2).isSymbolic()) return false;
  if (!std::ranges::all_of(bound.values[1].list(), isNumbered)) return false;
  const auto plan = planIndex(bound, bound.tensor(0), bound.values[1]);
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
  const SymSizes& sizes = tensor.symSizes();
  for (std::size_t d = 0; d < sizes.size(); ++d)
    result.push_back(isOne(sizes[d]) ? Affine{} : map[map.size() - sizes.size() + d]);
  return result;
}

int indexPut(const ElementCall& c) {
  const Tensor &self = c.bound.tensor(0), &values = c.bound.tensor(2);
  const auto plan = planIndex(c.bound, self, c.bound.values[1]);
  if (!plan) return c.number(0);  // which the shape rule has refused
  const bool adds = c.bound.boolean(3);
  const bool rounds = c.dtype == DType::Float16 || c.dtype == DType::BFloat16;  // after every row, as PyTorch does
  const DType wide = !adds || isFloating(c.dtype) ? computeType(c.dtype) : DType::Int64;
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

// --- one row after the other

/// Rows follow one another, their elements do not meet.
WriteLoops loopsOfPut(const BoundArguments& bound) {
  const auto plan = planIndex(bound, bound.tensor(0), bound.values[1]);
  if (!plan) return {};  // which the shape rule has refused
  WriteLoops loops{plan->resultSizes, std::vector<bool>(plan->resultSizes.size(), false)};
  const auto first = loops.serial.begin() + plan->firstIndexDim;
  std::fill(first, first + std::ptrdiff_t(plan->indexSizes.size()), true);
  return loops;
}

Write writeOfPut(const WriteCall& c) {
  const Tensor& self = c.bound.tensor(0);
  const auto plan = planIndex(c.bound, self, c.bound.values[1]);
  if (!plan) return {};
  const auto first = c.map.begin() + plan->firstIndexDim;
  const IndexMap row(first, first + std::ptrdiff_t(plan->indexSizes.size()));
  Write write;
  auto other = c.map.begin();  // dimension of what is written that the next one without an index is
  for (std::size_t d = 0; d < plan->indices.size(); ++d) {
    if (!plan->indices[d]) {
      if (other == first) other += std::ptrdiff_t(row.size());
      write.places.push_back({*other++});
      continue;
    }
    const IndexMap at = spreadIndex(c.bound.values[1].list()[d].tensor(), row);
    write.places.push_back({{}, c.operands.index(1, d, at, {self.symSizes()[d], std::int64_t(d), true})});
  }
  const int value = c.operands.at(2, 0, affinePlaces(spreadIndex(c.bound.tensor(2), c.map)));
  const int wide = c.b.convert(value, computeType(c.dtype));
  write.needsThere = c.bound.boolean(3);
  const ExprOp op = c.dtype == DType::Bool ? ExprOp::Or : ExprOp::Add;
  write.value = [&b = c.b, wide, op, adds = write.needsThere](int there) {
    return adds ? b.binary(op, there, wide) : wide;
  };
  return write;
}

constexpr std::uint32_t selfAndValues = 0b101;
constexpr WriteLowering puts{coversWrites, elementOfSelf, loopsOfPut, writeOfPut, selfAndValues};

constexpr OpFacts puttingByIndex(const char* op) {
  OpFacts row = elementLowering(op, indexPut, coversIndexPut);
  row.lowering.cost = 16;
  row.lowering.writes = &puts;
  return row;
}

constexpr OpFacts indexPutLoweringsRows[] = {
    puttingByIndex("aten::index_put"),
    puttingByIndex("aten::_unsafe_index_put"),
};

const OpRegistration indexPutLowerings({.facts = indexPutLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
