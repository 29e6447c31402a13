// im2col and col2im over three spatial dimensions: the filter's view of an image as a matrix. Private to mathlib.
#pragma once

#include <algorithm>

#include "engine/mathlib/convolution_geometry.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline mathlib {

namespace detail {

/// First and one-past-last position along x for which the filter tap stays inside the image.
struct Span {
  std::int64_t begin, end;
};
inline Span insideSpan(const ConvolutionGeometry& g, std::int64_t tap) {
  const std::int64_t shift = tap * g.dilation[2] - g.padding[2];
  const std::int64_t stride = g.stride[2];
  const std::int64_t begin = shift >= 0 ? 0 : std::min((-shift + stride - 1) / stride, g.small[2]);
  const std::int64_t last = g.big[2] - shift;
  const std::int64_t end = last <= 0 ? 0 : std::min((last + stride - 1) / stride, g.small[2]);
  return {begin, std::max(begin, end)};
}

/// Calls row(smallRow, bigRowOrMinusOne) for every (z, y) of the small image at filter tap (kz, ky).
template <class Row>
void forImageRows(const ConvolutionGeometry& g, std::int64_t kz, std::int64_t ky, Row&& row) {
  for (std::int64_t z = 0; z < g.small[0]; ++z) {
    const std::int64_t bigZ = z * g.stride[0] - g.padding[0] + kz * g.dilation[0];
    for (std::int64_t y = 0; y < g.small[1]; ++y) {
      const std::int64_t bigY = y * g.stride[1] - g.padding[1] + ky * g.dilation[1];
      const bool inside = bigZ >= 0 && bigZ < g.big[0] && bigY >= 0 && bigY < g.big[1];
      row(z * g.small[1] + y, inside ? bigZ * g.big[1] + bigY : -1);
    }
  }
}

struct Tap {
  std::int64_t channel, z, y, x;
};
inline Tap tapOf(const ConvolutionGeometry& g, std::int64_t row) {
  const std::int64_t x = row % g.kernel[2];
  const std::int64_t y = row / g.kernel[2] % g.kernel[1];
  const std::int64_t z = row / (g.kernel[2] * g.kernel[1]) % g.kernel[0];
  return {row / g.kernelArea(), z, y, x};
}

}  // namespace detail

/// columns [bigPerGroup * kernel, smallArea] from the contiguous channels of one group of one sample.
template <class T>
void imageToColumns(const ConvolutionGeometry& g, const T* image, T* columns) {
  parallelFor(g.columnRows(), std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, g.smallArea())),
              [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t r = first; r < last; ++r) {
                  const detail::Tap tap = detail::tapOf(g, r);
                  const detail::Span span = detail::insideSpan(g, tap.x);
                  const T* channel = image + tap.channel * g.bigArea();
                  T* column = columns + r * g.smallArea();
                  const std::int64_t shift = tap.x * g.dilation[2] - g.padding[2];
                  detail::forImageRows(g, tap.z, tap.y, [&](std::int64_t smallRow, std::int64_t bigRow) {
                    T* target = column + smallRow * g.small[2];
                    if (bigRow < 0) {
                      std::fill(target, target + g.small[2], T(0));
                      return;
                    }
                    const T* source = channel + bigRow * g.big[2] + shift;
                    std::fill(target, target + span.begin, T(0));
                    for (std::int64_t x = span.begin; x < span.end; ++x) target[x] = source[x * g.stride[2]];
                    std::fill(target + span.end, target + g.small[2], T(0));
                  });
                }
              });
}

/// Adds the columns back to where imageToColumns took them from. Channels are independent, so they run in parallel.
template <class T>
void columnsToImage(const ConvolutionGeometry& g, const T* columns, T* image) {
  parallelFor(g.bigPerGroup(),
              std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, g.smallArea() * g.kernelArea())),
              [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t r = first * g.kernelArea(); r < last * g.kernelArea(); ++r) {
                  const detail::Tap tap = detail::tapOf(g, r);
                  const detail::Span span = detail::insideSpan(g, tap.x);
                  T* channel = image + tap.channel * g.bigArea();
                  const T* column = columns + r * g.smallArea();
                  const std::int64_t shift = tap.x * g.dilation[2] - g.padding[2];
                  detail::forImageRows(g, tap.z, tap.y, [&](std::int64_t smallRow, std::int64_t bigRow) {
                    if (bigRow < 0) return;
                    T* target = channel + bigRow * g.big[2] + shift;
                    const T* source = column + smallRow * g.small[2];
                    for (std::int64_t x = span.begin; x < span.end; ++x) target[x * g.stride[2]] += source[x];
                  });
                }
              });
}

}  // namespace kerf::inline mathlib
