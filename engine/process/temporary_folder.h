// TemporaryFolder: a private folder that is gone with its object, or with the process, however that ends.
#pragma once

#include <filesystem>
#include <utility>

#include "engine/support/result.h"

namespace kerf::inline process {

/// Below the system's temporary folder.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return m_path; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : m_path(std::move(path)) {}
  void remove();
  std::filesystem::path m_path;
};

/// Removes all that live, for a process that is about to end without running destructors.
void removeTemporaryFolders();

}  // namespace kerf::inline process
