// ValueMark: what is kept of a tensor's numbers to find the same ones again.
#pragma once

#include <optional>

#include "engine/audit/meaning/number_array.h"
#include "engine/tensor/value.h"

namespace kerf::inline audit {

/// A tensor's numbers in the order of its sizes; `isKnown` false: some of them are not known.
struct DenseNumbers {
  Sizes sizes;
  DType dtype = DType::Float32;
  NumberArray values;
  bool isKnown = true;
};

/// None of a complex tensor. Float64 ones are looked at, not copied.
std::optional<DenseNumbers> numbersOf(const Tensor& tensor);
/// Floats become float64.
Result<Tensor> tensorOf(const DenseNumbers& numbers);
/// The numbers in a tensor that lies as `like` does. Where elements of it are one, the last number counts.
Result<Value> withNumbers(const Tensor& like, const DenseNumbers& numbers);
/// As an operator takes it: floats are float64.
Result<Value> inFloat64Value(const Value& value);

struct ValueMark {
  std::size_t count = 0;
  double sum = 0, size = 0, placed = 0;  ///< of the numbers, of their amounts, and weighted by where they are
  double squares = 0;                    ///< of shares of a whole, sum and size are the same

  static ValueMark of(const DenseNumbers& numbers);
  /// None of a complex tensor.
  static std::optional<ValueMark> of(const Tensor& tensor);
  /// The same numbers up to rounding; `inPlace`: at the same places too.
  bool isLike(const ValueMark& other, bool inPlace) const;
};

}  // namespace kerf::inline audit
