// RunValue: what names of the wrapper stand for while it is run: numbers, and tensors over memory.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/audit/meaning/kernel_machine.h"
#include "engine/audit/meaning/value_marks.h"

namespace kerf::inline audit {

struct RunTensor {
  std::shared_ptr<RunMemory> memory;
  Sizes sizes, strides;
  std::int64_t offset = 0;
  DType dtype = DType::Float32;

  DenseNumbers numbers() const;
  /// A tensor over the same numbers, for who does not write; none where not all of the memory is known, or it has no floats.
  std::optional<Tensor> view() const;
  /// False where the sizes differ.
  bool write(const DenseNumbers& numbers) const;
};

struct RunValue {
  enum class Kind { Unknown, None, Number, Tensor, List, Other };
  Kind kind = Kind::Unknown;
  Value number;  ///< of Number and Other: as operators take it
  RunTensor tensor;
  std::vector<RunValue> items;
};

std::size_t countOf(const Sizes& sizes);
/// The same, of sizes of which nothing is known.
double elementsOf(const Sizes& sizes);
/// Elements from the first to the last; INT64_MAX beyond what fits.
std::int64_t spanOf(const Sizes& sizes, const Sizes& strides);
/// Over memory of its own.
RunValue tensorValue(const DenseNumbers& numbers, const Sizes& strides);
/// Looks at a float64 tensor's own numbers.
RunValue sharedValue(const Tensor& tensor);
RunValue otherValue(Value value);
RunValue numberValue(Value value);
/// None of what is no number.
std::optional<double> realOf(const RunValue& value);
/// "+", "//", … of Python; unknown where there is no result.
RunValue calculated(std::string_view sign, double a, double b);

}  // namespace kerf::inline audit
