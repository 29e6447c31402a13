// What tests ask the kernel about processes.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
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

inline std::vector<pid_t> without(std::vector<pid_t> processes, const std::vector<pid_t>& others) {
  std::erase_if(processes, [&](pid_t process) { return std::ranges::find(others, process) != others.end(); });
  return processes;
}

/// Children of this process that are not in `before`.
inline std::vector<pid_t> childrenSince(const std::vector<pid_t>& before) {
  return without(childrenOf(::getpid()), before);
}

/// A file of /proc/PID; empty where the process is gone, which an iterator over the file would throw.
inline std::string ofProcess(pid_t pid, const char* file) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + file, std::ios::binary);
  std::string text;
  std::getline(stream, text, '\x01');
  return text;
}

/// Kerf's workers among the children of a process: not its guardian, nor a child that is still to become a worker.
inline std::vector<pid_t> workersOf(pid_t pid) {
  constexpr std::string_view call{"\0worker\0--fd\0", 13};
  auto children = childrenOf(pid);
  std::erase_if(children, [&](pid_t child) { return ofProcess(child, "cmdline").find(call) == std::string::npos; });
  return children;
}

/// Children of a process that go by this name ("kerf-guardian").
inline std::vector<pid_t> childrenNamed(pid_t pid, const std::string& name) {
  auto children = childrenOf(pid);
  std::erase_if(children, [&](pid_t child) { return ofProcess(child, "comm") != name + "\n"; });
  return children;
}

/// A text for command lines that no other test has, not even one that runs at the same time: a number of seconds to
/// sleep for, of eight digits. Each kind of test has a digit of its own.
inline std::string markOf(int kind) { return fmt::format("{}{:07}", kind, ::getpid()); }

/// Processes anywhere on this machine whose command line holds `mark`.
inline int countMarked(const std::string& mark) {
  int count = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto name = entry.path().filename().string();
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) continue;
    if (ofProcess(std::stoi(name), "cmdline").find(mark) != std::string::npos) ++count;
  }
  return count;
}

/// Children, their children, and so on.
inline std::vector<pid_t> descendantsOf(pid_t pid) {
  auto all = childrenOf(pid);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const pid_t below : childrenOf(all[i])) all.push_back(below);
  return all;
}

}  // namespace kerf::test
