#include "engine/ops/core/type_promotion.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

bool isUnsigned(DType dtype) {
  return dtype == DType::UInt8 || dtype == DType::UInt16 || dtype == DType::UInt32 || dtype == DType::UInt64;
}

/// Smallest signed type that holds both a signed and an unsigned type (int64 where none does).
DType promoteMixedSign(DType isSigned, DType unsignedType) {
  const std::int64_t needed = std::max(itemSize(isSigned), itemSize(unsignedType) * 2);
  if (needed <= 2) return DType::Int16;
  return needed <= 4 ? DType::Int32 : DType::Int64;
}

DType promoteFloats(DType a, DType b) {
  if (itemSize(a) != itemSize(b)) return itemSize(a) > itemSize(b) ? a : b;
  return itemSize(a) == 1 ? DType::Float16 : DType::Float32;  // float16 with bfloat16; mixed 8-bit formats
}

DType promoteComplex(DType a, DType b) {
  const auto partSize = [](DType dtype) {
    return isComplex(dtype) ? itemSize(dtype) / 2 : isFloating(dtype) ? itemSize(dtype) : 0;
  };
  const std::int64_t size = std::max(partSize(a), partSize(b));
  return size >= 8 ? DType::Complex128 : size >= 4 ? DType::Complex64 : DType::Complex32;
}

DType dtypeOf(SymKind kind) {
  if (kind == SymKind::Bool) return DType::Bool;
  return kind == SymKind::Int ? DType::Int64 : DType::Float32;
}

}  // namespace

DType promoteTypes(DType a, DType b) {
  if (a == b) return a;
  if (isComplex(a) || isComplex(b)) return promoteComplex(a, b);
  if (isFloating(a) && isFloating(b)) return promoteFloats(a, b);
  if (isFloating(a)) return a;
  if (isFloating(b)) return b;
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  if (isUnsigned(a) == isUnsigned(b)) return itemSize(a) > itemSize(b) ? a : b;
  return isUnsigned(a) ? promoteMixedSign(b, a) : promoteMixedSign(a, b);
}

void ResultType::add(const Tensor& tensor) { combine(tensor.dim() > 0 ? m_dimensioned : m_zeroDim, tensor.dtype()); }

void ResultType::add(const Value& value) {
  if (value.isTensor())
    add(value.tensor());
  else if (value.as<double>())
    combine(m_number, DType::Float32);
  else if (value.as<std::int64_t>())
    combine(m_number, DType::Int64);
  else if (value.as<bool>())
    combine(m_number, DType::Bool);
  else if (const auto* symbolic = value.as<SymNumber>())
    combine(m_number, dtypeOf(symbolic->kind));
}

DType ResultType::dtype() const {
  const auto merge = [](std::optional<DType> higher, std::optional<DType> lower) -> std::optional<DType> {
    if (!higher || !lower) return higher ? higher : lower;
    if (isFloating(*higher) && isComplex(*lower)) return promoteComplex(*higher, DType::Complex32);
    if (dtypeInfo(*higher).kind >= dtypeInfo(*lower).kind && *higher != DType::Bool) return higher;
    return promoteTypes(*higher, *lower);
  };
  return merge(m_dimensioned, merge(m_zeroDim, m_number)).value_or(DType::Float32);
}

DType resultType(std::span<const Value> operands) {
  ResultType result;
  for (const Value& operand : operands) result.add(operand);
  return result.dtype();
}

bool canCast(DType from, DType to) {
  if (isComplex(from) && !isComplex(to)) return false;
  if (isFloating(from) && isIntegral(to)) return false;
  return from == DType::Bool || to != DType::Bool;
}

}  // namespace kerf::inline ops
