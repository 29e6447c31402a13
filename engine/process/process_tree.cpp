#include "engine/process/process_tree.h"

#include <charconv>
#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "engine/process/owned_file.h"

namespace kerf::inline process {

namespace {

/// The first 64 KiB of a file of /proc; empty when the process is gone.
std::string readProc(const std::string& path) {
  constexpr std::size_t most = 64 << 10, step = 4096;
  const OwnedFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  for (ssize_t count = step; file.isOpen() && count == step && text.size() < most;) {
    const auto before = text.size();
    text.resize(before + step);
    count = ::read(file.number(), text.data() + before, step);
    text.resize(before + std::size_t(std::max<ssize_t>(count, 0)));
  }
  return text;
}

struct ProcessStat {
  pid_t parent = 0;
  bool alive = false;
};

/// Fields 3 and 4 of /proc/PID/stat: the name before them may hold anything, closing brackets too.
ProcessStat statOf(pid_t pid) {
  const auto text = readProc(fmt::format("/proc/{}/stat", pid));
  const auto close = text.rfind(')');
  if (close == std::string::npos || close + 4 >= text.size()) return {};
  ProcessStat stat;
  stat.alive = text[close + 2] != 'Z' && text[close + 2] != 'X';
  std::from_chars(text.data() + close + 4, text.data() + text.size(), stat.parent);
  return stat;
}

std::vector<pid_t> numbersIn(const char* path) {
  std::vector<pid_t> found;
  DIR* const folder = ::opendir(path);
  if (folder == nullptr) return found;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name(entry->d_name);
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr == name.data() + name.size())
      found.push_back(pid);
  }
  ::closedir(folder);
  return found;
}

std::map<pid_t, std::vector<pid_t>> childrenByParent(std::set<pid_t>& dead) {
  std::map<pid_t, std::vector<pid_t>> children;
  for (const auto pid : numbersIn("/proc")) {
    const auto stat = statOf(pid);
    if (!stat.alive) dead.insert(pid);
    children[stat.parent].push_back(pid);
  }
  return children;
}

/// The same where the kernel does not list children.
std::vector<pid_t> scannedBelow(pid_t root, std::size_t most) {
  std::set<pid_t> dead;
  const auto children = childrenByParent(dead);
  std::vector<pid_t> found;
  std::vector<pid_t> open{root};
  while (!open.empty() && found.size() < most) {
    const auto at = children.find(open.back());
    open.pop_back();
    if (at == children.end()) continue;
    for (const auto pid : at->second) {
      open.push_back(pid);
      if (!dead.contains(pid) && found.size() < most) found.push_back(pid);
    }
  }
  return found;
}

bool listsChildren() {
  static const bool lists = ::access("/proc/thread-self/children", R_OK) == 0;
  return lists;
}

