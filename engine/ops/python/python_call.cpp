// What one call of a Python-level function was given.
#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

/// A tensor without dimensions whose number is known.
const Tensor* numberTensor(const Value& value) {
  const Tensor* tensor = value.as<Tensor>();
  return tensor != nullptr && tensor->defined() && tensor->dim() == 0 && !isComplex(tensor->dtype()) ? tensor : nullptr;
}

/// Nothing else may stand in for an argument of the wrong kind. callPythonLevel gives the error back.
[[noreturn]] void refuse(const PythonCall& call, std::string_view key, std::string_view expected) {
  throw SymbolicFailure{fail(ErrorCode::BadInput, "{}: argument '{}' must be {}", call.name, key, expected).error()};
}

bool truthOfTensor(const PythonCall& call, std::string_view key, const Tensor& tensor) {
  const bool isOne = tensor.defined() && !tensor.isSymbolic() && tensor.numel() == 1;
  if (!isOne) refuse(call, key, "one value: the bool of a tensor with more or none is ambiguous");
  if (tensor.storage() == nullptr || tensor.storage()->data() == nullptr) refuse(call, key, "known");
  return isComplex(tensor.dtype()) || tensor.itemAsDouble() != 0;
}

}  // namespace

const Value* PythonCall::find(std::size_t i, std::string_view key) const {
  if (i < args.size()) return &args[i];
  const bool first = key == "self" || key == "input";
  for (const auto& [keyword, value] : kwargs)
    if (keyword == key || (first && (keyword == "self" || keyword == "input"))) return &value;
  return nullptr;
}
Value PythonCall::get(std::size_t i, std::string_view key, Value fallback) const {
  const Value* value = find(i, key);
  return value ? *value : fallback;
}
Result<Tensor> PythonCall::tensor(std::size_t i, std::string_view key) const {
  const Value* value = find(i, key);
  if (value && value->isTensor()) return value->tensor();
  return fail(ErrorCode::ShapeMismatch, "{}: argument '{}' must be a tensor", name, key);
}
Result<void> PythonCall::checkTensors(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys)
    if (const Value* value = find(SIZE_MAX, key); value != nullptr && !value->isNone() && !value->isTensor())
      return fail(ErrorCode::ShapeMismatch, "{}: argument '{}' must be a tensor", name, key);
  return {};
}
std::int64_t PythonCall::integer(std::size_t i, std::string_view key, std::int64_t fallback) const {
  return symInteger(i, key, fallback);
}
SymInt PythonCall::symInteger(std::size_t i, std::string_view key, SymInt fallback) const {
  const Value* value = find(i, key);
  if (value == nullptr || value->isNone()) return fallback;
  if (const auto integer = value->asSymInt()) return *integer;
  if (const bool* flag = value->as<bool>()) return SymInt(std::int64_t{*flag});
  if (const Tensor* tensor = numberTensor(*value); tensor && isIntegral(tensor->dtype())) return tensor->itemAsInt();
  refuse(*this, key, "an int");
}
double PythonCall::number(std::size_t i, std::string_view key, double fallback) const {
  const Value* value = find(i, key);
  if (value == nullptr || value->isNone()) return fallback;
  if (const auto* real = value->as<double>()) return *real;
  if (const auto* whole = value->as<std::int64_t>()) return double(*whole);
  if (const bool* flag = value->as<bool>()) return *flag ? 1 : 0;
  if (const auto* symbolic = value->as<SymNumber>(); symbolic && ShapeEnv::current() != nullptr)
    return ShapeEnv::current()->specialiseReal(symbolic->value);
  if (const Tensor* tensor = numberTensor(*value)) return tensor->itemAsDouble();
  refuse(*this, key, "a number");
}
bool PythonCall::flag(std::size_t i, std::string_view key, bool fallback) const {
  const Value* value = find(i, key);
  if (value == nullptr) return fallback;
  if (value->isNone()) return false;
  if (const bool* given = value->as<bool>()) return *given;
  if (const auto* symbolic = value->as<SymNumber>(); symbolic && ShapeEnv::current() != nullptr)
    return ShapeEnv::current()->specialiseReal(symbolic->value) != 0;
  refuse(*this, key, "a bool");
}
bool PythonCall::truth(std::size_t i, std::string_view key, bool fallback) const {
  const Value* value = find(i, key);
  if (value == nullptr) return fallback;
  if (value->isList()) return !value->list().empty();
  if (const auto* text = value->as<std::string>()) return !text->empty();
  if (const Tensor* tensor = value->as<Tensor>()) return truthOfTensor(*this, key, *tensor);
  if (value->isNone()) return false;
  return value->as<DType>() != nullptr || number(i, key, 0) != 0;
}
Result<Value> PythonCall::aten(std::string_view op, const ValueList& operands, const KeywordValues& keywords) const {
  return ops.call(fmt::format("torch.ops.aten.{}", op), operands, keywords);
}
Result<Tensor> PythonCall::atenTensor(std::string_view op, const ValueList& operands,
                                      const KeywordValues& keywords) const {
  KERF_TRY(const Value value, aten(op, operands, keywords));
  if (value.isTensor()) return value.tensor();
  if (value.isList() && !value.list().empty() && value.list()[0].isTensor()) return value.list()[0].tensor();
  return fail(ErrorCode::Internal, "aten.{} gave no tensor", op);
}

}  // namespace kerf::inline ops
