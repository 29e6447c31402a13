// Channels in blocks: the images of a few channels as one image whose elements are vectors of 64 bytes. Private to mathlib.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kerf::inline mathlib {

inline constexpr std::int64_t blockBytes = 64;
/// Channels of one block.
template <class T>
inline constexpr std::int64_t blockLanes = blockBytes / std::int64_t(sizeof(T));

namespace detail {

/// to[x * toStride + c] = from[c * fromStride + x] for c, x below 4.
inline void transposeFour(float* to, std::int64_t toStride, const float* from, std::int64_t fromStride) {
  using Four = float __attribute__((vector_size(16)));
  Four a, b, c, d;
  std::memcpy(&a, from, 16);
  std::memcpy(&b, from + fromStride, 16);
  std::memcpy(&c, from + 2 * fromStride, 16);
  std::memcpy(&d, from + 3 * fromStride, 16);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), abHigh = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cdHigh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four rows[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                        __builtin_shufflevector(abHigh, cdHigh, 0, 1, 4, 5),
                        __builtin_shufflevector(abHigh, cdHigh, 2, 3, 6, 7)};
  for (std::int64_t x = 0; x < 4; ++x) std::memcpy(to + x * toStride, &rows[x], 16);
}

/// to[x * toStride + c] = from[c * fromStride + x] for c < channels, x < count.
template <class T>
void transposeInto(T* to, std::int64_t toStride, const T* from, std::int64_t fromStride, std::int64_t channels,
                   std::int64_t count) {
  std::int64_t c = 0;
  if constexpr (std::is_same_v<T, float>)
    for (; c + 4 <= channels; c += 4) {
      std::int64_t x = 0;
      for (; x + 4 <= count; x += 4)
        transposeFour(to + x * toStride + c, toStride, from + c * fromStride + x, fromStride);
      for (; x < count; ++x)
        for (std::int64_t i = c; i < c + 4; ++i) to[x * toStride + i] = from[i * fromStride + x];
    }
  for (; c < channels; ++c)
    for (std::int64_t x = 0; x < count; ++x) to[x * toStride + c] = from[c * fromStride + x];
}

}  // namespace detail

/// blocked[x][lane] = images[lane * apart + x]; lanes from `channels` on are zero.
template <class T>
void packChannels(T* blocked, const T* images, std::int64_t apart, std::int64_t channels, std::int64_t area) {
  if (channels < blockLanes<T>) std::fill_n(blocked, area * blockLanes<T>, T(0));
  detail::transposeInto(blocked, blockLanes<T>, images, apart, channels, area);
}

/// The way back.
template <class T>
void unpackChannels(T* images, std::int64_t apart, const T* blocked, std::int64_t channels, std::int64_t area) {
  detail::transposeInto(images, apart, blocked, blockLanes<T>, area, channels);
}

}  // namespace kerf::inline mathlib
