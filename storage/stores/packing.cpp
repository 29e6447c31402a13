#include "storage/stores/packing.h"

#include <algorithm>

#include <zlib.h>

namespace kerf::inline storage::inline stores {

namespace {

constexpr std::size_t sampleBytes = 64u << 10;
constexpr int fastest = 1;  // zlib's level: imports wait for it

}  // namespace

std::vector<std::byte> compressed(std::span<const std::byte> bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::vector<std::byte> packed(size);
  const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), fastest);
  packed.resize(status == Z_OK ? size : 0);
  return packed;
}

bool shrinks(std::span<const std::byte> bytes) {
  const auto sample = bytes.first(std::min(sampleBytes, bytes.size()));
  const auto packed = compressed(sample);
  return !packed.empty() && packed.size() < sample.size() / 10 * 9;
}

std::span<const std::byte> unpacked(std::span<const std::byte> piece, bool packed, std::size_t room,
                                    std::vector<std::byte>& buffer) {
  if (!packed) return piece;
  if (buffer.size() < room) buffer.resize(room);
  uLongf size = static_cast<uLongf>(room);
  const int status = uncompress(reinterpret_cast<Bytef*>(buffer.data()), &size,
                                reinterpret_cast<const Bytef*>(piece.data()), static_cast<uLong>(piece.size()));
  return {buffer.data(), status == Z_OK ? size : 0};
}

}  // namespace kerf::inline storage::inline stores
