// Whole-tensor comparisons: equal, allclose.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/doubles.h"

namespace kerf::inline ops {
namespace {

Result<Value> boolShape(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{}: the result depends on values", args.opName());
}
Result<Value> equalKernel(const BoundArguments& args) {
  if (args.tensor(0).sizes() != args.tensor(1).sizes()) return Value(false);
  KERF_TRY(const Tensor same, callTensorOp("aten.eq.Tensor"_op, {args.values[0], args.values[1]}));
  KERF_TRY(const Tensor all, callTensorOp("aten.all.default"_op, {same}));
  return Value(all.itemAsInt() != 0);
}
Result<Value> allcloseKernel(const BoundArguments& args) {
  KERF_TRY(const Sizes sizes, broadcastSizes(args.tensor(0).sizes(), args.tensor(1).sizes()));
  KERF_TRY(const Doubles a, doublesOf(args.tensor(0), sizes));
  KERF_TRY(const Doubles b, doublesOf(args.tensor(1), sizes));
  const double relative = args.number(2), absolute = args.number(3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool bothNan = std::isnan(a[i]) && std::isnan(b[i]) && args.boolean(4);
    const bool close =
        a[i] == b[i] || (std::isfinite(b[i]) && std::abs(a[i] - b[i]) <= absolute + relative * std::abs(b[i]));
    if (!bothNan && !close) return Value(false);
  }
  return Value(true);
}

constexpr OpRow comparingReductionRows[] = {
    {"aten::equal(Tensor self, Tensor other) -> bool", OpTrait::DataDependent, boolShape, equalKernel},
    {"aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool "
     "equal_nan=False) -> bool",
     OpTrait::DataDependent, boolShape, allcloseKernel},
};

const OpRegistration comparingReductionOps({.rows = comparingReductionRows});

}  // namespace

}  // namespace kerf::inline ops
