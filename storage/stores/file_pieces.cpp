#include "storage/stores/file_pieces.h"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/support/hash_stream.h"

namespace kerf::inline storage::inline stores {

namespace {

struct Handle {
  int number;
  ~Handle() {
    if (number >= 0) ::close(number);
  }
};

std::unexpected<Error> failure(const std::filesystem::path& path, ErrorCode code, const char* what) {
  return fail(Error{code, what, path.string(), 0, {}, {}});
}

}  // namespace

Result<void> readPieces(const std::filesystem::path& path, const TakePiece& take) {
  const Handle file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return failure(path, missing ? ErrorCode::NotFound : ErrorCode::Environment, std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(file.number, &status) != 0) return failure(path, ErrorCode::Environment, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return failure(path, ErrorCode::BadInput, "no regular file");
  std::vector<std::byte> buffer(std::min(pieceBytes, std::size_t(status.st_size) + 1));
  for (;;) {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const auto count = ::read(file.number, buffer.data() + filled, buffer.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failure(path, ErrorCode::Environment, std::strerror(errno));
      if (count == 0) break;
      filled += std::size_t(count);
    }
    if (filled == 0) return {};
    KERF_CHECK(take({buffer.data(), filled}));
  }
}

Result<FileSum> sumOfFile(const std::filesystem::path& path, const std::function<bool(std::int64_t)>& goOn) {
  HashStream stream;
  FileSum sum;
  KERF_CHECK(readPieces(path, [&](std::span<const std::byte> piece) -> Result<void> {
    stream.add(piece);
    sum.bytes += std::ssize(piece);
    if (goOn && !goOn(sum.bytes)) return fail(ErrorCode::Cancelled, "stopped while reading {}", path.string());
    return {};
  }));
  sum.hash = stream.finish();
  return sum;
}

}  // namespace kerf::inline storage::inline stores
