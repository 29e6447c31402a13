#include "engine/ops/core/op_math.h"

namespace kerf::inline ops {
namespace {

bool isHalf(const Value& value) {
  return value.isTensor() && isFloating(value.tensor().dtype()) && itemSize(value.tensor().dtype()) == 2;
}

Result<Value> converted(const OpRunner& run, const Value& tensor, DType dtype) {
  return run.value("aten._to_copy.default"_op, {tensor}, {{"dtype", dtype}});
}

}  // namespace

Result<Value> runInOpMath(Composite program, const BoundArguments& args, const OpRunner& run) {
  BoundArguments wide = args;
  std::optional<DType> narrow;
  for (Value& value : wide.values) {
    if (!isHalf(value)) continue;
    if (!narrow) narrow = value.tensor().dtype();
    KERF_TRY(value, converted(run, value, DType::Float32));
  }
  KERF_TRY(Value result, program(wide, run));
  if (narrow && result.isTensor()) return converted(run, result, *narrow);
  return result;
}

}  // namespace kerf::inline ops
