#include "engine/tensor/zip_writer.h"

#include <algorithm>

#include <zlib.h>

#include "engine/tensor/zip_inflate.h"

namespace kerf::inline tensor {
namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t localBytes = 30;
constexpr std::uint64_t wide = 0xffffffff;  // marks a number that stands in the zip64 field
constexpr std::uint64_t wideCount = 0xffff;
constexpr std::uint64_t paddingField = 0x4246;  // "FB", what PyTorch pads with
constexpr std::uint64_t zip64Field = 1;
constexpr std::uint64_t utf8Flag = 1 << 11;
constexpr std::uint64_t plainVersion = 20, zip64Version = 45;
constexpr std::uint64_t firstDosDay = 0x21;  // 1980-01-01: no clock in the bytes

void append(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += char((value >> (8 * i)) & 0xff);
}

std::uint64_t narrow(std::uint64_t value) { return value >= wide ? wide : value; }

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

/// Version, flags, method, time, date, checksum, both sizes, length of the name: what both headers share.
void appendCommon(std::string& text, std::uint64_t method, std::uint32_t crc32, std::uint64_t packed,
                  std::uint64_t bytes, std::size_t name, bool large) {
  append(text, large ? zip64Version : plainVersion, 2);
  append(text, utf8Flag, 2);
  append(text, method, 2);
  append(text, 0, 2);
  append(text, firstDosDay, 2);
  append(text, crc32, 4);
  append(text, narrow(packed), 4);
  append(text, narrow(bytes), 4);
  append(text, name, 2);
}

}  // namespace

Result<void> ZipWriter::write(std::string_view text) {
  m_offset += text.size();
  return m_sink(bytesOf(text));
}

Result<void> ZipWriter::add(std::string_view name, std::span<const std::byte> bytes) {
  return add(name, bytes, zipCrc32(bytes));
}

Result<void> ZipWriter::add(std::string_view name, std::string_view text) { return add(name, bytesOf(text)); }

Result<void> ZipWriter::add(std::string_view name, std::span<const std::byte> bytes, std::uint32_t crc32) {
  return add(Entry{std::string(name), m_offset, bytes.size(), crc32, bytes.size(), 0}, bytes);
}

Result<void> ZipWriter::addPacked(std::string_view name, std::span<const std::byte> bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK ||
      bytes.size() > wide / 2)
    return fail(ErrorCode::TooLarge, "'{}' is too large to be packed", name);
  std::string packed(deflateBound(&stream, uLong(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) return fail(ErrorCode::Internal, "'{}' was not packed whole", name);
  if (packed.size() >= bytes.size()) return add(name, bytes);
  return add(Entry{std::string(name), m_offset, bytes.size(), zipCrc32(bytes), packed.size(), 8}, bytesOf(packed));
}

Result<void> ZipWriter::add(Entry entry, std::span<const std::byte> data) {
  const std::string& name = entry.name;
  if (name.empty() || name.size() > wideCount / 2)
    return fail(ErrorCode::BadInput, "'{}' cannot be a member's name", name);
  const bool large = entry.bytes >= wide;
  std::string extra;
  if (large) {
    append(extra, zip64Field, 2);
    append(extra, 16, 2);
    append(extra, entry.bytes, 8);
    append(extra, entry.packed, 8);
  }
  const std::uint64_t start = m_offset + localBytes + name.size() + extra.size() + 4;
  const std::uint64_t padding = (alignment - start % alignment) % alignment;
  append(extra, paddingField, 2);
  append(extra, padding, 2);
  extra.append(padding, 'Z');
  std::string header = "PK\x03\x04";
  appendCommon(header, entry.method, entry.crc32, entry.packed, entry.bytes, name.size(), large);
  append(header, extra.size(), 2);
  header.append(name);
  header.append(extra);
  m_entries.push_back(std::move(entry));
  KERF_CHECK(write(header));
  m_offset += data.size();
  return m_sink(data);
}

Result<void> ZipWriter::finish() {
  const std::uint64_t start = m_offset;
  for (const Entry& entry : m_entries) {
    std::string values;
    if (entry.bytes >= wide) append(values, entry.bytes, 8), append(values, entry.packed, 8);
    if (entry.offset >= wide) append(values, entry.offset, 8);
    std::string extra;
    if (!values.empty()) append(extra, zip64Field, 2), append(extra, values.size(), 2), extra += values;
    std::string header = "PK\x01\x02";
    append(header, values.empty() ? plainVersion : zip64Version, 2);
    appendCommon(header, entry.method, entry.crc32, entry.packed, entry.bytes, entry.name.size(), !values.empty());
    append(header, extra.size(), 2);
    header.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    append(header, narrow(entry.offset), 4);
    header += entry.name + extra;
    KERF_CHECK(write(header));
  }
  const std::uint64_t size = m_offset - start, count = m_entries.size();
  std::string end;
  if (start >= wide || size >= wide || count >= wideCount) {
    const std::uint64_t end64 = m_offset;
    end = "PK\x06\x06";
    append(end, 44, 8);
    append(end, zip64Version, 2), append(end, zip64Version, 2);
    append(end, 0, 4), append(end, 0, 4);
    append(end, count, 8), append(end, count, 8);
    append(end, size, 8), append(end, start, 8);
    end += "PK\x06\x07";
    append(end, 0, 4), append(end, end64, 8), append(end, 1, 4);
  }
  end += "PK\x05\x06";
  append(end, 0, 4);
  const std::uint64_t shortCount = std::min(count, wideCount);
  append(end, shortCount, 2), append(end, shortCount, 2);
  append(end, narrow(size), 4), append(end, narrow(start), 4);
  append(end, 0, 2);
  return write(end);
}

}  // namespace kerf::inline tensor
