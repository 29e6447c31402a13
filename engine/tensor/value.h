// Value: what flows along a graph edge while it runs: tensors, numbers, and lists of them. Where shapes are derived,
// numbers may be symbolic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

class Value;
using ValueList = std::vector<Value>;

/// Runtime value of a node or of a resolved op argument. monostate is Python's None.
class Value {
 public:
  using Variant = std::variant<std::monostate, bool, std::int64_t, double, std::string, DType, Device, Layout,
                               MemoryFormat, Tensor, std::shared_ptr<const ValueList>, SymNumber>;

  Value() = default;
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  template <class T>
    requires std::is_constructible_v<Variant, T> &&
             (!std::is_same_v<std::remove_cvref_t<T>, Value> && !std::is_same_v<std::remove_cvref_t<T>, SymInt>)
  Value(T&& value) : m_value(std::forward<T>(value)) {}  // NOLINT: implicit like Python's boxing
  Value(ValueList list);                                 // NOLINT
  Value(SymInt value);                                   // NOLINT: an int64 where it is a number, else a SymNumber

  bool isNone() const { return std::holds_alternative<std::monostate>(m_value); }
  bool isTensor() const { return std::holds_alternative<Tensor>(m_value); }
  bool isList() const { return std::holds_alternative<std::shared_ptr<const ValueList>>(m_value); }
  template <class T>
  const T* as() const {
    return std::get_if<T>(&m_value);
  }
  /// An int64 or a symbolic int; none for everything else, bools too.
  std::optional<SymInt> asSymInt() const;
  const Tensor& tensor() const { return std::get<Tensor>(m_value); }
  const ValueList& list() const { return *std::get<std::shared_ptr<const ValueList>>(m_value); }
  const Variant& variant() const { return m_value; }

 private:
  Variant m_value;
};

}  // namespace kerf::inline tensor
