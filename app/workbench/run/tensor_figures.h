// What a tensor looks like: figures over all elements, a plane drawn small, exact cells, the next NaN or infinity.
#pragma once

#include "app/workbench/protocol/values.h"
#include "engine/tensor/tensor.h"

namespace kerf::workbench {

/// A tensor's elements in fp64, row by row, and what of its dtype the figures need.
class TensorView {
 public:
  /// Of complex elements the absolute values are looked at; cells show both parts.
  static Result<TensorView> of(const Tensor& tensor);

  ValueFigures figures() const;
  /// BadUsage for more leading indices than there are, and for one outside of its dimension.
  Result<ValuePlane> plane(const std::vector<std::int64_t>& slice) const;
  /// Cells of the plane at `slice`, which plane() accepted; the window is moved and cut to fit.
  ValueWindow window(const std::vector<std::int64_t>& slice, const ValueWindow& wanted) const;
  /// Index of the first NaN or infinity behind element `after`; none when there is none.
  std::optional<std::vector<std::int64_t>> oddBehind(std::int64_t after) const;

 private:
  /// Of the plane at `slice` among the elements.
  std::int64_t planeStart(const std::vector<std::int64_t>& slice) const;
  std::int64_t rows() const;
  std::int64_t columns() const;
  std::string cellText(std::int64_t element) const;

  Tensor m_own;   ///< contiguous, in its own dtype
  Tensor m_wide;  ///< the same in fp64; absolute values of complex ones
  Tensor m_parts;  ///< real and imaginary parts by turns, in fp64; of a complex tensor alone
};

/// `value` − `other` in fp64; where both are NaN or the same infinity they do not differ. Of complex values its
/// absolute value. ShapeMismatch for other shapes.
Result<Tensor> differenceOf(const Tensor& value, const Tensor& other);

}  // namespace kerf::workbench