/// Of all threads of a process.
std::vector<pid_t> childrenOf(pid_t pid) {
  std::vector<pid_t> children;
  const auto tasks = fmt::format("/proc/{}/task", pid);
  for (const auto task : numbersIn(tasks.c_str())) {
    std::ifstream list(fmt::format("{}/{}/children", tasks, task));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

/// Stops everything below a process faster than it can grow: each is stopped before its children are listed, and is not
/// looked at again, since one that is stopped makes no more. Only what lost its parent comes up anew, below the root.
class TreeStop {
 public:
  explicit TreeStop(pid_t root) : m_root(root) {}

  /// All that were found alive.
  const std::vector<pid_t>& run() {
    while (descendFrom(m_root)) {
    }
    ::usleep(1000);  // a fork that was under way is done by now
    for (std::size_t i = 0; i < m_stopped.size(); ++i) descendFrom(m_stopped[i]);
    descendFrom(m_root);
    return m_stopped;
  }

 private:
  bool descendFrom(pid_t from) {
    const auto before = m_seen.size();
    std::vector<pid_t> open{from};
    while (!open.empty()) {
      const auto children = listsChildren() ? childrenOf(open.back()) : scannedBelow(open.back(), std::size_t(-1));
      open.pop_back();
      for (const auto pid : children) {
        if (!m_seen.insert(pid).second) continue;
        ::kill(pid, SIGSTOP);
        if (statOf(pid).alive) m_stopped.push_back(pid);
        open.push_back(pid);
      }
    }
    return m_seen.size() > before;
  }

  pid_t m_root;
  std::set<pid_t> m_seen;
  std::vector<pid_t> m_stopped;
};

bool hasVariable(pid_t pid, const std::string& variable) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  for (std::string one; std::getline(file, one, '\0');)
    if (one == variable) return true;
  return false;
}

std::int64_t fieldOf(const std::string& text, std::string_view name) {
  const auto at = text.find(name);
  std::int64_t value = 0;
  if (at == std::string::npos) return 0;
  const auto digits = text.find_first_of("0123456789", at + name.size());
  if (digits != std::string::npos) std::from_chars(text.data() + digits, text.data() + text.size(), value);
  return value;
}

/// Sum of fields of a file of /proc that are in kB, in bytes.
std::int64_t bytesIn(const std::string& text, std::initializer_list<std::string_view> names) {
  std::int64_t kilobytes = 0;
  for (const auto name : names) kilobytes += fieldOf(text, name);
  return kilobytes * 1024;
}

/// Private and shared pages, the latter divided by those who share them: exact, and slow. Pages of files are not
/// counted, which the kernel can drop; of a kernel that does not tell them apart they are.
std::int64_t proportionalMemory(pid_t pid) {
  const auto text = readProc(fmt::format("/proc/{}/smaps_rollup", pid));
  const auto bytes = bytesIn(text, {"\nPss_Anon:", "\nPss_Shmem:"});
  return (bytes > 0 ? bytes : bytesIn(text, {"\nPss:"})) + bytesIn(text, {"\nSwapPss:"});
}

/// All pages that are not of a file on a disk, those that several processes share counted in each: at least as much,
/// and quick.
std::int64_t residentMemory(pid_t pid) {
  const auto text = readProc(fmt::format("/proc/{}/status", pid));
  const auto bytes = bytesIn(text, {"\nRssAnon:", "\nRssShmem:"});
  return (bytes > 0 ? bytes : bytesIn(text, {"\nVmRSS:"})) + bytesIn(text, {"\nVmSwap:"});
}

}  // namespace

std::vector<pid_t> processesBelow(pid_t root, std::size_t most) {
  if (!listsChildren()) return scannedBelow(root, most);
  std::vector<pid_t> found;
  std::vector<pid_t> open{root};
  while (!open.empty() && found.size() < most) {
    const auto children = childrenOf(open.back());
    open.pop_back();
    for (const auto pid : children) {
      open.push_back(pid);
      if (statOf(pid).alive) found.push_back(pid);
      if (found.size() == most) break;
    }
  }
  return found;
}

std::int64_t memoryOf(const std::vector<pid_t>& processes, std::int64_t enough) {
  std::int64_t bytes = 0;
  for (const auto pid : processes) bytes += residentMemory(pid);
  if (bytes <= enough) return bytes;
  std::int64_t exact = 0;
  for (const auto pid : processes) exact += proportionalMemory(pid);
  return exact > 0 ? exact : bytes;
}

bool killBelow(pid_t root) {
  constexpr int tries = 300;
  constexpr useconds_t pause = 10'000;
  for (int i = 0; i < tries; ++i) {
    const auto stopped = TreeStop(root).run();
    if (stopped.empty()) return true;
    for (const auto pid : stopped) ::kill(pid, SIGKILL);
    ::usleep(i < 10 ? 1000 : pause);
  }
  return false;
}

std::int64_t tasksOfUser() {
  std::int64_t tasks = 0;
  for (const auto pid : numbersIn("/proc")) {
    const auto text = readProc(fmt::format("/proc/{}/status", pid));
    if (std::uint64_t(fieldOf(text, "\nUid:")) == ::getuid()) tasks += fieldOf(text, "\nThreads:");
  }
  return tasks;
}

void killMarked(const std::string& variable) {
  constexpr int rounds = 20;  // what was being started while the first one looked
  for (int i = 0; i < rounds; ++i) {
    int found = 0;
    for (const auto pid : numbersIn("/proc"))
      if (statOf(pid).alive && hasVariable(pid, variable) && ::kill(pid, SIGKILL) == 0) ++found;
    if (found == 0) return;
    ::usleep(1000);
  }
}

}  // namespace kerf::inline process
