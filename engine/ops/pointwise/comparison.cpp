// Comparisons and logical ops: computed in the promoted type, bool results.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline ops {
namespace {

KERF_ELEMENT2(Eq, x == y);
KERF_ELEMENT2(Ne, x != y);
KERF_ELEMENT2(Lt, x < y);
KERF_ELEMENT2(Le, x <= y);
KERF_ELEMENT2(Gt, x > y);
KERF_ELEMENT2(Ge, x >= y);
KERF_ELEMENT2(LogicalAnd, x != 0 && y != 0);
KERF_ELEMENT2(LogicalOr, x != 0 || y != 0);
KERF_ELEMENT2(LogicalXor, (x != 0) != (y != 0));

template <class F>
constexpr PointwiseSpec compare = withUnsigned<F>(numberSpec<F>(Promotion::ToBool));

constexpr OpRow comparisonRows[] = {
    pointwiseRow("aten::eq.Tensor(Tensor self, Tensor other) -> Tensor", compare<Eq>),
    pointwiseRow("aten::eq.Scalar(Tensor self, Scalar other) -> Tensor", compare<Eq>),
    pointwiseRow("aten::ne.Tensor(Tensor self, Tensor other) -> Tensor", compare<Ne>),
    pointwiseRow("aten::ne.Scalar(Tensor self, Scalar other) -> Tensor", compare<Ne>),
    pointwiseRow("aten::lt.Tensor(Tensor self, Tensor other) -> Tensor", compare<Lt>),
    pointwiseRow("aten::lt.Scalar(Tensor self, Scalar other) -> Tensor", compare<Lt>),
    pointwiseRow("aten::le.Tensor(Tensor self, Tensor other) -> Tensor", compare<Le>),
    pointwiseRow("aten::le.Scalar(Tensor self, Scalar other) -> Tensor", compare<Le>),
    pointwiseRow("aten::gt.Tensor(Tensor self, Tensor other) -> Tensor", compare<Gt>),
    pointwiseRow("aten::gt.Scalar(Tensor self, Scalar other) -> Tensor", compare<Gt>),
    pointwiseRow("aten::ge.Tensor(Tensor self, Tensor other) -> Tensor", compare<Ge>),
    pointwiseRow("aten::ge.Scalar(Tensor self, Scalar other) -> Tensor", compare<Ge>),
    pointwiseRow("aten::logical_and(Tensor self, Tensor other) -> Tensor", compare<LogicalAnd>),
    pointwiseRow("aten::logical_or(Tensor self, Tensor other) -> Tensor", compare<LogicalOr>),
    pointwiseRow("aten::logical_xor(Tensor self, Tensor other) -> Tensor", compare<LogicalXor>),
};

const OpRegistration comparisonOps({.rows = comparisonRows});

}  // namespace

}  // namespace kerf::inline ops
