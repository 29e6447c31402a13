// Nothing flows through what gives Python numbers.
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

constexpr OpFacts numberDerivativesTable[] = {
    notDifferentiable("aten::_assert_async"),
    notDifferentiable("aten::_assert_scalar"),
    notDifferentiable("aten::_assert_tensor_metadata"),
    notDifferentiable("aten::_functional_sym_constrain_range"),
    notDifferentiable("aten::_functional_sym_constrain_range_for_size"),
    notDifferentiable("aten::_local_scalar_dense"),
    notDifferentiable("aten::item"),
    notDifferentiable("aten::sym_constrain_range"),
    notDifferentiable("aten::sym_constrain_range_for_size"),
    notDifferentiable("aten::sym_numel"),
    notDifferentiable("aten::sym_size"),
    notDifferentiable("aten::sym_storage_offset"),
    notDifferentiable("aten::sym_stride"),
};

const OpRegistration numberDerivatives({.facts = numberDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
