// Gradients of reading and writing at places that a tensor gives.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

/// index(self, indices): elements add up where they were taken.
void indexed(Backward& b) {
  b.give(0, {"aten.index_put.default"_op, {newZeros(b.grad(), b.sizes()), b[1], b.grad(), true}});
}
void indexedUnsafely(Backward& b) {
  b.give(0, {"aten._unsafe_index_put.default"_op, {newZeros(b.grad(), b.sizes()), b[1], b.grad(), true}});
}
/// index_put(self, indices, values, accumulate)
void put(Backward& b) {
  if (b.wants(0)) {
    const Formula kept(b.args.op->id, {b.grad(), b[1], newZeros(b.grad(), b.sizes(2)), false});
    b.give(0, b.args.boolean(3) ? b.grad() : kept);
  }
  b.give(2, {"aten.index.Tensor"_op, {b.grad(), b[1]}});
}

/// take(self, index) and put(self, index, source, accumulate), of self as one row
void taken(Backward& b) { b.give(0, {"aten.put.default"_op, {zerosLike(b[0]), b[1], b.grad(), true}}); }
void putFlat(Backward& b) {
  if (b.wants(0)) {
    const Formula kept("aten.put.default"_op, {b.grad(), b[1], zerosLike(b[2]), false});
    b.give(0, b.args.boolean(3) ? b.grad() : kept);
  }
  b.give(2, reshape({"aten.take.default"_op, {b.grad(), b[1]}}, b.sizes(2)));
}

/// gather(self, dim, index)
void gathered(Backward& b) {
  b.give(0, {"aten.scatter_add.default"_op, {newZeros(b.grad(), b.sizes()), b[1], b[2], b.grad()}});
}
void indexSelected(Backward& b) {
  b.give(0, {"aten.index_add.default"_op, {newZeros(b.grad(), b.sizes()), b[1], b[2], b.grad()}});
}

/// embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)
void embedded(Backward& b) {
  b.give(0, {"aten.embedding_dense_backward.default"_op, {b.grad(), b[1], b.sizes()[0], b[2], b[3]}});
}
/// embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq): rows as they were
/// taken, but none for the padding.
void embeddedBack(Backward& b) {
  const Formula rows("aten.index_select.default"_op, {b.grad(), 0, reshape(b[1], SymSizes{-1})});
  const std::int64_t padding = b.args.integer(3);
  const Formula none = reshape(equals(b[1], padding), SymSizes{-1, 1});
  b.give(0, reshape(padding < 0 ? rows : maskedFill(rows, none, 0), b.sizes()));
}

/// masked_select(self, mask)
void maskSelected(Backward& b) {
  const auto both = broadcastSizes(b.sizes(0), b.sizes(1));
  if (both) b.give(0, {"aten.masked_scatter.default"_op, {newZeros(b.grad(), *both), b[1], b.grad()}});
}

constexpr OpFacts indexDerivativesTable[] = {
    linear<indexed>("aten::index.Tensor"),
    linear<indexedUnsafely>("aten::_unsafe_index.Tensor"),
    jointlyLinear<put>("aten::index_put"),
    jointlyLinear<put>("aten::_unsafe_index_put"),
    linear<taken>("aten::take"),
    jointlyLinear<putFlat>("aten::put"),
    linear<gathered>("aten::gather"),
    linear<indexSelected>("aten::index_select"),
    linear<embedded>("aten::embedding"),
    linear<embeddedBack>("aten::embedding_dense_backward"),
    linear<maskSelected>("aten::masked_select"),
};

const OpRegistration indexDerivatives({.facts = indexDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
