// Packing of what a blob is made of, with zlib.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kerf::inline storage::inline stores {

/// The bytes made smaller; empty where zlib fails.
std::vector<std::byte> compressed(std::span<const std::byte> bytes);
/// Whether the beginning of the bytes shrinks by a tenth at least.
bool shrinks(std::span<const std::byte> bytes);
/// The bytes of one stored part, in `buffer` where it is packed; `room` is what that may unpack to. Fewer bytes than
/// there were mean damage.
std::span<const std::byte> unpacked(std::span<const std::byte> piece, bool packed, std::size_t room,
                                    std::vector<std::byte>& buffer);

}  // namespace kerf::inline storage::inline stores
