// The bytes of a log: mapped, or unpacked where it is gzip-compressed.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// A log as text. `compressed` bytes live in memory as long as somebody holds them; mapped ones cost nothing.
struct LogBytes {
  StoragePtr mapped;  ///< null if unpacked
  std::string unpacked;
  std::string_view text;  ///< of either
  bool compressed = false;
  bool cut = false;  ///< the compressed data ends early or is damaged: `text` holds what came before
};

/// True if the bytes begin as gzip does.
bool isGzip(std::string_view head);

/// Unpacks gzip members one after another. TooLarge beyond limits.fileBytes or 1024 times the compressed size; damaged
/// or cut data give what was whole, with `cut` set. BadInput if not even the first byte comes out.
Result<LogBytes> unpackGzip(std::string_view packed, const ImportLimits& limits);

/// The first bytes of the unpacked text, for recognisers; empty if damaged.
std::string unpackGzipHead(std::string_view packed, std::size_t bytes);

/// Keeps a log that was made out of another file: openLog() gives it under `path` while anybody holds its bytes.
std::shared_ptr<const LogBytes> holdLog(const std::filesystem::path& path, std::string text);

/// Opens a log; a mapped one may have any size. The same compressed file is unpacked once while anybody holds its
/// bytes.
Result<std::shared_ptr<const LogBytes>> openLog(const std::filesystem::path& path, const ImportLimits& limits = {});

}  // namespace kerf::inline capture
