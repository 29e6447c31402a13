// Reading a file piece by piece with little memory, and its hash.
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "engine/support/hash.h"
#include "engine/support/result.h"

namespace kerf::inline storage::inline stores {

/// Most bytes of a piece.
inline constexpr std::size_t pieceBytes = 8u << 20;

/// Takes a piece; an error ends the reading with that error.
using TakePiece = std::function<Result<void>(std::span<const std::byte>)>;
/// Reads a regular file from its beginning to its end. NotFound, Environment, or BadInput for anything else than a
/// file.
Result<void> readPieces(const std::filesystem::path& path, const TakePiece& take);

struct FileSum {
  Hash128 hash;
  std::int64_t bytes = 0;
};
/// Hash (that of hashBytes) and size of a file's bytes. Cancelled when `goOn`, asked with the bytes read so far, says
/// no.
Result<FileSum> sumOfFile(const std::filesystem::path& path, const std::function<bool(std::int64_t)>& goOn = {});

}  // namespace kerf::inline storage::inline stores
