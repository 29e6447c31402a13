// AtomicFile: a reader sees the old file or the whole new one, never half of it.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline support {

/// A file that appears whole or not at all: bytes go to a temporary file beside `path`, commit() renames it.
class AtomicFile {
 public:
  /// Environment where the file cannot be made, and where `path` is a device, a pipe or a socket: renaming would put a
  /// file in its place.
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> write(std::span<const std::byte> bytes);
  /// To the disk, still under its other name: what does not fit is known then.
  Result<void> flush();
  /// Flushes to disk and renames over the target. Without it the temporary file is removed.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary, int file)
      : m_path(std::move(path)), m_temporary(std::move(temporary)), m_file(file) {}
  std::unexpected<Error> failure() const;
  std::filesystem::path m_path, m_temporary;
  int m_file;
};

/// Writes the pieces one after another. Environment, naming the file, when anything fails; `path` is untouched then.
Result<void> writeFileAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces);
/// The same for a text or picture.
Result<void> writeTextFile(std::string_view text, const std::filesystem::path& path);

}  // namespace kerf::inline support
