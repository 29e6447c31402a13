// Which SQLite files this process has open. Closing any other handle of such a file would drop SQLite's locks on it (a
// rule of POSIX), so whoever wants to look at its bytes asks here first.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>

namespace kerf::inline storage::inline database {

/// First bytes of a file; those that it does not have are zero.
struct FileHeader {
  std::array<unsigned char, 100> bytes{};
  std::size_t count = 0;
};

/// Runs `open`, which opens the file with SQLite, and notes that it is open. What it throws goes through.
void openNoted(const std::filesystem::path& path, const std::function<void()>& open);
/// The file was closed by SQLite.
void noteClosed(const std::filesystem::path& path);

/// The first bytes of a file; nothing when it cannot be read, or is open here and so was looked at before.
std::optional<FileHeader> headerUnlessOpen(const std::filesystem::path& path);

/// Runs `look`, which may open and close the file and those beside it, unless it is open here. Whether it was run.
bool unlessOpen(const std::filesystem::path& path, const std::function<void()>& look);

}  // namespace kerf::inline storage::inline database
