#include "engine/support/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace kerf::inline support {

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  std::error_code unknown;
  if (const auto there = std::filesystem::status(path, unknown); std::filesystem::is_other(there))
    return fail(
        Error{ErrorCode::Environment, "is a device or a pipe, which a file would replace; name a file", path.string()});
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), counter.fetch_add(1));
  ::unlink(temporary.c_str());  // left by a killed process that had the same id
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  AtomicFile result(path, std::move(temporary), file);
  if (file < 0) return result.failure();
  return result;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_temporary(std::move(other.m_temporary)),
      m_file(std::exchange(other.m_file, -1)) {}

AtomicFile::~AtomicFile() {
  if (m_file < 0) return;
  ::close(m_file);
  ::unlink(m_temporary.c_str());
}

std::unexpected<Error> AtomicFile::failure() const {
  return fail(Error{ErrorCode::Environment, fmt::format("cannot write: {}", std::strerror(errno)), m_path.string()});
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(m_file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure();
    bytes = bytes.subspan(std::size_t(written));
  }
  return {};
}

Result<void> AtomicFile::flush() {
  if (::fsync(m_file) != 0) return failure();
  return {};
}

Result<void> AtomicFile::commit() {
  if (::fsync(m_file) != 0 || ::rename(m_temporary.c_str(), m_path.c_str()) != 0) return failure();
  ::close(std::exchange(m_file, -1));
  return {};
}

Result<void> writeFileAtomically(const std::filesystem::path& path,
                                 std::span<const std::span<const std::byte>> pieces) {
  KERF_TRY(AtomicFile file, AtomicFile::create(path));
  for (const auto& piece : pieces) KERF_CHECK(file.write(piece));
  return file.commit();
}

Result<void> writeTextFile(std::string_view text, const std::filesystem::path& path) {
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
  return writeFileAtomically(path, pieces);
}

}  // namespace kerf::inline support
