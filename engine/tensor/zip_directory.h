// ZipDirectory: the members of a zip archive in memory, checked before anything is believed; nothing is unpacked
// unasked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline tensor {

struct ZipMember {
  std::string_view name;          ///< as in the archive; lives as long as the archive's bytes
  std::int64_t offset = 0;        ///< of the (packed) data in the archive, bytes
  std::int64_t packedBytes = 0;   ///< what the data takes in the archive
  std::int64_t bytes = 0;         ///< unpacked
  std::uint32_t crc32 = 0;        ///< of the unpacked bytes, as the archive says; PyTorch can leave it wrong on purpose
  bool stored = true;             ///< not compressed: the data are the bytes at `offset`
  std::int64_t headerOffset = 0;  ///< of the local header
};

class ZipDirectory {
 public:
  /// Reads the central directory (zip64 too) and every local header. BadInput for what no honest archive has: members
  /// that overlap or lie outside the file, two sizes that differ, a name twice, absolute names, "..", NUL or backslash
  /// in names, encryption, other methods than stored and deflate, more than deflate can expand to. TooLarge above
  /// `maxMembers`. The bytes must outlive the directory.
  static Result<ZipDirectory> read(std::span<const std::byte> archive, std::size_t maxMembers);

  /// Files, in the directory's order; folders are left out.
  const std::vector<ZipMember>& members() const { return m_members; }
  const ZipMember* find(std::string_view name) const;
  /// Unpacked bytes; TooLarge above `limit`, BadInput if they are not as many as the directory says.
  Result<std::string> read(const ZipMember& member, std::int64_t limit) const;
  /// The bytes of a stored member, where they lie.
  std::span<const std::byte> view(const ZipMember& member) const;

 private:
  std::span<const std::byte> m_archive;
  std::vector<ZipMember> m_members;
  std::unordered_map<std::string_view, std::size_t> m_byName;
};

/// Names of the local headers at the start of an archive, as far as `head` reaches: for recognising a format.
std::vector<std::string_view> leadingZipNames(std::string_view head);

}  // namespace kerf::inline tensor
