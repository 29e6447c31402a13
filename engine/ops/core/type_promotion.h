// Type promotion as torch.result_type: tensors with dimensions decide before 0-d tensors, those before Python numbers.
#pragma once

#include <span>

#include "engine/tensor/value.h"

namespace kerf::inline ops {

/// torch.promote_types.
DType promoteTypes(DType a, DType b);

/// Collects operands, then answers which dtype the operation computes in.
class ResultType {
 public:
  void add(const Tensor& tensor);
  /// A Python number (or a tensor); anything else is ignored.
  void add(const Value& value);
  DType dtype() const;

 private:
  void combine(std::optional<DType>& slot, DType dtype) { slot = slot ? promoteTypes(*slot, dtype) : dtype; }

  std::optional<DType> m_dimensioned;
  std::optional<DType> m_zeroDim;
  std::optional<DType> m_number;
};

DType resultType(std::span<const Value> operands);

/// Integers and bool become the default float (float32), floats stay.
inline DType toFloating(DType dtype) { return isIntegral(dtype) ? DType::Float32 : dtype; }
/// Whether a result of type `from` may be stored into a tensor of type `to` (no float into int, nothing but bool into
/// bool).
bool canCast(DType from, DType to);

}  // namespace kerf::inline ops
