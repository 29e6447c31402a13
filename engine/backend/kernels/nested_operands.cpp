#include "engine/backend/kernels/nested_operands.h"

#include "engine/ir/value_meta.h"

namespace kerf::inline backend {
namespace {

bool isSymbolic(const SymExpr& number) { return number.text.find_first_not_of("-0123456789") != std::string::npos; }

bool fitsDims(const std::vector<Dim>& dims, const Sizes& numbers, const Sizes& sizes) {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (sizes[d] != 1 && !isSymbolic(dims[d]) && dims[d].hint != numbers[d]) return false;
  return true;
}

bool fitsTensor(const TensorMeta& meta, const Tensor& tensor, bool usesOffsets) {
  if (meta.dtype != tensor.dtype() || meta.sizes.size() != tensor.sizes().size()) return false;
  for (std::size_t d = 0; d < meta.sizes.size(); ++d)
    if (!isSymbolic(meta.sizes[d]) && meta.sizes[d].hint != tensor.sizes()[d]) return false;
  if (usesOffsets && meta.storageOffset != tensor.offset()) return false;
  return meta.strides.empty() || fitsDims(meta.strides, tensor.strides(), tensor.sizes());
}

}  // namespace

ValueMeta operandMeta(const Value& operand, std::size_t position, bool symbolicIntegers) {
  if (const auto* number = operand.as<std::int64_t>()) {
    if (!symbolicIntegers) return {};
    return {SymMeta{SymExpr{fmt::format("k{}", position), *number}}};
  }
  if (const auto* number = operand.as<SymNumber>(); number && number->kind != SymKind::Int) return {};
  if (operand.isTensor() || operand.as<SymNumber>()) return metaOf(operand);
  return {};
}

bool fitsOperand(const ValueMeta& meta, const Value& value, bool usesOffsets) {
  if (const TensorMeta* tensor = meta.tensor())
    return value.isTensor() && fitsTensor(*tensor, value.tensor(), usesOffsets);
  if (const SymMeta* sym = meta.sym()) {
    const auto* number = value.as<std::int64_t>();
    return number != nullptr && (isSymbolic(sym->expr) || sym->expr.hint == *number);
  }
  return !value.isTensor();
}

}  // namespace kerf::inline backend
