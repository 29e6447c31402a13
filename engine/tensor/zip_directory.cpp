// The zip file format by PKWARE's APPNOTE: end record, zip64 end record, central directory, local headers.
#include "engine/tensor/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/tensor/zip_inflate.h"

namespace kerf::inline tensor {
namespace {

constexpr std::uint32_t localMark = 0x04034b50, centralMark = 0x02014b50, endMark = 0x06054b50;
constexpr std::uint32_t end64Mark = 0x06064b50, locator64Mark = 0x07064b50;
constexpr std::size_t localBytes = 30, centralBytes = 46, endBytes = 22, end64Bytes = 56, locator64Bytes = 20;
constexpr std::size_t longestComment = 0xffff;
constexpr std::uint32_t wide = 0xffffffff;  // the true value is in the zip64 field
constexpr std::uint16_t wideCount = 0xffff;
constexpr std::uint16_t zip64Field = 1;
constexpr std::uint16_t encryptedFlag = 1, descriptorFlag = 8;
constexpr std::uint16_t storedMethod = 0, deflateMethod = 8;
constexpr std::int64_t maxDeflateRatio = 1032;  // what deflate can expand to at most
constexpr std::int64_t deflateSlack = 64;

using Bytes = std::span<const std::byte>;

template <class T>
T little(Bytes bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  return static_cast<T>(value);
}

std::string_view textOf(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Whether [offset, offset + bytes) lies in [0, total).
bool within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t total) {
  return offset <= total && bytes <= total - offset;
}

struct Directory {
  std::uint64_t offset = 0, bytes = 0, entries = 0;
};

std::optional<std::size_t> findEnd(Bytes archive) {
  if (archive.size() < endBytes) return std::nullopt;
  const std::size_t last = archive.size() - endBytes;
  const std::size_t first = last > longestComment ? last - longestComment : 0;
  for (std::size_t at = last + 1; at-- > first;)
    if (little<std::uint32_t>(archive, at) == endMark &&
        at + endBytes + little<std::uint16_t>(archive, at + 20) <= archive.size())
      return at;
  return std::nullopt;
}

Result<Directory> readEnd64(Bytes archive, std::size_t end) {
  if (end < locator64Bytes || little<std::uint32_t>(archive, end - locator64Bytes) != locator64Mark)
    return fail(ErrorCode::BadInput, "the zip archive's zip64 record is missing");
  const auto at = little<std::uint64_t>(archive, end - locator64Bytes + 8);
  if (!within(at, end64Bytes, end) || little<std::uint32_t>(archive, at) != end64Mark)
    return fail(ErrorCode::BadInput, "the zip archive's zip64 record is not where it should be");
  if (little<std::uint32_t>(archive, at + 16) != 0 || little<std::uint32_t>(archive, at + 20) != 0)
    return fail(ErrorCode::BadInput, "zip archives of several parts are not supported");
  return Directory{little<std::uint64_t>(archive, at + 48), little<std::uint64_t>(archive, at + 40),
                   little<std::uint64_t>(archive, at + 32)};
}

Result<Directory> findDirectory(Bytes archive) {
  const auto end = findEnd(archive);
  if (!end) return fail(ErrorCode::BadInput, "the zip archive has no end record: the file is cut off or no zip");
  Directory directory{little<std::uint32_t>(archive, *end + 16), little<std::uint32_t>(archive, *end + 12),
                      little<std::uint16_t>(archive, *end + 10)};
  const bool needs64 = directory.offset == wide || directory.bytes == wide || directory.entries == wideCount;
  const bool has64 = *end >= locator64Bytes && little<std::uint32_t>(archive, *end - locator64Bytes) == locator64Mark;
  if (needs64 || has64) {
    KERF_TRY(directory, readEnd64(archive, *end));
  } else if (little<std::uint16_t>(archive, *end + 4) != 0 || little<std::uint16_t>(archive, *end + 6) != 0) {
    return fail(ErrorCode::BadInput, "zip archives of several parts are not supported");
  }
  if (!within(directory.offset, directory.bytes, *end))
    return fail(ErrorCode::BadInput, "the zip archive's directory lies outside the file");
  if (directory.entries > directory.bytes / centralBytes)
    return fail(ErrorCode::BadInput, "the zip archive claims {} members, its directory has room for {}",
                directory.entries, directory.bytes / centralBytes);
  return directory;
}

/// The 64-bit values that stand for 0xffffffff in a header, in the order that the format gives them.
class WideValues {
 public:
  explicit WideValues(Bytes extra) {
    while (extra.size() >= 4) {
      const std::size_t size = little<std::uint16_t>(extra, 2);
      if (size > extra.size() - 4) return;
      if (little<std::uint16_t>(extra, 0) == zip64Field) m_values = extra.subspan(4, size);
      extra = extra.subspan(4 + size);
    }
  }
  /// `narrow`, or the next 64-bit value if `narrow` says so; false if there is none.
  bool take(std::uint32_t narrow, std::uint64_t& value) {
    value = narrow;
    if (narrow != wide) return true;
    if (m_values.size() < 8) return false;
    value = little<std::uint64_t>(m_values, 0);
    m_values = m_values.subspan(8);
    return true;
  }

