// Geometry of a convolution with three spatial dimensions; fewer are padded with ones in front. Private to mathlib.
#pragma once

#include <array>

#include "engine/mathlib/convolution.h"

namespace kerf::inline mathlib {

using Triple = std::array<std::int64_t, 3>;

/// A convolution seen from its filter: `big` is what the filter slides over (the input, or the output when transposed),
/// `small` is what it produces there. Weight is [smallChannels, bigChannels/groups, kernel…].
struct ConvolutionGeometry {
  std::int64_t batch = 1, groups = 1, bigChannels = 1, smallChannels = 1;
  Triple big{1, 1, 1}, small{1, 1, 1}, kernel{1, 1, 1};
  Triple stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};

  static std::int64_t product(const Triple& t) { return t[0] * t[1] * t[2]; }
  std::int64_t bigArea() const { return product(big); }
  std::int64_t smallArea() const { return product(small); }
  std::int64_t kernelArea() const { return product(kernel); }
  std::int64_t bigPerGroup() const { return bigChannels / groups; }
  std::int64_t smallPerGroup() const { return smallChannels / groups; }
  /// Rows of the column matrix of one group.
  std::int64_t columnRows() const { return bigPerGroup() * kernelArea(); }
};

/// Validates and normalizes. `output` are the sizes that convolutionSizes gave.
Result<ConvolutionGeometry> convolutionGeometry(const Sizes& input, const Sizes& weight, const Sizes& output,
                                                const ConvolutionSpec& spec);

}  // namespace kerf::inline mathlib
