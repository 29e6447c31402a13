#include "engine/tensor/torch_zip.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include "engine/support/hash.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline tensor {
namespace {

constexpr std::uint64_t maxDeflateRatio = 1032;  // what deflate can expand to at most
constexpr std::uint64_t maxMembers = 4096;       // one storage needs about seven
constexpr std::uint64_t dataAlignment = 64;      // as torch.save aligns records
constexpr std::uint64_t localHeaderBytes = 30;
constexpr std::uint16_t paddingField = 0x4246;  // "FB", the extra field PyTorch pads with
constexpr std::string_view byteOrderName = "/byteorder";

struct ArchiveCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct MemberCloser {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, ArchiveCloser>;
using Member = std::unique_ptr<zip_file_t, MemberCloser>;

std::string describe(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Result<Archive> openArchive(const Storage& file) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(file.data(), static_cast<zip_uint64_t>(file.bytes()), 0, &error);
  if (source == nullptr) return fail(ErrorCode::Environment, "cannot read the zip archive: {}", describe(error));
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    return fail(ErrorCode::BadInput, "not a storage file of torch.save: {}", describe(error));
  }
  zip_error_fini(&error);
  return Archive(archive);
}

/// Whether a member is `<root>/data/<key>`: three parts, none of them empty.
bool isStorageMember(std::string_view name) {
  const std::size_t first = name.find('/');
  if (first == 0 || first == std::string_view::npos) return false;
  constexpr std::string_view middle = "/data/";
  if (!name.substr(first).starts_with(middle)) return false;
  const std::string_view key = name.substr(first + middle.size());
  return !key.empty() && key.find('/') == std::string_view::npos;
}

struct Members {
  std::optional<zip_uint64_t> data;
  std::optional<zip_uint64_t> byteOrder;
};

Result<Members> findMembers(zip_t* archive) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count < 0 || std::uint64_t(count) > maxMembers)
    return fail(ErrorCode::BadInput, "a storage file has about seven members, this one has {}", count);
  Members members;
  for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(count); ++index) {
    const char* text = zip_get_name(archive, index, ZIP_FL_ENC_RAW);
    const std::string_view name = text == nullptr ? "" : text;
    if (name.ends_with(byteOrderName) && name.find('/') + byteOrderName.size() == name.size())
      members.byteOrder = index;
    if (!isStorageMember(name)) continue;
    if (members.data) return fail(ErrorCode::BadInput, "the file holds more than one storage");
    members.data = index;
  }
  if (!members.data)
    return fail(ErrorCode::BadInput, "the file has no <root>/data/<key> member: not one storage of torch.save");
  return members;
}

/// Reads exactly `size` bytes and lets libzip verify the checksum at the end.
Result<void> readMember(zip_t* archive, zip_uint64_t index, std::byte* target, std::uint64_t size) {
  const Member member(zip_fopen_index(archive, index, 0));
  if (!member) return fail(ErrorCode::BadInput, "cannot open the storage's bytes: {}", zip_strerror(archive));
  std::uint64_t done = 0;
  while (done < size) {
    const zip_int64_t got = zip_fread(member.get(), target + done, size - done);
    if (got <= 0)
      return fail(ErrorCode::BadInput, "the storage's bytes end after {} of {}: {}", done, size,
                  got < 0 ? zip_file_strerror(member.get()) : "file truncated");
    done += std::uint64_t(got);
  }
  std::byte extra{};
  const zip_int64_t more = zip_fread(member.get(), &extra, 1);
  if (more < 0)
    return fail(ErrorCode::BadInput, "the storage's bytes are damaged: {}", zip_file_strerror(member.get()));
  if (more > 0) return fail(ErrorCode::BadInput, "the storage has more bytes than the {} it declares", size);
  return {};
}

/// Size and compression of the data member, refused before anything is inflated when they cannot be true.
Result<std::uint64_t> checkedSize(zip_t* archive, zip_uint64_t index, std::int64_t expectedBytes) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & needed) != needed)
    return fail(ErrorCode::BadInput, "the storage's zip entry has no size");
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
    return fail(ErrorCode::BadInput, "the storage is encrypted");
  if (expectedBytes >= 0 && stat.size != std::uint64_t(expectedBytes))
    return fail(ErrorCode::BadInput, "the storage file holds {} bytes, the capture says {}", stat.size, expectedBytes);
  const bool stored = stat.comp_method == ZIP_CM_STORE;
  if (!stored && stat.comp_method != ZIP_CM_DEFLATE)
    return fail(ErrorCode::BadInput, "zip compression method {} is not stored or deflated", stat.comp_method);
  if (stored ? stat.size != stat.comp_size : stat.size / maxDeflateRatio > stat.comp_size)
    return fail(ErrorCode::BadInput, "the zip entry says {} bytes packed into {}", stat.size, stat.comp_size);
  return stat.size;
}

Result<void> checkByteOrder(zip_t* archive, std::optional<zip_uint64_t> index) {
  if (!index) return {};  // files older than torch 2.1 have none: little
  KERF_TRY(const std::uint64_t size, checkedSize(archive, *index, -1));
  std::array<std::byte, 6> order{};
  if (size > order.size()) return fail(ErrorCode::BadInput, "the member 'byteorder' is {} bytes long", size);
  KERF_CHECK(readMember(archive, *index, order.data(), size));
  if (std::memcmp(order.data(), "little", order.size()) == 0) return {};
  return fail(ErrorCode::BadInput, "the storage was saved on a machine that is not little-endian");
}

