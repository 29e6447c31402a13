// Gradients of embedding bags.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

// _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
// padding_idx) → (output, offset2bag, bag_size, maximum_indices)

void embeddingBag(Backward& b) {
  if (!b.has(0)) return;
  b.give(0,
         {"aten._embedding_bag_backward.default"_op,
          {b.grad(), b[1], b[2], b.result(1), b.result(2), b.result(3), b.sizes()[0], b[3], b[4], b[5], b[6], b[8]}});
  b.give(6, {"aten._embedding_bag_per_sample_weights_backward.default"_op,
             {b.grad(), b[0], b[1], b[2], b.result(1), b[4], b[8]}});
}

/// Sums and means are linear in the rows and in their weights; of maxima the rows' numbers are results.
Formula bagsOf(Forward& f, const Formula& weight, const Formula& scales) {
  return f.several<4>({f.args.op->id, {weight, f[1], f[2], f[3], f[4], f[5], scales, f[7], f[8]}})[0];
}
std::vector<Formula> embeddingBagForward(Forward& f) {
  constexpr std::int64_t maximum = 2;
  Formula byRows;
  if (f.has(0) && f.args.integer(4) == maximum) {
    // an empty bag has 0 as its row's number, and zeros as its maximum
    const Formula isFilled = unsqueeze(differs(f.result(2), 0), 1);
    byRows = Formula("aten.gather.default"_op, {f.tangent(0), 0, f.result(3)}) * isFilled;
  } else if (f.has(0)) {
    byRows = bagsOf(f, f.tangent(0), f[6]);
  }
  return {sumOf({byRows, f.has(6) ? bagsOf(f, f[0], f.tangent(6)) : Formula()}), Formula(), Formula(), Formula()};
}

constexpr OpFacts embeddingBagDerivativesTable[] = {
    differentiable<embeddingBag, embeddingBagForward>("aten::_embedding_bag"),
    withoutDerivative("aten::_embedding_bag_forward_only"),
    withoutDerivative("aten::_embedding_bag_backward"),
    withoutDerivative("aten::_embedding_bag_dense_backward"),
    withoutDerivative("aten::_embedding_bag_per_sample_weights_backward"),
    withoutDerivative("aten::embedding_renorm_"),
};

const OpRegistration embeddingBagDerivatives({.facts = embeddingBagDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
