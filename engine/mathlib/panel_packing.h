// Copies of a matrix's rows in panels: the elements of `width` rows beside each other, one step of the other dimension
// after the other, as products of matrices read them. Private to mathlib.
//
//   rows  r0 r1 r2 …            panel  r0[0] r1[0] r2[0] … r0[1] r1[1] r2[1] …
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/mathlib/vector_of.h"

namespace kerf::inline mathlib {

/// Rows of a matrix: element (row, step) is at data[row * rowStride + step * stepStride]; one of both strides is 1.
template <class T>
struct PanelSource {
  const T* data = nullptr;
  std::int64_t rowStride = 1, stepStride = 1;
};

namespace detail {

template <class T, int bytes>
struct Square {
  static constexpr int side = bytes / int(sizeof(T));
  using Vector = typename VectorOf<T, bytes>::Type;
  using Loose = typename VectorOf<T, bytes>::Loose;

  /// Exchanges lanes `distance` apart of rows `distance` apart: what is right of the diagonal there with what is left.
  template <int distance, int... i>
  KERF_KERNEL void exchange(Vector& upper, Vector& lower, std::integer_sequence<int, i...>) {
    const Vector u = upper, l = lower;
    upper = __builtin_shufflevector(u, l, ((i & distance) ? side + i - distance : i)...);
    lower = __builtin_shufflevector(u, l, ((i & distance) ? side + i : i + distance)...);
  }

  template <int distance>
  KERF_KERNEL void exchangeAll(Vector* rows) {
    if constexpr (distance < side) {
#pragma GCC unroll 16
      for (int r = 0; r < side; ++r)
        if (!(r & distance)) exchange<distance>(rows[r], rows[r | distance], std::make_integer_sequence<int, side>{});
      exchangeAll<distance * 2>(rows);
    }
  }

  KERF_KERNEL void transpose(Vector* rows) { exchangeAll<1>(rows); }
};

/// `count` rows at lanes [lane, lane + lanes) of the panel, element by element; lanes without a row become zero.
template <class T, int width>
KERF_KERNEL void packSlowly(PanelSource<T> from, std::int64_t lane, std::int64_t lanes, std::int64_t count,
                            std::int64_t begin, std::int64_t steps, T* out) {
  for (std::int64_t p = begin; p < steps; ++p)
    for (std::int64_t i = lane; i < lane + lanes; ++i)
      out[p * width + i] = i < count ? from.data[i * from.rowStride + p * from.stepStride] : T(0);
}

/// More rows are read beside each other than a processor foresees by itself.
constexpr std::int64_t stepsForeseen = 64;

/// Rows [lane, lane + lanes) whose elements lie behind one another: squares of them are transposed in registers.
template <class T, int bytes, int width, int lanes>
KERF_KERNEL void packTransposed(PanelSource<T> from, std::int64_t lane, std::int64_t steps, T* out) {
  using S = Square<T, bytes>;
  const T* const first = from.data + lane * from.rowStride;
  std::int64_t p = 0;
  for (; p + S::side <= steps; p += S::side) {
    typename S::Vector rows[S::side];
    const std::int64_t ahead = p + stepsForeseen;  // where this panel ends, the next one's rows begin
    const T* const foreseen = first + (ahead < steps ? ahead : ahead - steps + width * from.rowStride);
#pragma GCC unroll 16
    for (int i = 0; i < S::side; ++i) {
      if (i < lanes) __builtin_prefetch(foreseen + i * from.rowStride);
      rows[i] = typename S::Vector{};
      if (i < lanes) rows[i] = *reinterpret_cast<const typename S::Loose*>(first + i * from.rowStride + p);
    }
    S::transpose(rows);
#pragma GCC unroll 16
    for (int q = 0; q < S::side; ++q) __builtin_memcpy(out + (p + q) * width + lane, &rows[q], lanes * sizeof(T));
  }
  packSlowly<T, width>(from, lane, lanes, lane + lanes, p, steps, out);
}

/// Lanes [lane, width): a vector's worth at a time.
template <class T, int bytes, int width, int lane = 0>
KERF_KERNEL void packLanes(PanelSource<T> from, std::int64_t count, std::int64_t steps, T* out) {
  if constexpr (lane < width) {
    constexpr int lanes = std::min(Square<T, bytes>::side, width - lane);
    if (count >= lane + lanes)
      packTransposed<T, bytes, width, lanes>(from, lane, steps, out);
    else
      packSlowly<T, width>(from, lane, lanes, count, 0, steps, out);
    packLanes<T, bytes, width, lane + lanes>(from, count, steps, out);
  }
}

}  // namespace detail

/// One panel of `count` <= width rows, `steps` long.
template <class T, int bytes, int width>
KERF_KERNEL void packPanel(PanelSource<T> from, std::int64_t count, std::int64_t steps, T* out) {
  if (from.rowStride != 1) return detail::packLanes<T, bytes, width>(from, count, steps, out);
  detail::packSlowly<T, width>(from, 0, width, count, 0, steps, out);
}

/// `count` panels of rows that lie side by side: all of a step's elements are read one after the other, and those of
/// steps to come are asked for, since a processor foresees neither pieces of a step nor steps far apart.
template <class T, int width, int count>
KERF_KERNEL void packBeside(PanelSource<T> from, std::int64_t steps, T* out) {
  constexpr std::int64_t stepsAhead = 8, line = 64 / std::int64_t(sizeof(T));
  for (std::int64_t p = 0; p < steps; ++p) {
    const T* const step = from.data + p * from.stepStride;
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < count * width; i += line) __builtin_prefetch(step + stepsAhead * from.stepStride + i);
#pragma GCC unroll 8
    for (std::int64_t q = 0; q < count; ++q)
      __builtin_memcpy(out + (q * steps + p) * width, step + q * width, width * sizeof(T));
  }
}

}  // namespace kerf::inline mathlib
