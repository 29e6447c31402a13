#include "engine/ops/core/op_math.h"

#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

void collect(ResultType& type, const Value& value) {
  if (value.isTensor()) type.add(value.tensor());
  if (!value.isList()) return;
  for (const Value& item : value.list()) collect(type, item);
}

bool holdsTensors(const Value& value) {
  return value.isTensor() || (value.isList() && std::ranges::any_of(value.list(), holdsTensors));
}

Result<Value> converted(const OpRunner& run, const Value& value, DType dtype) {
  if (value.isTensor()) {
    if (value.tensor().dtype() == dtype) return value;
    return run.value("aten._to_copy.default"_op, {value}, {{"dtype", dtype}});
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value one, converted(run, item, dtype));
    items.push_back(std::move(one));
  }
  return Value(std::move(items));
}

}  // namespace

DType opMathType(DType dtype) {
  if (dtype == DType::Complex32) return DType::Complex64;
  return isFloating(dtype) && itemSize(dtype) <= 2 ? DType::Float32 : dtype;
}

Result<Value> runInOpMath(Composite program, OpMath math, const BoundArguments& args, const OpRunner& run) {
  if (std::ranges::none_of(args.values, holdsTensors)) return program(args, run);
  ResultType type;
  for (const Value& value : args.values) collect(type, value);
  const DType narrow = math == OpMath::Real ? toFloating(type.dtype()) : type.dtype();
  const DType wide = opMathType(narrow);
  BoundArguments computed = args;
  for (Value& value : computed.values) {
    if (!holdsTensors(value)) continue;
    KERF_TRY(value, converted(run, value, wide));
  }
  KERF_TRY(Value result, program(computed, run));
  return math == OpMath::Wide ? result : converted(run, result, narrow);
}

}  // namespace kerf::inline ops
