// Questions about tensors and dtypes whose answer is a bool, a number or a dtype: is_contiguous, result_type, can_cast.
#include "engine/ops/python/tensor_facts.h"

#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

/// Of tensors here it is never so: no names, no lazy negation, no memory shared between processes.
Result<Value> isNever(const PythonCall& call) {
  KERF_CHECK(call.tensor(0, "self"));
  return Value(false);
}

/// PyTorch conjugates when values are needed, and says so; which tensors wait for it is not followed here.
Result<Value> isConjugate(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  if (!isComplex(self.dtype())) return Value(false);
  return fail(ErrorCode::UnsupportedOp, "{}: whether a complex tensor is conjugated later is not followed", call.name);
}

/// Settings of the process that a graph does not change.
Result<Value> isOff(const PythonCall&) { return Value(false); }

Result<Value> isContiguousIn(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  const auto format = call.get(1, "memory_format");
  if (const auto* asked = format.as<MemoryFormat>(); asked != nullptr && *asked != MemoryFormat::Contiguous)
    return fail(ErrorCode::UnsupportedOp, "is_contiguous: memory formats are not supported");
  return Value(self.isContiguous());
}

Result<Value> isSignedTensor(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  constexpr DType without[] = {DType::Bool, DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
  return Value(std::ranges::find(without, self.dtype()) == std::end(without));
}

/// The bool of a tensor of one element, which must be known.
Result<Value> isNonzero(const PythonCall& call) { return Value(call.truth(0, "self", false)); }

/// Whether two tensors look at the same elements in the same way.
Result<Value> isSetTo(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  KERF_TRY(const Tensor other, call.tensor(1, "tensor"));
  if (!self.defined() || !other.defined())
    return fail(ErrorCode::UnsupportedOp, "is_set_to: what memory a tensor has is known when it runs");
  return Value(self.storage() == other.storage() && self.offset() == other.offset() && self.sizes() == other.sizes() &&
               self.strides() == other.strides());
}

Result<Value> denseDim(const PythonCall& call) {
  KERF_TRY(const Tensor self, call.tensor(0, "self"));
  return Value(self.dim());
}

Result<DType> dtypeNamed(const PythonCall& call, std::size_t i, std::string_view key) {
  const Value value = call.get(i, key);
  if (const auto* dtype = value.as<DType>()) return *dtype;
  return fail(ErrorCode::BadInput, "{}: argument '{}' must be a dtype", call.name, key);
}

Result<Value> promotedTypes(const PythonCall& call) {
  KERF_TRY(const DType first, dtypeNamed(call, 0, "type1"));
  KERF_TRY(const DType second, dtypeNamed(call, 1, "type2"));
  return Value(promoteTypes(first, second));
}

Result<Value> castable(const PythonCall& call) {
  KERF_TRY(const DType from, dtypeNamed(call, 0, "from_"));
  KERF_TRY(const DType to, dtypeNamed(call, 1, "to"));
  return Value(canCast(from, to));
}

/// Of two tensors, a tensor and a number, or two numbers.
Result<Value> typeOfResult(const PythonCall& call) {
  ResultType type;
  for (const auto& [name, value] : call.kwargs) type.add(value);
  return Value(type.dtype());
}

/// is_tensor(obj, /)
Result<Value> isTensorObject(const PythonCall& call) {
  if (call.positional != 1) return fail(ErrorCode::BadInput, "{}: its argument must stand by position", call.name);
  return Value(call.get(0, "obj").isTensor());
}
/// is_storage(obj, /): graphs hold none.
Result<Value> isStorageObject(const PythonCall& call) {
  if (call.positional != 1) return fail(ErrorCode::BadInput, "{}: its argument must stand by position", call.name);
  return Value(false);
}

constexpr PythonRow factRows[] = {
    {"Tensor.has_names", isNever},
    {"is_conj", isConjugate},
    {"is_neg", isNever},
    {"is_inference", isNever},
    {"is_distributed", isNever},
    {"Tensor.is_shared", isNever},
    {"Tensor.is_contiguous", isContiguousIn},
    {"is_signed", isSignedTensor},
    {"is_nonzero", isNonzero},
    {"Tensor.is_set_to", isSetTo},
    {"Tensor.dense_dim", denseDim},
    {"torch.promote_types", promotedTypes},
    {"torch.can_cast", castable},
    {"torch.result_type", typeOfResult},
    {"torch.is_tensor", isTensorObject},
    {"torch.is_storage", isStorageObject},
    {"torch.are_deterministic_algorithms_enabled", isOff},
    {"torch.is_deterministic_algorithms_warn_only_enabled", isOff},
    {"torch.is_inference_mode_enabled", isOff},
    {"torch.is_warn_always_enabled", isOff},
};

}  // namespace

PythonRows tensorFactRows() { return factRows; }

}  // namespace kerf::inline ops
