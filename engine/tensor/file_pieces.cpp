#include "engine/tensor/file_pieces.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/support/hash_stream.h"

namespace kerf::inline tensor {

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

/// Fills the buffer from `offset` on, or as much of it as the file has.
Result<std::size_t> fill(int file, std::span<std::byte> buffer, std::int64_t offset,
                         const std::filesystem::path& path) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const auto count = ::pread(file, buffer.data() + filled, buffer.size() - filled, offset + off_t(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(path, ErrorCode::Environment, std::strerror(errno));
    if (count == 0) break;
    filled += std::size_t(count);
  }
  return filled;
}

}  // namespace

Result<void> readPieces(const FilePart& part, const TakePiece& take) {
  const Handle file{::open(part.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return failure(part.path, missing ? ErrorCode::NotFound : ErrorCode::Environment, std::strerror(errno));
  }
  struct stat status{};
  if (::fstat(file.number, &status) != 0) return failure(part.path, ErrorCode::Environment, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return failure(part.path, ErrorCode::BadInput, "no regular file");
  const bool whole = part.length < 0;
  // Of a whole file one byte more than there is: one that grows meanwhile is read to its end.
  const auto expected = std::size_t(whole ? std::max<std::int64_t>(0, status.st_size - part.offset) + 1 : part.length);
  std::vector<std::byte> buffer(std::min(pieceBytes, expected));
  for (std::int64_t done = 0; whole || done < part.length;) {
    const auto wanted = whole ? buffer.size() : std::min(buffer.size(), std::size_t(part.length - done));
    KERF_TRY(const auto filled, fill(file.number, std::span(buffer).first(wanted), part.offset + done, part.path));
    if (!whole && filled < wanted) return failure(part.path, ErrorCode::BadInput, "the file is shorter than it was");
    if (filled == 0) return {};
    KERF_CHECK(take({buffer.data(), filled}));
    done += std::int64_t(filled);
  }
  return {};
}

Result<FileSum> sumOfFile(const FilePart& part, const std::function<bool(std::int64_t)>& goOn) {
  HashStream stream;
  FileSum sum;
  KERF_CHECK(readPieces(part, [&](std::span<const std::byte> piece) -> Result<void> {
    stream.add(piece);
    sum.bytes += std::ssize(piece);
    if (goOn && !goOn(sum.bytes)) return fail(ErrorCode::Cancelled, "stopped while reading {}", part.path.string());
    return {};
  }));
  sum.hash = stream.finish();
  return sum;
}

}  // namespace kerf::inline tensor
