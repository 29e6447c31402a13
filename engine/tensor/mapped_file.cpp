#include "engine/tensor/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/tensor/mapping_guard.h"

namespace kerf::inline tensor {
namespace {

std::unexpected<Error> failure(ErrorCode code, const std::filesystem::path& path, std::string message) {
  Error error{code, std::move(message), {}, 0, {}, {}};
  error.atFile(path.string());
  return fail(std::move(error));
}

constexpr std::int64_t elementAlignment = 16;  // of the widest dtype

struct OpenFile {
  OpenFile() = default;
  OpenFile(OpenFile&& other) noexcept : number(std::exchange(other.number, -1)), bytes(other.bytes) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
  int number = -1;
  std::int64_t bytes = 0;
};

Result<OpenFile> openRegular(const std::filesystem::path& path) {
  OpenFile file;
  file.number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.number < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    const bool noFile = errno == ENXIO || errno == ENODEV;  // a socket, or a device that is not there
    if (noFile) return failure(ErrorCode::BadInput, path, "not a regular file");
    return failure(missing ? ErrorCode::NotFound : ErrorCode::Environment, path, std::strerror(errno));
  }
  struct stat status{};
  if (::fstat(file.number, &status) != 0) return failure(ErrorCode::Environment, path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return failure(ErrorCode::BadInput, path, "not a regular file");
  file.bytes = status.st_size;
  return file;
}

/// Mapped pages. They are guarded as long as they are there.
struct Mapping {
  Mapping(void* memory, std::size_t bytes) : m_pages{memory, bytes}, m_guard(memory, bytes) {}

 private:
  struct Pages {
    void* memory;
    std::size_t bytes;
    ~Pages() { ::munmap(memory, bytes); }
  };
  Pages m_pages;
  MappingGuard m_guard;  // behind the pages: it goes first
};

/// Maps `bytes` > 0 bytes from `offset` on, which the file has.
Result<StoragePtr> mapPart(const OpenFile& file, const std::filesystem::path& path, std::int64_t offset,
                           std::int64_t bytes) {
  static const auto page = std::int64_t(::sysconf(_SC_PAGESIZE));
  const std::int64_t lead = offset % page;
  const auto size = std::size_t(bytes + lead);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number, offset - lead);
  if (memory == MAP_FAILED) return failure(ErrorCode::Environment, path, std::strerror(errno));
  return Storage::borrow(static_cast<std::byte*>(memory) + lead, bytes, std::make_shared<const Mapping>(memory, size));
}

}  // namespace

Result<StoragePtr> mapFile(const std::filesystem::path& path) {
  KERF_TRY(const OpenFile file, openRegular(path));
  if (file.bytes == 0) return Storage::allocate(0);
  return mapPart(file, path, 0, file.bytes);
}

Result<void> checkWhole(const Storage& mapped, const std::filesystem::path& path) {
  if (!mappingWasCut(mapped.data())) return {};
  return failure(ErrorCode::NotFound, path, "the file became shorter while it was read; open it again");
}

Result<StoragePtr> mapFileRange(const std::filesystem::path& path, std::int64_t offset, std::int64_t bytes) {
  KERF_TRY(const OpenFile file, openRegular(path));
  if (offset < 0 || bytes < 0 || offset > file.bytes || bytes > file.bytes - offset)
    return failure(ErrorCode::BadInput, path,
                   fmt::format("{} bytes from byte {} on are wanted, the file has {}", bytes, offset, file.bytes));
  if (bytes == 0) return Storage::allocate(0);
  KERF_TRY(StoragePtr mapped, mapPart(file, path, offset, bytes));
  if (offset % elementAlignment == 0) return mapped;
  KERF_TRY(StoragePtr copy, Storage::allocate(bytes));
  std::memcpy(copy->data(), mapped->data(), std::size_t(bytes));
  KERF_CHECK(checkWhole(*mapped, path));
  return copy;
}

}  // namespace kerf::inline tensor
