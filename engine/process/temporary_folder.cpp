#include "engine/process/temporary_folder.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/process/guardian.h"
#include "engine/process/remove_tree.h"
#include "engine/support/process_start.h"

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

std::filesystem::path baseFolder() {
  std::error_code error;
  const auto base = std::filesystem::temp_directory_path(error);
  return error ? std::filesystem::path("/tmp") : base;
}

struct Owner {
  pid_t pid = 0;
  std::uint64_t started = 0;
};

/// Who made the folder of this name; pid 0 if it is none of Kerf's.
Owner ownerIn(const std::string& name) {
  Owner owner;
  unsigned long long started = 0;
  int pid = 0, end = 0;
  const bool fits = std::sscanf(name.c_str(), "kerf-%d-%llu-%*16[0-9a-f]%n", &pid, &started, &end) == 2;
  if (fits && end == int(name.size())) owner = {pid, started};
  return owner;
}

int openAndLock(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return file;
  ::close(file);
  return -1;
}

/// Two signs must agree: no such process here, and no lock, which a process in another container holds as well.
bool isAbandoned(const std::filesystem::path& folder) {
  const auto owner = ownerIn(folder.filename().string());
  struct stat status{};
  if (owner.pid <= 0 || processStart(owner.pid) == owner.started) return false;
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) return false;
  const int lock = openAndLock(folder);
  if (lock >= 0) ::close(lock);
  return lock >= 0;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  std::random_device random;
  const pid_t self = ::getpid();
  const auto path = baseFolder() / fmt::format("kerf-{}-{}-{:08x}{:08x}", self, processStart(self), random(), random());
  guardFolder(path);  // before it is there: whoever kills this process in between leaves nothing
  if (::mkdir(path.c_str(), 0700) != 0) {
    const int problem = errno;
    releaseFolder(path);
    return fail(ErrorCode::Environment, "cannot create a temporary folder {}: {}", path.string(),
                std::strerror(problem));
  }
  const std::scoped_lock lock(live().mutex);
  live().paths.insert(path);
  return {TemporaryFolder(path, openAndLock(path))};
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  remove();
  m_path = std::exchange(other.m_path, {});
  m_lock = std::exchange(other.m_lock, -1);
  return *this;
}

TemporaryFolder::~TemporaryFolder() { remove(); }

void TemporaryFolder::remove() {
  if (m_path.empty()) return;
  removeTree(m_path);
  if (m_lock >= 0) ::close(std::exchange(m_lock, -1));
  releaseFolder(m_path);
  const std::scoped_lock lock(live().mutex);
  live().paths.erase(m_path);
}

void removeTemporaryFolders() {
  const std::scoped_lock lock(live().mutex);
  for (const auto& folder : live().paths) removeTree(folder);
}

int removeStaleFolders() {
  int removed = 0;
  std::error_code problem;
  for (auto entry = std::filesystem::directory_iterator(baseFolder(), problem);
       !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    if (!entry->path().filename().native().starts_with("kerf-") || !isAbandoned(entry->path())) continue;
    removed += removeTree(entry->path()) ? 1 : 0;
  }
  return removed;
}

}  // namespace kerf::inline process
