#include "app/bench/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "engine/support/thread_pool.h"

namespace kerf::bench {
namespace {

#ifdef __x86_64__

constexpr std::int64_t line = 64;

/// Whole lines, by the widest stores that the processor has: narrower ones may leave the line in pieces.
using StreamLines = void (*)(std::byte* to, const std::byte* from, std::int64_t bytes);

void streamNarrow(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
}

[[gnu::target("avx")]] void streamHalves(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
}

[[gnu::target("avx512f")]] void streamWide(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += line)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), _mm512_loadu_si512(from + at));
}

StreamLines streamLines() {
  if (__builtin_cpu_supports("avx512f")) return streamWide;
  return __builtin_cpu_supports("avx") ? streamHalves : streamNarrow;
}

/// Lines at the ends that are not whole are written as usual.
void streamOut(std::byte* to, const std::byte* from, std::int64_t bytes) {
  const auto past = std::int64_t(reinterpret_cast<std::uintptr_t>(to) % line);
  const std::int64_t head = std::min(bytes, past == 0 ? 0 : line - past);
  std::memcpy(to, from, std::size_t(head));
  static const StreamLines lines = streamLines();
  const std::int64_t whole = (bytes - head) / line * line, done = head + whole;
  lines(to + head, from + head, whole);
  std::memcpy(to + done, from + done, std::size_t(bytes - done));
  _mm_sfence();
}

#else

void streamOut(std::byte* to, const std::byte* from, std::int64_t bytes) { std::memcpy(to, from, std::size_t(bytes)); }

#endif

}  // namespace

void streamCopy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t smallestPiece = 64 << 10;
  parallelFor(bytes, smallestPiece,
              [&](std::int64_t begin, std::int64_t end) { streamOut(to + begin, from + begin, end - begin); });
}

}  // namespace kerf::bench
