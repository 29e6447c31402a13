// AtomicFiles: several files of one folder that appear together or not at all.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "engine/support/atomic_file.h"

namespace kerf::inline support {

/// Files that belong together, such as one for each rank. All are written under other names and flushed before the first
/// gets its own: a full disk leaves the folder as it was, and no folder where there was none.
class AtomicFiles {
 public:
  /// Makes the folder where it is not there. Environment where that cannot be done; BadUsage where `folder` is a file.
  static Result<AtomicFiles> in(const std::filesystem::path& folder);
  AtomicFiles(AtomicFiles&& other) noexcept = default;
  AtomicFiles& operator=(AtomicFiles&&) = delete;
  ~AtomicFiles();

  /// A file to write into, until the next one is added or all are committed.
  Result<AtomicFile*> add(std::string_view name);
  Result<void> addText(std::string_view name, std::string_view text);
  /// Flushes all files, then renames them. Without it they are removed.
  Result<void> commit();

 private:
  explicit AtomicFiles(std::filesystem::path folder) : m_folder(std::move(folder)) {}
  std::filesystem::path m_folder;
  std::vector<std::filesystem::path> m_made;   ///< folders, the outermost first
  std::vector<std::filesystem::path> m_fresh;  ///< files that were not there before
  std::deque<AtomicFile> m_files;
};

}  // namespace kerf::inline support
