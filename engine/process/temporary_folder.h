// TemporaryFolder: a private folder that is gone with its object, or with the process, however that ends.
#pragma once

#include <filesystem>
#include <utility>

#include "engine/support/result.h"

namespace kerf::inline process {

/// Below the system's temporary folder. Its name holds the process that owns it ("kerf-PID-STARTED-RANDOM"), and it is
/// locked as long as that process lives: removeStaleFolders() of a later one knows whether anybody needs it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : m_path(std::exchange(other.m_path, {})), m_lock(std::exchange(other.m_lock, -1)) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return m_path; }

 private:
  TemporaryFolder(std::filesystem::path path, int lock) : m_path(std::move(path)), m_lock(lock) {}
  void remove();
  std::filesystem::path m_path;
  int m_lock = -1;  ///< file descriptor of the folder
};

/// Removes all that live, for a process that is about to end without running destructors.
void removeTemporaryFolders();

/// Removes those whose process was killed together with all that cleans up after it. Returns how many.
int removeStaleFolders();

}  // namespace kerf::inline process
