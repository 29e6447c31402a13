#include "storage/stores/dead_drafts.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

namespace kerf::inline storage::inline stores {

namespace fs = std::filesystem;

std::int64_t removeDeadDrafts(const fs::path& file) {
  std::error_code ignored;
  std::int64_t removed = 0;
  const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const auto begin = file.filename().string() + ".";
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(begin) || name.find(".tmp") == std::string::npos) continue;
    const auto pid = std::atoi(name.c_str() + begin.size());
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    removed += fs::remove(entry.path(), ignored) ? 1 : 0;
  }
  return removed;
}

}  // namespace kerf::inline storage::inline stores
