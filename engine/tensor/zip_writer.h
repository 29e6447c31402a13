// ZipWriter: stored members whose bytes begin at multiples of 64, as PyTorch's own writer lays them out, or deflated
// ones; zip64 where needed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline tensor {

class ZipWriter {
 public:
  using Sink = std::function<Result<void>(std::span<const std::byte>)>;
  /// Every byte of the archive goes to `sink`, in order.
  explicit ZipWriter(Sink sink) : m_sink(std::move(sink)) {}

  /// Adds a member; its checksum is computed.
  Result<void> add(std::string_view name, std::span<const std::byte> bytes);
  Result<void> add(std::string_view name, std::string_view text);
  /// Adds a member whose checksum is known already.
  Result<void> add(std::string_view name, std::span<const std::byte> bytes, std::uint32_t crc32);
  /// Adds a deflated member.
  Result<void> addPacked(std::string_view name, std::span<const std::byte> bytes);
  /// Writes the directory. Nothing may follow.
  Result<void> finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t offset = 0, bytes = 0;
    std::uint32_t crc32 = 0;
    std::uint64_t packed = 0;  ///< what the data takes; `bytes` of a stored member
    std::uint64_t method = 0;  ///< 0 stored, 8 deflated
  };
  Result<void> add(Entry entry, std::span<const std::byte> data);
  Result<void> write(std::string_view text);
  Sink m_sink;
  std::uint64_t m_offset = 0;
  std::vector<Entry> m_entries;
};

}  // namespace kerf::inline tensor