 private:
  Bytes m_values;
};

Result<void> checkName(std::string_view name) {
  if (name.empty()) return fail(ErrorCode::BadInput, "a member of the zip archive has no name");
  if (name.find('\0') != std::string_view::npos || name.find('\\') != std::string_view::npos)
    return fail(ErrorCode::BadInput, "a member of the zip archive has a NUL or a backslash in its name");
  if (name.front() == '/') return fail(ErrorCode::BadInput, "the zip archive has the absolute name '{}'", name);
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t slash = std::min(name.find('/', at), name.size());
    if (name.substr(at, slash - at) == "..")
      return fail(ErrorCode::BadInput, "the zip archive has a name that leaves its folder: '{}'", name);
    at = slash + 1;
  }
  return {};
}

struct Header {
  ZipMember member;
  std::uint16_t flags = 0, method = 0;
  std::size_t length = 0;  ///< of the header in the directory
};

Result<void> checkSizes(const Header& header) {
  const ZipMember& member = header.member;
  if ((header.flags & encryptedFlag) != 0) return fail(ErrorCode::BadInput, "'{}' is encrypted", member.name);
  if (header.method != storedMethod && header.method != deflateMethod)
    return fail(ErrorCode::BadInput, "'{}' uses compression method {}, only stored and deflate are known", member.name,
                header.method);
  const bool honest = member.stored ? member.bytes == member.packedBytes
                                    : (member.bytes - deflateSlack) / maxDeflateRatio <= member.packedBytes;
  if (!honest)
    return fail(ErrorCode::BadInput, "'{}' claims {} bytes packed into {}", member.name, member.bytes,
                member.packedBytes);
  return {};
}

Result<Header> readCentral(Bytes archive, Bytes directory) {
  if (directory.size() < centralBytes || little<std::uint32_t>(directory, 0) != centralMark)
    return fail(ErrorCode::BadInput, "the zip archive's directory is damaged");
  const std::size_t name = little<std::uint16_t>(directory, 28), extra = little<std::uint16_t>(directory, 30);
  Header header;
  header.length = centralBytes + name + extra + little<std::uint16_t>(directory, 32);
  if (header.length > directory.size()) return fail(ErrorCode::BadInput, "the zip archive's directory is cut off");
  header.flags = little<std::uint16_t>(directory, 8);
  header.method = little<std::uint16_t>(directory, 10);
  WideValues values(directory.subspan(centralBytes + name, extra));
  std::uint64_t bytes = 0, packed = 0, offset = 0;
  if (!values.take(little<std::uint32_t>(directory, 24), bytes) ||
      !values.take(little<std::uint32_t>(directory, 20), packed) ||
      !values.take(little<std::uint32_t>(directory, 42), offset))
    return fail(ErrorCode::BadInput, "a member of the zip archive lacks its 64-bit sizes");
  constexpr auto most = std::uint64_t(std::numeric_limits<std::int64_t>::max());
  ZipMember& member = header.member;
  member.name = textOf(directory.subspan(centralBytes, name));
  if (bytes > most || !within(offset, localBytes, archive.size()) || packed > archive.size())
    return fail(ErrorCode::BadInput, "a member of the zip archive lies outside the file");
  member.bytes = std::int64_t(bytes);
  member.packedBytes = std::int64_t(packed);
  member.headerOffset = std::int64_t(offset);
  member.crc32 = little<std::uint32_t>(directory, 16);
  member.stored = header.method == storedMethod;
  KERF_CHECK(checkName(member.name));
  KERF_CHECK(checkSizes(header));
  return header;
}

/// Finds the data behind the local header and holds that header against the directory's.
Result<void> readLocal(Bytes archive, std::uint64_t directoryOffset, Header& header) {
  ZipMember& member = header.member;
  const auto at = std::size_t(member.headerOffset);
  const auto differs = [&] {
    return fail(ErrorCode::BadInput, "the zip archive's directory and its member '{}' disagree", member.name);
  };
  if (little<std::uint32_t>(archive, at) != localMark) return differs();
  const std::size_t name = little<std::uint16_t>(archive, at + 26), extra = little<std::uint16_t>(archive, at + 28);
  const std::uint64_t data = at + localBytes + name + extra;
  if (!within(data, std::uint64_t(member.packedBytes), directoryOffset)) return differs();
  if (textOf(archive.subspan(at + localBytes, name)) != member.name) return differs();
  if (little<std::uint16_t>(archive, at + 8) != header.method) return differs();
  WideValues values(archive.subspan(at + localBytes + name, extra));
  std::uint64_t bytes = 0, packed = 0;
  if (!values.take(little<std::uint32_t>(archive, at + 22), bytes) ||
      !values.take(little<std::uint32_t>(archive, at + 18), packed))
    return differs();
  const bool later = (little<std::uint16_t>(archive, at + 6) & descriptorFlag) != 0;  // sizes follow the data
  const bool same = bytes == std::uint64_t(member.bytes) && packed == std::uint64_t(member.packedBytes);
  if (!same && !(later && bytes == 0 && packed == 0)) return differs();
  member.offset = std::int64_t(data);
  return {};
}

Result<void> checkOverlaps(const std::vector<ZipMember>& members) {
  std::vector<const ZipMember*> order;
  order.reserve(members.size());
  for (const ZipMember& member : members) order.push_back(&member);
  std::sort(order.begin(), order.end(),
            [](const ZipMember* a, const ZipMember* b) { return a->headerOffset < b->headerOffset; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i]->headerOffset < order[i - 1]->offset + order[i - 1]->packedBytes)
      return fail(ErrorCode::BadInput, "the zip archive's members '{}' and '{}' overlap", order[i - 1]->name,
                  order[i]->name);
  return {};
}

}  // namespace

