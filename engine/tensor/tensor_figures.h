// What a tensor looks like: figures over all elements, a plane drawn small, exact cells, the next NaN or infinity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

/// What the elements are like; minimum to deviation are of the finite ones. Complex elements count with their absolute
/// values.
struct TensorFigures {
  std::int64_t elements = 0, finite = 0, nans = 0, positiveInfinities = 0, negativeInfinities = 0;
  std::int64_t zeros = 0, subnormals = 0;
  double minimum = 0, maximum = 0, mean = 0, deviation = 0;
  std::vector<std::int64_t> histogram;  ///< finite elements in equal steps from minimum to maximum; empty: none finite
};

/// The last two dimensions at leading indices, drawn small: each patch is its element of largest magnitude; a NaN, and
/// then an infinity, outweighs all.
struct TensorPlane {
  std::vector<std::int64_t> slice;     ///< the leading indices that are shown
  std::int64_t rows = 0, columns = 0;  ///< of the plane
  std::int64_t shownRows = 0, shownColumns = 0;
  std::vector<float> patches;  ///< row by row
};

/// Exact numbers of some cells of the plane.
struct TensorWindow {
  std::int64_t row = 0, column = 0;  ///< of the first cell
  std::int64_t rows = 0, columns = 0;
  std::vector<std::string> cells;  ///< row by row, in the digits that tell neighbours apart
};

/// A tensor's elements in fp64, row by row, and what of its dtype the figures need.
class TensorView {
 public:
  /// Of complex elements the absolute values are looked at; cells show both parts.
  static Result<TensorView> of(const Tensor& tensor);

  TensorFigures figures() const;
  /// BadUsage for more leading indices than there are, and for one outside of its dimension.
  Result<TensorPlane> plane(const std::vector<std::int64_t>& slice) const;
  /// Cells of the plane at `slice`, which plane() accepted; the window is moved and cut to fit.
  TensorWindow window(const std::vector<std::int64_t>& slice, const TensorWindow& wanted) const;
  /// Index of the first NaN or infinity behind element `after`; none when there is none.
  std::optional<std::vector<std::int64_t>> oddBehind(std::int64_t after) const;

 private:
  /// Of the plane at `slice` among the elements.
  std::int64_t planeStart(const std::vector<std::int64_t>& slice) const;
  std::int64_t rows() const;
  std::int64_t columns() const;
  std::string cellText(std::int64_t element) const;

  Tensor m_own;    ///< contiguous, in its own dtype
  Tensor m_wide;   ///< the same in fp64; absolute values of complex ones
  Tensor m_parts;  ///< real and imaginary parts by turns, in fp64; of a complex tensor alone
};

/// `value` − `other` in fp64; where both are NaN or the same infinity they do not differ. Of complex values its
/// absolute value. ShapeMismatch for other shapes.
Result<Tensor> tensorDifference(const Tensor& value, const Tensor& other);

}  // namespace kerf::inline tensor
