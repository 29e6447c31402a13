// Values with symbols in the place of their sizes, and the numbers that they are for some sizes.
#pragma once

#include <gtest/gtest.h>

#include "engine/ops/core/op_call.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::testing_support {

/// How sizes become symbols.
enum class Naming {
  Duck,     ///< equal sizes share a symbol, 0 and 1 stay numbers: as PyTorch does by default
  Distinct  ///< a symbol for every size of every tensor, 0 and 1 too
};

/// Makes tensors without data of symbolic sizes; strides follow them where they were row-major, else stay numbers.
class Symboliser {
 public:
  Symboliser(ShapeEnv& env, Naming naming) : m_env(env), m_naming(naming) {}

  Value operator()(const Value& value) {
    if (value.isTensor()) return tensor(value.tensor());
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) items.push_back((*this)(item));
    return items;
  }

 private:
  Value tensor(const Tensor& tensor) {
    SymSizes sizes;
    for (const std::int64_t size : tensor.sizes()) sizes.push_back(symbolFor(size));
    SymSizes strides =
        tensor.isContiguous() && tensor.numel() > 0 ? contiguousStrides(sizes) : SymSizes(tensor.strides());
    Tensor result(nullptr, tensor.dtype(), std::move(sizes), std::move(strides), tensor.offset());
    result.setDevice(tensor.device());
    return result;
  }
  SymInt symbolFor(std::int64_t size) {
    if (m_naming == Naming::Duck && size < 2) return size;
    const std::string name = m_naming == Naming::Duck ? fmt::format("s{}", size) : fmt::format("s{}", m_next++);
    return m_env.addSymbol(
        {.name = name, .hint = size, .range = {m_naming == Naming::Duck ? 2 : 0, ValueRange::greatest}});
  }
  ShapeEnv& m_env;
  Naming m_naming;
  int m_next = 0;
};

/// The value for these sizes; a failure where an expression has none.
inline Result<Value> atSizes(const Value& value, const SymbolBindings& bindings) {
  const ShapeEnv& env = *ShapeEnv::current();
  const auto number = [&](SymInt size) -> Result<std::int64_t> {
    return size.isSymbolic() ? env.expression(size).evaluateInteger(bindings) : Result<std::int64_t>(size.bits());
  };
  const auto numbers = [&](const SymSizes& sizes) -> Result<Sizes> {
    Sizes result;
    for (const SymInt size : sizes) {
      KERF_TRY(const std::int64_t known, number(size));
      result.push_back(known);
    }
    return result;
  };
  if (value.isTensor()) {
    const Tensor& tensor = value.tensor();
    KERF_TRY(Sizes sizes, numbers(tensor.symSizes()));
    KERF_TRY(Sizes strides, numbers(tensor.symStrides()));
    KERF_TRY(const std::int64_t offset, number(tensor.symOffset()));
    Tensor result(nullptr, tensor.dtype(), std::move(sizes), std::move(strides), offset);
    result.setDevice(tensor.device());
    return Value(std::move(result));
  }
  if (const auto* symbolic = value.as<SymNumber>(); symbolic && symbolic->kind == SymKind::Int) {
    KERF_TRY(const std::int64_t known, number(symbolic->value));
    return Value(known);
  }
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value known, atSizes(item, bindings));
    items.push_back(std::move(known));
  }
  return Value(std::move(items));
}

/// What differs between two results of shape rules; strides count where a dimension has more than one element.
inline std::string shapeDifference(const Value& expected, const Value& got) {
  if (expected.isList() != got.isList() || expected.isTensor() != got.isTensor()) return "another kind of result";
  if (expected.isList()) {
    if (expected.list().size() != got.list().size()) return "another number of results";
    for (std::size_t i = 0; i < expected.list().size(); ++i)
      if (auto text = shapeDifference(expected.list()[i], got.list()[i]); !text.empty()) return text;
    return "";
  }
  if (!expected.isTensor()) {
    const auto *a = expected.as<std::int64_t>(), *b = got.as<std::int64_t>();
    return !a || (b && *a == *b) ? "" : "another number";
  }
  const Tensor& a = expected.tensor();
  const Tensor& b = got.tensor();
  if (a.dtype() != b.dtype()) return "another dtype";
  if (a.sizes() != b.sizes())
    return fmt::format("sizes [{}] instead of [{}]", fmt::join(b.sizes(), ", "), fmt::join(a.sizes(), ", "));
  if (a.numel() == 0) return "";
  for (std::size_t d = 0; d < a.sizes().size(); ++d)
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d])
      return fmt::format("strides [{}] instead of [{}] for sizes [{}]", fmt::join(b.strides(), ", "),
                         fmt::join(a.strides(), ", "), fmt::join(a.sizes(), ", "));
  return "";
}

}  // namespace kerf::testing_support
