#include "engine/process/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>

#include "engine/process/guardian.h"

namespace kerf::inline process {

namespace {

struct LiveFolders {
  std::mutex mutex;
  std::set<std::filesystem::path> paths;
};

/// Never destroyed: a thread that ends the process may come after main().
LiveFolders& live() {
  static auto* const instance = new LiveFolders;
  return *instance;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  std::random_device random;
  const auto path =
      (error ? std::filesystem::path("/tmp") : base) / fmt::format("kerf-{:08x}{:08x}", random(), random());
  guardFolder(path);  // before it is there: whoever kills this process in between leaves nothing
  if (::mkdir(path.c_str(), 0700) != 0) {
    const int problem = errno;
    releaseFolder(path);
    return fail(ErrorCode::Environment, "cannot create a temporary folder {}: {}", path.string(),
                std::strerror(problem));
  }
  const std::scoped_lock lock(live().mutex);
  live().paths.insert(path);
  return TemporaryFolder(path);
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  remove();
  m_path = std::exchange(other.m_path, {});
  return *this;
}

TemporaryFolder::~TemporaryFolder() { remove(); }

void TemporaryFolder::remove() {
  if (m_path.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(m_path, ignored);
  releaseFolder(m_path);
  const std::scoped_lock lock(live().mutex);
  live().paths.erase(m_path);
}

void removeTemporaryFolders() {
  const std::scoped_lock lock(live().mutex);
  std::error_code ignored;
  for (const auto& folder : live().paths) std::filesystem::remove_all(folder, ignored);
}

}  // namespace kerf::inline process