Result<StoragePtr> readArchive(const Storage& file, std::int64_t expectedBytes) {
  KERF_TRY(const Archive archive, openArchive(file));
  KERF_TRY(const Members members, findMembers(archive.get()));
  KERF_CHECK(checkByteOrder(archive.get(), members.byteOrder));
  KERF_TRY(const std::uint64_t size, checkedSize(archive.get(), *members.data, expectedBytes));
  KERF_TRY(StoragePtr storage, Storage::allocate(std::int64_t(size)));
  KERF_CHECK(readMember(archive.get(), *members.data, storage->data(), size));
  return storage;
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

/// The persistent id ('storage', torch.storage.UntypedStorage, '0', 'cpu', bytes) as torch.save pickles it.
std::string storagePickle(std::uint64_t bytes) {
  using namespace std::string_literals;
  return "\x80\x02(X\x07\0\0\0storageq\0"s + "ctorch.storage\nUntypedStorage\nq\x01"s + "X\x01\0\0\0"s + "0q\x02"s +
         "X\x03\0\0\0cpuq\x03"s + pickledInt(bytes) + "tq\x04Q."s;
}

/// 40 decimal digits, as PyTorch's identifier has; here a pure function of the bytes.
std::string serializationId(const Storage& storage) {
  const Hash128 hash = hashBytes(storage.view());
  return fmt::format("{:020}{:020}", hash.high, hash.low);
}

/// Adds stored members whose bytes start at multiples of 64 in the file.
class Writer {
 public:
  explicit Writer(zip_t* archive) : m_archive(archive) {}

  Result<void> add(const std::string& name, std::span<const std::byte> bytes) {
    zip_source_t* source = zip_source_buffer(m_archive, bytes.data(), bytes.size(), 0);
    if (source == nullptr) return failure();
    const zip_int64_t index = zip_file_add(m_archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return failure();
    }
    const auto entry = static_cast<zip_uint64_t>(index);
    const std::uint64_t start = m_offset + localHeaderBytes + name.size() + 4;
    const std::uint64_t padding = (dataAlignment - start % dataAlignment) % dataAlignment;
    const std::string fill(padding, 'Z');
    if (zip_set_file_compression(m_archive, entry, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(m_archive, entry, 0, 0x21, 0) != 0 ||
        zip_file_extra_field_set(m_archive, entry, paddingField, 0, reinterpret_cast<const zip_uint8_t*>(fill.data()),
                                 static_cast<zip_uint16_t>(padding), ZIP_FL_LOCAL) != 0)
      return failure();
    m_offset = start + padding + bytes.size();
    return {};
  }

 private:
  std::unexpected<Error> failure() const {
    return fail(ErrorCode::Environment, "cannot write the storage: {}", zip_strerror(m_archive));
  }
  zip_t* m_archive;
  std::uint64_t m_offset = 0;
};

std::span<const std::byte> bytesOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

Result<void> writeArchive(const std::filesystem::path& path, const Storage& storage) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    return fail(ErrorCode::Environment, "cannot write: {}", describe(error));
  }
  const std::string pickle = storagePickle(std::uint64_t(storage.bytes()));
  const std::string id = serializationId(storage);
  Writer writer(archive.get());
  KERF_CHECK(writer.add("archive/data.pkl", bytesOf(pickle)));
  KERF_CHECK(writer.add("archive/.format_version", bytesOf("1")));
  KERF_CHECK(writer.add("archive/.storage_alignment", bytesOf("64")));
  KERF_CHECK(writer.add("archive/byteorder", bytesOf("little")));
  KERF_CHECK(writer.add("archive/data/0", storage.view()));
  KERF_CHECK(writer.add("archive/version", bytesOf("3\n")));
  KERF_CHECK(writer.add("archive/.data/serialization_id", bytesOf(id)));
  if (zip_close(archive.get()) != 0)
    return fail(ErrorCode::Environment, "cannot write the storage: {}", zip_strerror(archive.get()));
  archive.release();  // zip_close freed it  NOLINT(bugprone-unused-return-value)
  return {};
}

bool flushToDisk(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool ok = ::fsync(file) == 0;
  ::close(file);
  return ok;
}

std::unexpected<Error> named(Error error, const std::filesystem::path& path) {
  if (error.file.empty()) error.atFile(path.string());
  return fail(std::move(error));
}

}  // namespace

Result<StoragePtr> readTorchStorage(const std::filesystem::path& path, std::int64_t expectedBytes) {
  KERF_TRY(const StoragePtr file, mapFile(path));
  auto storage = readArchive(*file, expectedBytes);
  KERF_CHECK(checkWhole(*file, path));
  if (!storage) return named(std::move(storage).error(), path);
  return storage;
}

Result<StoragePtr> readTorchStorage(std::span<const std::byte> file, std::int64_t expectedBytes) {
  const StoragePtr view = Storage::borrow(const_cast<std::byte*>(file.data()), std::int64_t(file.size()),
                                          nullptr);  // only read
  return readArchive(*view, expectedBytes);
}

Result<void> writeTorchStorage(const std::filesystem::path& path, const Storage& storage) {
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path temporary = fmt::format("{}.{}.{}.tmp", path.string(), ::getpid(), counter.fetch_add(1));
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);  // left by a killed process that had the same id
  auto written = writeArchive(temporary, storage);
  if (written && !flushToDisk(temporary))
    written = fail(ErrorCode::Environment, "cannot flush: {}", std::strerror(errno));
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = fail(ErrorCode::Environment, "cannot rename: {}", std::strerror(errno));
  if (written) return {};
  std::filesystem::remove(temporary, ignored);
  return named(std::move(written).error(), path);
}

}  // namespace kerf::inline tensor
