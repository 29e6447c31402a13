// The gradient of an embedding as loops: rows are added one after the other.
//
//   before: embedding_dense_backward(grad: [16, 64], indices: [16], 1000, -1, False)
//   after:  for i0 < 64000: out[i0] = 0
//           for i0 < 16 (serial): for i1 < 64: out[i1 + 64*indices[i0]] += grad[64*i0 + i1]
#include <algorithm>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/index/writing.h"

namespace kerf::inline ops {
namespace {

/// Rows that count by how often they are meant are left to the op's own kernel.
bool coversRows(const BoundArguments& bound) {
  const Tensor &grad = bound.tensor(0), &indices = bound.tensor(1);
  if (!isIndexType(indices.dtype()) || !isFloating(grad.dtype())) return false;
  const SymSizes &own = grad.symSizes(), &rows = indices.symSizes();
  if (bound.boolean(4) || own.size() != rows.size() + 1 || mayBeEmpty(own)) return false;
  return std::equal(rows.begin(), rows.end(), own.begin(),
                    [](const SymInt& a, const SymInt& b) { return sameSize(a, b); });
}

int zero(const ElementCall& c) { return c.b.constant(0, c.dtype); }

WriteLoops loopsOverRows(const BoundArguments& bound) {
  WriteLoops loops{bound.tensor(0).symSizes(), std::vector<bool>(bound.tensor(0).symSizes().size(), true)};
  loops.serial.back() = false;
  return loops;
}

Write addRow(const WriteCall& c) {
  const IndexMap at(c.map.begin(), c.map.end() - 1);
  const int row = c.operands.index(1, 0, at, {c.bound.symInteger(2), 0});
  const int value = c.b.convert(c.operands.at(0, 0, affinePlaces(c.map)), computeType(c.dtype));
  const SymInt padding = c.bound.symInteger(3);
  const bool isPadded = padding.isSymbolic() || padding.bits() >= 0;
  const int skipped = isPadded ? c.b.binary(ExprOp::Eq, row, c.size(padding)) : -1;
  return {{{{}, row}, {c.map.back()}}, [&b = c.b, value, skipped](int there) {
            const int sum = b.binary(ExprOp::Add, there, value);
            return skipped < 0 ? sum : b.select(skipped, there, sum);
          }};
}

constexpr std::uint32_t gradientOnly = 0b1;
constexpr WriteLowering addingRows{coversRows, zero, loopsOverRows, addRow, gradientOnly};

constexpr OpFacts embeddingLoweringsRows[] = {
    writeLowering("aten::embedding_dense_backward", addingRows),
};

const OpRegistration embeddingLowerings({.facts = embeddingLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
