// inflateBytes: raw deflate data to bytes whose number is known beforehand.
#pragma once

#include <span>
#include <string>

#include "engine/support/result.h"

namespace kerf::inline tensor {

/// Unpacks a raw deflate stream (no zlib header). BadInput unless it is whole and gives exactly `bytes` bytes; never
/// writes more than that.
Result<std::string> inflateBytes(std::span<const std::byte> packed, std::size_t bytes);

/// CRC-32 of zip members, continued from `seed` (0 to begin).
std::uint32_t zipCrc32(std::span<const std::byte> bytes, std::uint32_t seed = 0);

}  // namespace kerf::inline tensor
