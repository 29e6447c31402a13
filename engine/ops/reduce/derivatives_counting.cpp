// Reductions that count, compare, search and tell places: nothing flows through them, or PyTorch has no derivative.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

constexpr OpFacts countingDerivativesTable[] = {
    notDifferentiable("aten::all"),
    notDifferentiable("aten::allclose"),
    notDifferentiable("aten::any"),
    notDifferentiable("aten::argmax"),
    notDifferentiable("aten::argmin"),
    notDifferentiable("aten::argsort"),
    notDifferentiable("aten::bincount"),
    notDifferentiable("aten::bucketize"),
    notDifferentiable("aten::count_nonzero"),
    notDifferentiable("aten::equal"),
    notDifferentiable("aten::hash_tensor"),
    notDifferentiable("aten::isin"),
    notDifferentiable("aten::nonzero"),
    notDifferentiable("aten::nonzero_static"),
    notDifferentiable("aten::repeat_interleave.Tensor"),
    notDifferentiable("aten::searchsorted"),
    notDifferentiable("prims::xor_sum"),
    withoutDerivative("aten::_histogramdd_bin_edges"),
    withoutDerivative("aten::_histogramdd_from_bin_cts"),
    withoutDerivative("aten::_histogramdd_from_bin_tensors"),
    withoutDerivative("aten::histc"),
    withoutDerivative("aten::histogram"),
    withoutDerivative("aten::_unique"),
    withoutDerivative("aten::_unique2"),
    withoutDerivative("aten::unique_consecutive"),
    withoutDerivative("aten::unique_dim"),
    withoutDerivative("aten::unique_dim_consecutive"),
};

const OpRegistration countingDerivatives({.facts = countingDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
