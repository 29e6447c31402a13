// Which taps of a filter meet which positions, axis by axis, for depthwise convolutions. Private to mathlib.
#pragma once

#include <vector>

#include "engine/mathlib/convolution_geometry.h"

namespace kerf::inline mathlib {

/// One tap at one position of the tensor that is written.
struct ChannelTap {
  std::int64_t tap = 0;
  std::int64_t from = 0;  ///< position of the tensor that is read
  bool operator==(const ChannelTap&) const = default;
};

/// The taps of every position along one axis: those of position x are taps[begin[x]] to taps[begin[x + 1] - 1], by
/// rising tap.
struct ChannelTaps {
  std::vector<ChannelTap> taps;
  std::vector<std::size_t> begin;
  std::int64_t size() const { return std::int64_t(begin.size()) - 1; }
};

/// Of small positions: where each tap reads the big tensor.
ChannelTaps gatherTaps(const ConvolutionGeometry& g, std::size_t axis);
/// Of big positions: from which small position each tap comes.
ChannelTaps scatterTaps(const ConvolutionGeometry& g, std::size_t axis);

/// Positions first, first + apart, … with the same taps, each of which reads `step` further at every position.
struct TapRun {
  std::int64_t first = 0, apart = 1, count = 1, step = 0;
};

/// All positions of an axis; those of a run are `apart` from one another.
std::vector<TapRun> tapRuns(const ChannelTaps& axis, std::int64_t apart);

}  // namespace kerf::inline mathlib
