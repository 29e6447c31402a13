// Gradients of grouped products; optimizer steps have none.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

// _grouped_mm(self, mat2, offs, bias, out_dtype): a group's rows in one product are its inner dimension in another

Formula turned(const Formula& a) { return {"aten.transpose.int"_op, {a, -2, -1}}; }
Formula grouped(const Formulas& p, const Formula& a, const Formula& b) {
  return {"aten._grouped_mm.default"_op, {a, b, p[2]}};
}
void groupedProduct(Backward& b) {
  b.give(0, grouped(b, b.grad(), turned(b[1])));
  b.give(1, grouped(b, turned(b[0]), b.grad()));
}

constexpr OpFacts fusedLayerDerivativesTable[] = {
    linear<groupedProduct>("aten::_grouped_mm"),
    withoutDerivative("aten::_fused_adagrad"),
    withoutDerivative("aten::_fused_adagrad_"),
    withoutDerivative("aten::_fused_adam"),
    withoutDerivative("aten::_fused_adam_"),
    withoutDerivative("aten::_fused_adamw"),
    withoutDerivative("aten::_fused_adamw_"),
    withoutDerivative("aten::_fused_sgd"),
    withoutDerivative("aten::_fused_sgd_"),
    withoutDerivative("aten::_amp_foreach_non_finite_check_and_unscale"),
    withoutDerivative("aten::_amp_foreach_non_finite_check_and_unscale_"),
    withoutDerivative("aten::_amp_update_scale"),
    withoutDerivative("aten::_amp_update_scale_"),
};

const OpRegistration fusedLayerDerivatives({.facts = fusedLayerDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
