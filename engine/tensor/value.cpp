#include "engine/tensor/value.h"

namespace kerf::inline tensor {

Value::Value(ValueList list) : m_value(std::make_shared<const ValueList>(std::move(list))) {}
Value::Value(SymInt value) {
  if (value.isSymbolic())
    m_value = SymNumber{value, SymKind::Int};
  else
    m_value = value.bits();
}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

std::optional<SymInt> Value::asSymInt() const {
  if (const auto* number = as<std::int64_t>()) return SymInt(*number);
  const auto* symbolic = as<SymNumber>();
  return symbolic && symbolic->kind == SymKind::Int ? std::optional(symbolic->value) : std::nullopt;
}

}  // namespace kerf::inline tensor
