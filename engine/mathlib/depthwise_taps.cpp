#include "engine/mathlib/depthwise_taps.h"

namespace kerf::inline mathlib {
namespace {

/// Whether `next` has the taps of `here`, all read `step` further; `step` is set by the first one.
bool continues(const ChannelTaps& axis, std::int64_t here, std::int64_t next, std::int64_t& step) {
  const auto at = [&](std::int64_t x) { return axis.begin[std::size_t(x)]; };
  const std::size_t count = at(here + 1) - at(here);
  if (count == 0 || at(next + 1) - at(next) != count) return false;
  const std::int64_t wanted = axis.taps[at(next)].from - axis.taps[at(here)].from;
  if (step != 0 && step != wanted) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const ChannelTap& from = axis.taps[at(here) + i];
    if (axis.taps[at(next) + i] != ChannelTap{from.tap, from.from + wanted}) return false;
  }
  step = wanted;
  return true;
}

}  // namespace

ChannelTaps gatherTaps(const ConvolutionGeometry& g, std::size_t axis) {
  ChannelTaps result{{}, {0}};
  for (std::int64_t x = 0; x < g.small[axis]; ++x) {
    for (std::int64_t tap = 0; tap < g.kernel[axis]; ++tap) {
      const std::int64_t from = x * g.stride[axis] + tap * g.dilation[axis] - g.padding[axis];
      if (from >= 0 && from < g.big[axis]) result.taps.push_back({tap, from});
    }
    result.begin.push_back(result.taps.size());
  }
  return result;
}

ChannelTaps scatterTaps(const ConvolutionGeometry& g, std::size_t axis) {
  ChannelTaps result{{}, {0}};
  for (std::int64_t x = 0; x < g.big[axis]; ++x) {
    for (std::int64_t tap = 0; tap < g.kernel[axis]; ++tap) {
      const std::int64_t shifted = x + g.padding[axis] - tap * g.dilation[axis];
      if (shifted >= 0 && shifted % g.stride[axis] == 0 && shifted / g.stride[axis] < g.small[axis])
        result.taps.push_back({tap, shifted / g.stride[axis]});
    }
    result.begin.push_back(result.taps.size());
  }
  return result;
}

std::vector<TapRun> tapRuns(const ChannelTaps& axis, std::int64_t apart) {
  std::vector<TapRun> runs;
  for (std::int64_t rest = 0; rest < std::min(apart, axis.size()); ++rest)
    for (std::int64_t x = rest; x < axis.size();) {
      TapRun run{x, apart, 1, 0};
      while (x + apart < axis.size() && continues(axis, x, x + apart, run.step)) {
        ++run.count;
        x += apart;
      }
      x += apart;
      runs.push_back(run);
    }
  return runs;
}

}  // namespace kerf::inline mathlib
