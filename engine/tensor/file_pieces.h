// Reading a file, or a part of one, piece by piece with little memory, and its hash.
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "engine/support/hash.h"
#include "engine/support/result.h"

namespace kerf::inline tensor {

/// Most bytes of a piece.
inline constexpr std::size_t pieceBytes = 8u << 20;

/// Bytes of a file.
struct FilePart {
  std::filesystem::path path;
  std::int64_t offset = 0;   ///< bytes
  std::int64_t length = -1;  ///< bytes; -1: to the file's end
};

/// Takes a piece; an error ends the reading with that error.
using TakePiece = std::function<Result<void>(std::span<const std::byte>)>;
/// Reads them from the first to the last. NotFound, Environment, or BadInput for anything else than a regular file
/// that reaches so far.
Result<void> readPieces(const FilePart& part, const TakePiece& take);

struct FileSum {
  Hash128 hash;
  std::int64_t bytes = 0;
};
/// Hash (that of hashBytes) and number of these bytes. Cancelled when `goOn`, asked with the bytes read so far, says
/// no.
Result<FileSum> sumOfFile(const FilePart& part, const std::function<bool(std::int64_t)>& goOn = {});

}  // namespace kerf::inline tensor
