// Small helpers for the tests of engine/ops: tensors from literals, calls that must succeed.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "engine/ops/core/op_registry.h"
#include "engine/tensor/copy.h"

namespace kerf::testing {

/// Row-major tensor of `dtype` from numbers.
inline Tensor tensorOf(const Sizes& sizes, const std::vector<double>& values, DType dtype = DType::Float32) {
  Tensor wide = *Tensor::zeros(DType::Float64, sizes);
  std::ranges::copy(values, wide.data<double>());
  return *wide.to(dtype);
}

/// 0, 1, 2, … in the given shape.
inline Tensor counting(const Sizes& sizes, DType dtype = DType::Float32) {
  std::vector<double> values(std::size_t(*checkedNumel(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(i);
  return tensorOf(sizes, values, dtype);
}

inline std::vector<double> valuesOf(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.itemAsDouble(i));
  return values;
}

inline Value call(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) {
  auto result = referenceOps().call(op, args, kwargs);
  EXPECT_TRUE(result) << op << ": " << (result ? "" : result.error().text());
  return result ? *result : Value();
}

inline Tensor callTensor(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) {
  const Value value = call(op, args, kwargs);
  return value.isTensor() ? value.tensor() : Tensor::scalar(0, DType::Float32);
}

inline Error errorOf(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) {
  auto result = referenceOps().call(op, args, kwargs);
  EXPECT_FALSE(result) << op << " should have failed";
  return result ? Error{} : result.error();
}

inline Value ints(std::initializer_list<std::int64_t> values) {
  ValueList items;
  for (std::int64_t value : values) items.emplace_back(value);
  return items;
}

}  // namespace kerf::testing
