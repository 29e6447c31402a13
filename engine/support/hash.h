// Content hashes: a fast 128-bit hash for Kerf's own keys, SHA-1 for the names that PyTorch's content store uses.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kerf::inline support {

/// 128-bit XXH3 of some bytes. Equal content, equal hash; stable across machines and versions.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  /// 32 lower-case hex digits.
  std::string hex() const;
};

Hash128 hashBytes(std::span<const std::byte> bytes);
Hash128 hashText(std::string_view text);

/// SHA-1 of raw storage bytes, 40 lower-case hex digits: the "stable" name in a repro's content store (formats A.2).
std::string sha1Hex(std::span<const std::byte> bytes);

}  // namespace kerf::inline support

template <>
struct std::hash<kerf::Hash128> {
  std::size_t operator()(const kerf::Hash128& hash) const noexcept { return hash.low; }
};
