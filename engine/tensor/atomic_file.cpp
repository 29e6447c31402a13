#include "engine/tensor/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace kerf::inline tensor {
namespace {

std::filesystem::path temporaryFor(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), counter.fetch_add(1));
  return temporary;
}

bool writeAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(std::size_t(written));
  }
  return true;
}

Error failure(const std::filesystem::path& path) {
  Error error{ErrorCode::Environment, fmt::format("cannot write: {}", std::strerror(errno)), {}, 0, {}, {}};
  error.atFile(path.string());
  return error;
}

}  // namespace

Result<void> writeFileAtomically(const std::filesystem::path& path,
                                 std::span<const std::span<const std::byte>> pieces) {
  const std::filesystem::path temporary = temporaryFor(path);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return fail(failure(path));
  bool ok = true;
  for (const auto& piece : pieces) ok = ok && writeAll(file, piece);
  ok = ok && ::fsync(file) == 0;
  const int problem = errno;
  ok = ::close(file) == 0 && ok;
  if (ok && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  if (!ok) errno = problem;
  Error error = failure(path);
  ::unlink(temporary.c_str());
  return fail(std::move(error));
}

}  // namespace kerf::inline tensor
