#include "engine/ops/core/op_call.h"

#include "engine/ops/core/complex_rows.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/result_device.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {

std::vector<Tensor> BoundArguments::tensors(std::size_t i) const {
  std::vector<Tensor> result;
  if (!values[i].isList()) return result;
  for (const Value& item : values[i].list()) result.push_back(item.isTensor() ? item.tensor() : Tensor());
  return result;
}

std::unexpected<Error> formatMismatch(const BoundArguments& args, fmt::string_view format, fmt::format_args items) {
  return fail(ErrorCode::ShapeMismatch, "{}: {}", args.opName(), fmt::vformat(format, items));
}

namespace {

/// A symbolic float or bool where its value is needed.
double specialised(const SymNumber& number) {
  ShapeEnv* env = ShapeEnv::current();
  if (env == nullptr) throw SymbolicFailure{{ErrorCode::Internal, "a symbolic number outside of its ShapeEnv"}};
  return env->specialiseReal(number.value);
}

}  // namespace

std::int64_t BoundArguments::integer(std::size_t i) const { return integerIf(i).value_or(0); }
SymInt BoundArguments::symInteger(std::size_t i) const { return symIntegerIf(i).value_or(SymInt(0)); }

std::optional<SymInt> BoundArguments::symIntegerIf(std::size_t i) const {
  if (const auto value = values[i].asSymInt()) return value;
  const auto number = integerIf(i);
  return number ? std::optional(SymInt(*number)) : std::nullopt;
}

SymSizes BoundArguments::symSizes(std::size_t i) const {
  SymSizes result;
  if (!values[i].isList()) return result;
  result.reserve(values[i].list().size());
  for (const Value& item : values[i].list()) result.push_back(item.asSymInt().value_or(SymInt(0)));
  return result;
}

std::optional<std::int64_t> BoundArguments::integerIf(std::size_t i) const {
  if (const auto* value = values[i].as<std::int64_t>()) return *value;
  if (const auto* value = values[i].as<bool>()) return *value ? 1 : 0;
  if (const auto* value = values[i].as<double>()) return std::int64_t(*value);
  if (const auto value = values[i].asSymInt()) return std::int64_t{*value};
  if (const auto* value = values[i].as<SymNumber>()) return std::int64_t(specialised(*value));
  return {};
}

double BoundArguments::number(std::size_t i) const { return numberIf(i).value_or(0); }

std::optional<double> BoundArguments::numberIf(std::size_t i) const {
  if (const auto* value = values[i].as<double>()) return *value;
  if (const auto* value = values[i].as<std::int64_t>()) return double(*value);
  if (const auto* value = values[i].as<bool>()) return *value ? 1.0 : 0.0;
  if (const auto* value = values[i].as<SymNumber>()) return specialised(*value);
  return {};
}

bool BoundArguments::boolean(std::size_t i) const {
  const auto* value = values[i].as<bool>();
  return value && *value;
}

Sizes BoundArguments::sizes(std::size_t i) const {
  Sizes result;
  if (!values[i].isList()) return result;
  for (const Value& item : values[i].list()) {
    result.push_back(item.asSymInt().value_or(SymInt(0)));
  }
  return result;
}

std::optional<DType> BoundArguments::dtypeIf(std::size_t i) const {
  if (const auto* value = values[i].as<DType>()) return *value;
  return {};
}

std::string BoundArguments::text(std::size_t i) const {
  const auto* value = values[i].as<std::string>();
  return value ? *value : std::string();
}

std::size_t BoundArguments::position(std::string_view name) const {
  const auto& arguments = op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return i;
  return 0;
}

std::string BoundArguments::opName() const { return op ? op->schema.qualifiedName() : "op"; }

Tensor metaTensor(DType dtype, SymSizes sizes, SymSizes strides, SymInt offset) {
  return Tensor(nullptr, dtype, std::move(sizes), std::move(strides), offset);
}

Tensor metaTensor(DType dtype, const SymSizes& sizes) { return metaTensor(dtype, sizes, contiguousStrides(sizes)); }

Result<Tensor> allocate(const Tensor& meta) {
  KERF_TRY(Tensor result, Tensor::zerosStrided(meta.dtype(), meta.sizes(), meta.strides()));
  result.setDevice(meta.device());
  return result;
}

