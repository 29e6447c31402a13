#include "engine/tensor/torch_zip.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/support/atomic_file.h"
#include "engine/support/hash.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/zip_directory.h"
#include "engine/tensor/zip_inflate.h"
#include "engine/tensor/zip_writer.h"

namespace kerf::inline tensor {
namespace {

constexpr std::size_t maxMembers = 4096;  // one storage needs about seven
constexpr std::int64_t maxByteOrder = 6;  // "little"
constexpr std::string_view byteOrderName = "/byteorder";

/// Whether a member is `<root>/data/<key>`: three parts, none of them empty.
bool isStorageMember(std::string_view name) {
  const std::size_t first = name.find('/');
  if (first == 0 || first == std::string_view::npos) return false;
  constexpr std::string_view middle = "/data/";
  if (!name.substr(first).starts_with(middle)) return false;
  const std::string_view key = name.substr(first + middle.size());
  return !key.empty() && key.find('/') == std::string_view::npos;
}

Result<const ZipMember*> findStorage(const ZipDirectory& archive) {
  const ZipMember* storage = nullptr;
  for (const ZipMember& member : archive.members()) {
    if (!isStorageMember(member.name)) continue;
    if (storage != nullptr) return fail(ErrorCode::BadInput, "the file holds more than one storage");
    storage = &member;
  }
  if (storage != nullptr) return storage;
  return fail(ErrorCode::BadInput, "the file has no <root>/data/<key> member: not one storage of torch.save");
}

Result<void> checkByteOrder(const ZipDirectory& archive) {
  for (const ZipMember& member : archive.members()) {
    if (!member.name.ends_with(byteOrderName) || member.name.find('/') + byteOrderName.size() != member.name.size())
      continue;
    KERF_TRY(const std::string order, archive.read(member, maxByteOrder));
    if (order != "little")
      return fail(ErrorCode::BadInput, "the storage was saved on a machine that is not little-endian");
  }
  return {};  // files older than torch 2.1 have none: little
}

/// Copies, and sums up what was copied: one way through memory.
Result<void> copyChecked(std::span<const std::byte> bytes, const ZipMember& member, std::byte* target) {
  constexpr std::size_t cached = 256u << 10;
  std::uint32_t crc32 = 0;
  for (std::size_t at = 0; at < bytes.size(); at += cached) {
    const auto some = bytes.subspan(at, std::min(cached, bytes.size() - at));
    std::memcpy(target + at, some.data(), some.size());
    crc32 = zipCrc32({target + at, some.size()}, crc32);
  }
  if (crc32 == member.crc32) return {};
  return fail(ErrorCode::BadInput, "the storage's bytes are damaged: their checksum is not the archive's");
}

/// The member's bytes in memory of their own.
Result<StoragePtr> unpack(const ZipDirectory& archive, const ZipMember& member, ZipSum sum) {
  std::string unpacked;
  std::span<const std::byte> bytes = archive.view(member);
  if (!member.stored) {
    KERF_TRY(unpacked, archive.read(member, member.bytes));
    bytes = std::as_bytes(std::span(unpacked));
  }
  KERF_TRY(StoragePtr storage, Storage::allocate(member.bytes));
  if (sum == ZipSum::Checked)
    KERF_CHECK(copyChecked(bytes, member, storage->data()));
  else if (!bytes.empty())
    std::memcpy(storage->data(), bytes.data(), bytes.size());
  return storage;
}

Result<ZipMember> storageMember(const ZipDirectory& archive, std::int64_t expectedBytes) {
  KERF_TRY(const ZipMember* const storage, findStorage(archive));
  KERF_CHECK(checkByteOrder(archive));
  if (expectedBytes < 0 || storage->bytes == expectedBytes) return *storage;
  return fail(ErrorCode::BadInput, "the storage file holds {} bytes, the capture says {}", storage->bytes,
              expectedBytes);
}

Result<StoragePtr> readArchive(std::span<const std::byte> file, std::int64_t expectedBytes, ZipSum sum) {
  KERF_TRY(const ZipDirectory archive, ZipDirectory::read(file, maxMembers));
  KERF_TRY(const ZipMember storage, storageMember(archive, expectedBytes));
  return unpack(archive, storage, sum);
}

// Writing

void appendLittle(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += char((value >> (8 * i)) & 0xff);
}

/// An int as pickle protocol 2 writes it: BININT1, BININT2, BININT or LONG1.
std::string pickledInt(std::uint64_t value) {
  std::string text;
  if (value < 0x100)
    text = "K", appendLittle(text, value, 1);
  else if (value < 0x10000)
    text = "M", appendLittle(text, value, 2);
  else if (value < 0x80000000u)
    text = "J", appendLittle(text, value, 4);
  else {
    int bytes = 1;
    while (bytes < 8 && (value >> (8 * bytes - 1)) != 0) ++bytes;
    text = "\x8a";
    appendLittle(text, std::uint64_t(bytes), 1);
    appendLittle(text, value, bytes);
  }
  return text;
}

constexpr std::size_t shownBytes = 1024;  // the pickle is the archive's first member

std::string pickledText(std::string_view text) {
  std::string pickled = "X";
  appendLittle(pickled, text.size(), 4);
  return pickled.append(text);
}

/// The persistent id ('storage', torch.storage.UntypedStorage, '0', location, bytes) as torch.save pickles it.
std::string storagePickle(std::uint64_t bytes, std::string_view location) {
  using namespace std::string_literals;
  return "\x80\x02(X\x07\0\0\0storageq\0"s + "ctorch.storage\nUntypedStorage\nq\x01"s + "X\x01\0\0\0"s + "0q\x02"s +
         pickledText(location) + "q\x03"s + pickledInt(bytes) + "tq\x04Q."s;
}

/// 40 decimal digits, as PyTorch's identifier has; here a pure function of the bytes.
std::string serializationId(const Storage& storage) {
  const Hash128 hash = hashBytes(storage.view());
  return fmt::format("{:020}{:020}", hash.high, hash.low);
}

Result<void> writeArchive(AtomicFile& file, const Storage& storage, std::string_view location) {
  ZipWriter writer([&file](std::span<const std::byte> bytes) { return file.write(bytes); });
  KERF_CHECK(writer.add("archive/data.pkl", storagePickle(std::uint64_t(storage.bytes()), location)));
  KERF_CHECK(writer.add("archive/.format_version", "1"));
  KERF_CHECK(writer.add("archive/.storage_alignment", "64"));
  KERF_CHECK(writer.add("archive/byteorder", "little"));
  KERF_CHECK(writer.add("archive/data/0", storage.view()));
  KERF_CHECK(writer.add("archive/version", "3\n"));
  KERF_CHECK(writer.add("archive/.data/serialization_id", serializationId(storage)));
  return writer.finish();
}

}  // namespace

Result<StoragePtr> readTorchStorage(const std::filesystem::path& path, std::int64_t expectedBytes, ZipSum sum) {
  KERF_TRY(const StoragePtr file, mapFile(path));
  auto storage = readArchive(file->view(), expectedBytes, sum);
  KERF_CHECK(checkWhole(*file, path));
  if (!storage) return fail(std::move(storage.error().atFile(path.string())));
  return storage;
}

Result<StoragePtr> readTorchStorage(std::span<const std::byte> file, std::int64_t expectedBytes) {
  return readArchive(file, expectedBytes, ZipSum::Checked);
}

Result<StoragePlace> locateTorchStorage(const std::filesystem::path& path, std::int64_t expectedBytes) {
  KERF_TRY(const StoragePtr file, mapFile(path));
  const auto archive = ZipDirectory::read(file->view(), maxMembers);
  auto member = archive ? storageMember(*archive, expectedBytes) : Result<ZipMember>(fail(archive.error()));
  KERF_CHECK(checkWhole(*file, path));
  if (!member) return fail(std::move(member.error().atFile(path.string())));
  return StoragePlace{member->offset, member->bytes, member->crc32, member->stored};
}

Result<void> writeTorchStorage(const std::filesystem::path& path, const Storage& storage, std::string_view location) {
  KERF_TRY(AtomicFile file, AtomicFile::create(path));
  KERF_CHECK(writeArchive(file, storage, location));
  return file.commit();
}

bool loadsOnto(std::span<const std::byte> file, std::string_view location) {
  const auto head = file.first(std::min(file.size(), shownBytes));
  return std::string_view(reinterpret_cast<const char*>(head.data()), head.size()).contains(pickledText(location));
}

}  // namespace kerf::inline tensor
