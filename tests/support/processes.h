// What tests ask the kernel about processes.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace kerf::test {

/// Whether a process is there and no zombie: one of its threads at least, which may outlive the first and keep files
/// open.
inline bool lives(pid_t pid) {
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream stat(task.path() / "stat");
    std::string line;
    std::getline(stat, line);
    const auto close = line.rfind(')');
    if (close != std::string::npos && line.compare(close, 3, ") Z") != 0 && line.compare(close, 3, ") X") != 0)
      return true;
  }
  return false;
}

/// Children of a process, zombies too, by the kernel's own list.
inline std::vector<pid_t> childrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

/// Children of this process that are not in `before`.
inline std::vector<pid_t> childrenSince(const std::vector<pid_t>& before) {
  auto children = childrenOf(::getpid());
  std::erase_if(children, [&](pid_t child) { return std::ranges::find(before, child) != before.end(); });
  return children;
}

/// Children, their children, and so on.
inline std::vector<pid_t> descendantsOf(pid_t pid) {
  auto all = childrenOf(pid);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const pid_t below : childrenOf(all[i])) all.push_back(below);
  return all;
}

}  // namespace kerf::test
