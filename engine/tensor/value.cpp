#include "engine/tensor/value.h"

namespace kerf::inline tensor {

Value::Value(ValueList list) : m_value(std::make_shared<const ValueList>(std::move(list))) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

}  // namespace kerf::inline tensor
