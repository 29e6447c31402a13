#include "engine/process/remove_tree.h"

#include <vector>

#include <sys/stat.h>

namespace kerf::inline process {

namespace {

namespace fs = std::filesystem;

/// Gives the owner back what listing and removing need, from the outermost folder inwards.
void openUp(const fs::path& outermost) {
  std::vector<fs::path> open{outermost};
  while (!open.empty()) {
    const auto folder = open.back();
    open.pop_back();
    ::chmod(folder.c_str(), 0700);
    std::error_code problem, ignored;
    for (auto entry = fs::directory_iterator(folder, problem); !problem && entry != fs::directory_iterator();
         entry.increment(problem))
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) open.push_back(entry->path());
  }
}

}  // namespace

bool removeTree(const fs::path& folder) {
  std::error_code problem;
  fs::remove_all(folder, problem);
  if (!problem) return true;
  openUp(folder);
  fs::remove_all(folder, problem);
  return !problem;
}

}  // namespace kerf::inline process
