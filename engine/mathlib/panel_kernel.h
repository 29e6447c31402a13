// The innermost part of a product of matrices: a tile of the result that stays in registers while the products of a
// block are added to it, one fused multiplication and addition each. Private to mathlib.
#pragma once

#include <cstdint>

#include "engine/mathlib/vector_of.h"

namespace kerf::inline mathlib {

/// Of vectors of `bytes`: a tile has `rows` × `columns` elements, two vectors a row, and fills the registers.
template <class T, int bytes>
struct PanelTile {
  using Vector = typename VectorOf<T, bytes>::Type;
  using Loose = typename VectorOf<T, bytes>::Loose;
  static constexpr int lanes = bytes / int(sizeof(T));
  static constexpr int rows = bytes == 64 ? 12 : 6;
  static constexpr int columns = 2 * lanes;
};

/// Where a tile goes: c = alpha * products + keep * c; with keep == 0 c is not read.
template <class T>
struct PanelResult {
  T* c = nullptr;
  std::int64_t stride = 1;  ///< from row to row
  T alpha = 1, keep = 0;
  T* begun = nullptr;  ///< the tile's sums of the steps before; null: there are none
  std::int64_t begunStride = 0;
  bool streamed = false;  ///< past the caches; c and its rows are aligned to vectors, and keep is 0
};

/// A store past the caches, whose other readers must wait for finishStreams(). Pieces of 16 bytes need no more than
/// what every such processor has.
template <class Vector>
KERF_KERNEL void streamVector(void* at, Vector value) {
#ifdef __x86_64__
  using Piece = float __attribute__((vector_size(16)));
  constexpr int pieces = sizeof(Vector) / sizeof(Piece);
  Piece parts[pieces];
  __builtin_memcpy(parts, &value, sizeof value);
#pragma GCC unroll 4
  for (int i = 0; i < pieces; ++i) asm volatile("movntps %1, %0" : "=m"(static_cast<Piece*>(at)[i]) : "x"(parts[i]));
#else
  __builtin_memcpy(at, &value, sizeof value);
#endif
}
KERF_KERNEL void finishStreams() {
#ifdef __x86_64__
  asm volatile("sfence" ::: "memory");
#endif
}

/// Operands of one tile: element (row, step) of the left is left[row * leftStride + step], or left[step * panel + row]
/// of a packed one; the columns of the right lie side by side, `rightStride` from step to step.
template <class T>
struct PanelOperands {
  const T* left = nullptr;
  std::int64_t leftStride = 0;
  const T* right = nullptr;
  std::int64_t rightStride = 0;
  std::int64_t steps = 0;
};

namespace detail {

template <class T, int bytes, int R, int C>
KERF_KERNEL void writeTile(const typename VectorOf<T, bytes>::Type (&sums)[R][C], PanelResult<T> to) {
  using Tile = PanelTile<T, bytes>;
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < C; ++j) {
      auto* const at = reinterpret_cast<typename Tile::Loose*>(to.c + i * to.stride + j * Tile::lanes);
      typename Tile::Vector value = sums[i][j] * to.alpha;
      if (to.streamed) {
        streamVector(at, value);
        continue;
      }
      if (to.keep != 0) value += *at * to.keep;
      *at = value;
    }
}

/// Only the first `valid` columns exist.
template <class T, int bytes, int R, int C>
KERF_KERNEL void writePartOfTile(const typename VectorOf<T, bytes>::Type (&sums)[R][C], PanelResult<T> to,
                                 std::int64_t valid) {
  using Tile = PanelTile<T, bytes>;
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    T row[C * Tile::lanes];
#pragma GCC unroll 2
    for (int j = 0; j < C; ++j) *reinterpret_cast<typename Tile::Loose*>(row + j * Tile::lanes) = sums[i][j];
    T* const at = to.c + i * to.stride;
    for (std::int64_t j = 0; j < valid; ++j) {
      T value = row[j] * to.alpha;
      if (to.keep != 0) value += at[j] * to.keep;
      at[j] = value;
    }
  }
}

/// Rows of a right matrix that lies where it is are far apart, which no processor foresees.
constexpr std::int64_t stepsAhead = 12;

/// R rows of C vectors. Three rows share a pointer, so that all fit into registers.
template <class T, int bytes, int R, int C, bool packed>
KERF_KERNEL void multiplyTile(PanelOperands<T> in, PanelResult<T> to, std::int64_t valid) {
  using Tile = PanelTile<T, bytes>;
  typename Tile::Vector sums[R][C];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < C; ++j)
      sums[i][j] = to.begun
                       ? *reinterpret_cast<const typename Tile::Loose*>(to.begun + i * to.begunStride + j * Tile::lanes)
                       : typename Tile::Vector{};
  constexpr int groups = (R + 2) / 3;
  const T* rows[groups];
#pragma GCC unroll 4
  for (int g = 0; g < groups; ++g) rows[g] = in.left + 3 * g * in.leftStride;
  const T* left = in.left;
  const T* right = in.right;
  for (std::int64_t p = 0; p < in.steps; ++p) {
    typename Tile::Vector columns[C];
#pragma GCC unroll 2
    for (int j = 0; j < C; ++j) __builtin_prefetch(right + stepsAhead * in.rightStride + j * Tile::lanes);
#pragma GCC unroll 2
    for (int j = 0; j < C; ++j) columns[j] = *reinterpret_cast<const typename Tile::Loose*>(right + j * Tile::lanes);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const T factor = packed ? left[i] : rows[i / 3][(i % 3) * in.leftStride];
      const typename Tile::Vector spread = factor - typename Tile::Vector{};
#pragma GCC unroll 2
      for (int j = 0; j < C; ++j) sums[i][j] += spread * columns[j];
    }
    if constexpr (packed)
      left += Tile::rows;
    else
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) ++rows[g];
    right += in.rightStride;
  }
  if (valid == C * Tile::lanes) return writeTile<T, bytes, R, C>(sums, to);
  writePartOfTile<T, bytes, R, C>(sums, to, valid);
}

/// The last rows of a matrix, in pieces of 8, 4, 2 and 1.
template <class T, int bytes, int C, bool packed, int R = (PanelTile<T, bytes>::rows > 8 ? 8 : 4)>
KERF_KERNEL void multiplyLastRows(std::int64_t rows, PanelOperands<T> in, PanelResult<T> to, std::int64_t valid) {
  if constexpr (R > 0) {
    if (rows & R) {
      multiplyTile<T, bytes, R, C, packed>(in, to, valid);
      in.left += packed ? R : R * in.leftStride;
      to.c += R * to.stride;
      if (to.begun) to.begun += R * to.begunStride;
    }
    multiplyLastRows<T, bytes, C, packed, R / 2>(rows, in, to, valid);
  }
}

}  // namespace detail

/// A tile of `rows` rows and `valid` columns.
template <class T, int bytes, int C, bool packed>
KERF_KERNEL void multiplyPanels(std::int64_t rows, std::int64_t valid, PanelOperands<T> in, PanelResult<T> to) {
  using Tile = PanelTile<T, bytes>;
  if (rows == Tile::rows) return detail::multiplyTile<T, bytes, Tile::rows, C, packed>(in, to, valid);
  detail::multiplyLastRows<T, bytes, C, packed>(rows, in, to, valid);
}

}  // namespace kerf::inline mathlib