Result<ZipDirectory> ZipDirectory::read(std::span<const std::byte> archive, std::size_t maxMembers) {
  KERF_TRY(const Directory place, findDirectory(archive));
  if (place.entries > maxMembers)
    return fail(ErrorCode::TooLarge, "the zip archive has {} members, the limit is {}", place.entries, maxMembers);
  Bytes rest = archive.subspan(place.offset, place.bytes);
  ZipDirectory result;
  result.m_archive = archive;
  result.m_members.reserve(place.entries);
  for (std::uint64_t i = 0; i < place.entries; ++i) {
    KERF_TRY(Header header, readCentral(archive, rest));
    rest = rest.subspan(header.length);
    KERF_CHECK(readLocal(archive, place.offset, header));
    result.m_members.push_back(header.member);
  }
  KERF_CHECK(checkOverlaps(result.m_members));
  std::erase_if(result.m_members, [](const ZipMember& member) { return member.name.ends_with('/'); });
  for (std::size_t i = 0; i < result.m_members.size(); ++i)
    if (!result.m_byName.emplace(result.m_members[i].name, i).second)
      return fail(ErrorCode::BadInput, "the zip archive has '{}' twice", result.m_members[i].name);
  return result;
}

const ZipMember* ZipDirectory::find(std::string_view name) const {
  const auto found = m_byName.find(name);
  return found == m_byName.end() ? nullptr : &m_members[found->second];
}

std::span<const std::byte> ZipDirectory::view(const ZipMember& member) const {
  return m_archive.subspan(std::size_t(member.offset), std::size_t(member.packedBytes));
}

Result<std::string> ZipDirectory::read(const ZipMember& member, std::int64_t limit) const {
  if (member.bytes > limit)
    return fail(ErrorCode::TooLarge, "'{}' holds {} bytes, the limit is {}", member.name, member.bytes, limit);
  if (member.stored) return std::string(textOf(view(member)));
  auto text = inflateBytes(view(member), std::size_t(member.bytes));
  if (!text) return fail(std::move(text.error().while_(fmt::format("unpacking '{}'", member.name))));
  return text;
}

std::vector<std::string_view> leadingZipNames(std::string_view head) {
  const Bytes bytes = std::as_bytes(std::span(head.data(), head.size()));
  std::vector<std::string_view> names;
  std::uint64_t at = 0;
  while (within(at, localBytes, bytes.size()) && little<std::uint32_t>(bytes, at) == localMark) {
    const std::size_t name = little<std::uint16_t>(bytes, at + 26), extra = little<std::uint16_t>(bytes, at + 28);
    if (!within(at + localBytes, name, bytes.size())) break;
    names.push_back(head.substr(at + localBytes, name));
    const auto packed = little<std::uint32_t>(bytes, at + 18);
    if (packed == wide || (little<std::uint16_t>(bytes, at + 6) & descriptorFlag) != 0) {
      const std::size_t next = head.find("PK\x03\x04", at + localBytes + name);
      if (next == std::string_view::npos) break;
      at = next;
    } else {
      at += localBytes + name + extra + packed;
    }
  }
  return names;
}

}  // namespace kerf::inline tensor
