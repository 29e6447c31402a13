#include "engine/ops/reduce/reduction_arguments.h"

namespace kerf::inline ops {
namespace {

bool keepsReducedDims(const BoundArguments& args) {
  const Value value = argumentOr(args, "keepdim", false);
  return value.as<bool>() && *value.as<bool>();
}

}  // namespace

const SchemaArgument* reductionArgument(const BoundArguments& args, std::string_view name) {
  for (const SchemaArgument& argument : args.op->schema.arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

Value argumentOr(const BoundArguments& args, std::string_view name, Value otherwise) {
  return reductionArgument(args, name) ? args.values[args.position(name)] : otherwise;
}

Result<ReducedDims> reducedDimsOf(const BoundArguments& args, EmptyDims empty) {
  return reducedDims(args, args.tensor(0), argumentOr(args, "dim", {}), keepsReducedDims(args), empty);
}

std::optional<DType> dtypeArgumentOf(const BoundArguments& args) {
  const Value value = argumentOr(args, "dtype", {});
  return value.as<DType>() ? std::optional(*value.as<DType>()) : std::nullopt;
}

namespace {

Result<DType> meanType(const BoundArguments& args) {
  const DType dtype = dtypeArgumentOf(args).value_or(args.tensor(0).dtype());
  if (!isFloating(dtype))
    return mismatch(args, "needs a floating point input or dtype, got {}", dtypeInfo(dtype).torchName);
  return dtype;
}

}  // namespace

Result<Value> meanShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  KERF_TRY(const DType dtype, meanType(args));
  return Value(metaTensor(dtype, dims.outSizes));
}

Result<Tensor> inputAs(const BoundArguments& args, DType dtype) {
  const Tensor& self = args.tensor(0);
  if (self.dtype() == dtype || !dtypeArgumentOf(args)) return self;
  return self.to(dtype);
}

}  // namespace kerf::inline ops