namespace {

Result<void> checkSizes(const BoundArguments& args, const Value& value) {
  if (value.isList()) {
    for (const Value& item : value.list()) KERF_CHECK(checkSizes(args, item));
    return {};
  }
  if (!value.isTensor() || value.tensor().isSymbolic()) return {};
  auto numel = checkedNumel(value.tensor().sizes());
  if (!numel) return fail(std::move(numel).error().while_("sizing the output of " + args.opName()));
  return {};
}

/// Device of the results: the `device` argument, else that of the first tensor argument.
Device resultDevice(const BoundArguments& args) {
  for (const Value& value : args.values)
    if (const auto* device = value.as<Device>()) return *device;
  for (const Value& value : args.values) {
    if (value.isTensor() && (value.tensor().dim() > 0 || args.values.size() == 1)) return value.tensor().device();
    if (value.isList())
      for (const Value& item : value.list())
        if (item.isTensor()) return item.tensor().device();
  }
  for (const Value& value : args.values)
    if (value.isTensor()) return value.tensor().device();
  return {};
}

Value onDevice(const Value& value, const Device& device) {
  if (value.isTensor()) {
    Tensor tensor = value.tensor();
    tensor.setDevice(device);
    return tensor;
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) items.push_back(onDevice(item, device));
  return items;
}

/// The door between symbolic code, which throws, and everything else.
Result<Value> guardedRule(ShapeRule rule, const BoundArguments& args) {
  try {
    KERF_CHECK(checkOperands(args));
    return rule(args);
  } catch (SymbolicFailure& failure) {
    return fail(std::move(failure.error.while_("deriving the shape of " + args.opName())));
  }
}

}  // namespace

Value onResultDevice(const BoundArguments& args, Value result) {
  const Device device = resultDevice(args);
  return device == Device{} ? std::move(result) : onDevice(result, device);
}

Result<Value> runShapeRule(const BoundArguments& args) {
  if (!args.op->shape) return fail(ErrorCode::UnsupportedOp, "{} has no shape rule", args.opName());
  const OpRow* complex = complexRow(args);
  KERF_TRY(Value result, guardedRule(complex ? complex->shape : args.op->shape, args));
  KERF_CHECK(checkSizes(args, result));
  return onResultDevice(args, std::move(result));
}

Result<Tensor> makeOutput(const BoundArguments& args) {
  KERF_TRY(const Value meta, runShapeRule(args));
  return allocate(meta.tensor());
}

Result<std::vector<Tensor>> makeOutputs(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  std::vector<Tensor> result;
  for (const Value& meta : metas.list()) {
    KERF_TRY(Tensor out, allocate(meta.tensor()));
    result.push_back(std::move(out));
  }
  return result;
}

Result<Value> callOp(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) {
  return referenceOps().call(target, args, kwargs);
}

Result<Tensor> callTensorOp(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) {
  KERF_TRY(const Value value, callOp(target, args, kwargs));
  if (!value.isTensor()) return fail(ErrorCode::Internal, "{} gave no tensor", target.text);
  return value.tensor();
}

Result<std::int64_t> wrapDim(const BoundArguments& args, std::int64_t dim, std::int64_t rank) {
  const std::int64_t range = rank == 0 ? 1 : rank;
  if (dim < -range || dim >= range)
    return mismatch(args, "dimension out of range (expected [{}, {}], got {})", -range, range - 1, dim);
  return dim < 0 ? dim + range : dim;
}

Result<Sizes> wrapDims(const BoundArguments& args, const Sizes& dims, std::int64_t rank) {
  Sizes result;
  for (std::int64_t dim : dims) {
    KERF_TRY(const std::int64_t wrapped, wrapDim(args, dim, rank));
    for (std::int64_t earlier : result)
      if (earlier == wrapped) return mismatch(args, "dim {} appears more than once in dims", dim);
    result.push_back(wrapped);
  }
  return result;
}

Value tensorList(std::vector<Tensor> tensors) {
  ValueList items;
  for (Tensor& tensor : tensors) items.emplace_back(std::move(tensor));
  return items;
}

Value intList(const SymSizes& values) {
  ValueList items;
  for (const SymInt value : values) items.emplace_back(value);
  return items;
}

bool isNumber(const Value& value) {
  return value.as<std::int64_t>() || value.as<double>() || value.as<bool>() || value.as<SymNumber>();
}

}  // namespace kerf::inline ops
