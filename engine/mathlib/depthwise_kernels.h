// Loops of depthwise convolutions over blocks of channels (channel_blocks.h). Private to mathlib.
#pragma once

#include <cstring>

#include "engine/mathlib/channel_blocks.h"
#include "engine/mathlib/depthwise_taps.h"
#include "engine/mathlib/vector_of.h"
#include "engine/tensor/simd.h"

namespace kerf::inline mathlib {

/// What a block is written by: for every axis the taps of each position that is written, in runs along x.
struct TapPlan {
  ChannelTaps z, y, x;
  std::vector<TapRun> runs;
  std::int64_t readHeight = 1, readWidth = 1, kernelHeight = 1, kernelWidth = 1;
};

/// Taps [first, first + count) of a row of the filter, and the small positions at which all of them meet the image.
struct TapSpan {
  std::int64_t begin = 0, end = 0;
};

/// What the gradient of the filter is summed by.
struct FilterPlan {
  ChannelTaps z, y;            ///< of small positions
  std::vector<TapSpan> spans;  ///< along x, of every tap
  std::int64_t bigHeight = 1, bigWidth = 1, smallWidth = 1, kernelHeight = 1, kernelWidth = 1;
  std::int64_t stride = 1, dilation = 1, padding = 0;  ///< along x
};

namespace detail {

/// A block's element as vectors of `bytes`.
template <class T, int bytes>
struct Lanes {
  using Vector = typename VectorOf<T, bytes>::Type;
  static constexpr int count = 64 / bytes;
  static constexpr std::int64_t lanes = blockLanes<T>;
};

template <class T, int bytes>
KERF_KERNEL void load(T const* from, typename Lanes<T, bytes>::Vector* to) {
  __builtin_memcpy(to, from, 64);
}

/// P positions of one run beside each other: out[p] (+)= sum over taps of in[…] * filter[tap].
template <class T, int bytes, int P>
KERF_KERNEL void writePositions(const TapPlan& plan, const TapRun& run, std::int64_t at, std::int64_t z, std::int64_t y,
                                const T* in, const T* filter, T* out, bool add) {
  using L = Lanes<T, bytes>;
  typename L::Vector sums[P][L::count] = {};
  const std::int64_t apart = run.apart * L::lanes, step = run.step * L::lanes;
  if (add)
    for (int p = 0; p < P; ++p) load<T, bytes>(out + p * apart, sums[p]);
  const ChannelTap* const taps = plan.x.taps.data();
  const std::size_t first = plan.x.begin[std::size_t(at)], last = plan.x.begin[std::size_t(at) + 1];
  for (std::size_t tz = plan.z.begin[std::size_t(z)]; tz < plan.z.begin[std::size_t(z) + 1]; ++tz)
    for (std::size_t ty = plan.y.begin[std::size_t(y)]; ty < plan.y.begin[std::size_t(y) + 1]; ++ty) {
      const ChannelTap vertical = plan.y.taps[ty], deep = plan.z.taps[tz];
      const T* const row = in + (deep.from * plan.readHeight + vertical.from) * plan.readWidth * L::lanes;
      const T* const weights = filter + (deep.tap * plan.kernelHeight + vertical.tap) * plan.kernelWidth * L::lanes;
      for (std::size_t tx = first; tx < last; ++tx) {
        typename L::Vector weight[L::count], value[L::count];
        load<T, bytes>(weights + taps[tx].tap * L::lanes, weight);
        const T* const from = row + taps[tx].from * L::lanes;
        for (int p = 0; p < P; ++p) {
          load<T, bytes>(from + p * step, value);
          for (int v = 0; v < L::count; ++v) sums[p][v] += value[v] * weight[v];
        }
      }
    }
  for (int p = 0; p < P; ++p) __builtin_memcpy(out + p * apart, sums[p], 64);
}

/// Adds one row's share to the gradients of P neighbouring taps.
template <class T, int bytes, int P>
KERF_KERNEL void addTaps(const FilterPlan& plan, std::int64_t tap, TapSpan span, const T* small, const T* big,
                         T* gradient) {
  using L = Lanes<T, bytes>;
  if (span.begin >= span.end) return;
  typename L::Vector sums[P][L::count] = {};
  const T* from = big + (tap * plan.dilation - plan.padding + span.begin * plan.stride) * L::lanes;
  for (std::int64_t x = span.begin; x < span.end; ++x, from += plan.stride * L::lanes) {
    typename L::Vector grad[L::count], value[L::count];
    load<T, bytes>(small + x * L::lanes, grad);
    for (int p = 0; p < P; ++p) {
      load<T, bytes>(from + p * plan.dilation * L::lanes, value);
      for (int v = 0; v < L::count; ++v) sums[p][v] += grad[v] * value[v];
    }
  }
  for (int p = 0; p < P; ++p) {
    typename L::Vector before[L::count];
    load<T, bytes>(gradient + (tap + p) * L::lanes, before);
    for (int v = 0; v < L::count; ++v) before[v] += sums[p][v];
    __builtin_memcpy(gradient + (tap + p) * L::lanes, before, 64);
  }
}

/// P taps where all of them meet the image, then each by itself where only some do.
template <class T, int bytes, int P>
KERF_KERNEL void addTapGroup(const FilterPlan& plan, std::int64_t tap, const T* small, const T* big, T* gradient) {
  TapSpan all = plan.spans[std::size_t(tap)];
  for (std::int64_t t = tap + 1; t < tap + P; ++t) {
    all.begin = std::max(all.begin, plan.spans[std::size_t(t)].begin);
    all.end = std::min(all.end, plan.spans[std::size_t(t)].end);
  }
  if (all.end <= all.begin) all = {plan.smallWidth, plan.smallWidth};
  addTaps<T, bytes, P>(plan, tap, all, small, big, gradient);
  for (std::int64_t t = tap; t < tap + P; ++t) {
    const TapSpan own = plan.spans[std::size_t(t)];
    addTaps<T, bytes, 1>(plan, t, {own.begin, std::min(own.end, all.begin)}, small, big, gradient);
    addTaps<T, bytes, 1>(plan, t, {std::max(own.begin, all.end), own.end}, small, big, gradient);
  }
}

}  // namespace detail

/// out = (or +=) filter applied to `in`, all blocked.
template <class T, int bytes>
struct WriteByTaps {
  KERF_KERNEL void run(const TapPlan* plan, const T* in, const T* filter, T* out, bool add) {
    constexpr std::int64_t lanes = blockLanes<T>;
    const std::int64_t width = plan->x.size();
    for (std::int64_t z = 0; z < plan->z.size(); ++z)
      for (std::int64_t y = 0; y < plan->y.size(); ++y) {
        T* const row = out + (z * plan->y.size() + y) * width * lanes;
        for (const TapRun& run : plan->runs) {
          const std::int64_t end = run.first + run.count * run.apart;
          std::int64_t x = run.first;
          for (; x + 5 * run.apart < end; x += 6 * run.apart)
            detail::writePositions<T, bytes, 6>(*plan, run, x, z, y, in, filter, row + x * lanes, add);
          for (; x + run.apart < end; x += 2 * run.apart)
            detail::writePositions<T, bytes, 2>(*plan, run, x, z, y, in, filter, row + x * lanes, add);
          for (; x < end; x += run.apart)
            detail::writePositions<T, bytes, 1>(*plan, run, x, z, y, in, filter, row + x * lanes, add);
        }
      }
  }
};

/// gradient += of the filter, from one sample; all blocked. A row's products are summed first.
template <class T, int bytes>
struct SumByTaps {
  KERF_KERNEL void run(const FilterPlan* plan, const T* small, const T* big, T* gradient) {
    constexpr std::int64_t lanes = blockLanes<T>;
    for (std::int64_t z = 0; z < plan->z.size(); ++z)
      for (std::int64_t y = 0; y < plan->y.size(); ++y) {
        const T* const smallRow = small + (z * plan->y.size() + y) * plan->smallWidth * lanes;
        for (std::size_t tz = plan->z.begin[std::size_t(z)]; tz < plan->z.begin[std::size_t(z) + 1]; ++tz)
          for (std::size_t ty = plan->y.begin[std::size_t(y)]; ty < plan->y.begin[std::size_t(y) + 1]; ++ty) {
            const ChannelTap vertical = plan->y.taps[ty], deep = plan->z.taps[tz];
            const T* const bigRow = big + (deep.from * plan->bigHeight + vertical.from) * plan->bigWidth * lanes;
            T* const taps = gradient + (deep.tap * plan->kernelHeight + vertical.tap) * plan->kernelWidth * lanes;
            std::int64_t tap = 0;
            for (; tap + 4 <= plan->kernelWidth; tap += 4)
              detail::addTapGroup<T, bytes, 4>(*plan, tap, smallRow, bigRow, taps);
            if (tap + 3 == plan->kernelWidth)
              detail::addTapGroup<T, bytes, 3>(*plan, tap, smallRow, bigRow, taps);
            else
              for (; tap < plan->kernelWidth; ++tap)
                detail::addTaps<T, bytes, 1>(*plan, tap, plan->spans[std::size_t(tap)], smallRow, bigRow, taps);
          }
      }
  }
};

}  // namespace kerf::inline mathlib
