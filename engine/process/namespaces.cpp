#include "engine/process/namespaces.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/process/owned_file.h"
#include "engine/process/wait.h"

namespace kerf::inline process {

namespace {

std::string problem(std::string_view what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

bool writeTo(const char* path, const std::string& text) {
  const OwnedFile file(::open(path, O_WRONLY | O_CLOEXEC));
  return file.isOpen() && ::write(file.number(), text.data(), text.size()) == ssize_t(text.size());
}

/// Whoever may make namespaces as they are (root) keeps all rights; others get a user namespace, in which they are
/// themselves.
std::string unshareAs(int flags) {
  const auto user = ::geteuid();
  const auto group = ::getegid();
  if (::unshare(flags) == 0) return {};
  if (errno != EPERM) return problem("unshare");
  if (::unshare(flags | CLONE_NEWUSER) != 0) return problem("unshare");
  writeTo("/proc/self/setgroups", "deny");
  if (!writeTo("/proc/self/uid_map", fmt::format("{} {} 1", user, user))) return problem("uid_map");
  if (!writeTo("/proc/self/gid_map", fmt::format("{} {} 1", group, group))) return problem("gid_map");
  return {};
}

/// Programs talk to themselves over 127.0.0.1.
void raiseLoopback() {
  const OwnedFile file(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!file.isOpen()) return;
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  ::ioctl(file.number(), SIOCSIFFLAGS, &request);
}

[[noreturn]] void tryNamespaces(int pipe) {
  auto wrong = enterNamespaces(true);
  if (wrong.empty()) {
    const pid_t first = ::fork();
    if (first == 0) {
      const auto inside = finishNamespace();
      (void)!::write(pipe, inside.data(), inside.size());
      ::_exit(0);
    }
    if (first < 0)
      wrong = problem("fork");
    else
      waitForEnd(first);
  }
  (void)!::write(pipe, wrong.data(), wrong.size());
  ::_exit(0);
}

/// What `attempt` wrote into its pipe, in a process of its own. Read when that has ended and not to the pipe's end: a
/// process that another thread forked at the same time may hold that open.
std::string wordsOf(void (*attempt)(int pipe)) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return problem("pipe");
  const OwnedFile reads(ends[0]), writes(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) attempt(ends[1]);
  if (pid < 0) return problem("fork");
  waitForEnd(pid);
  std::string words(1024, '\0');  // less than a pipe holds
  const auto count = ::read(ends[0], words.data(), words.size());
  words.resize(std::size_t(std::max<ssize_t>(count, 0)));
  return words;
}

[[noreturn]] void tryWithoutNetwork(int pipe) {
  const auto wrong = leaveNetwork();
  (void)!::write(pipe, wrong.data(), wrong.size());
  ::_exit(0);
}

}  // namespace

std::string enterNamespaces(bool network) {
  auto wrong = unshareAs(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | (network ? 0 : CLONE_NEWNET));
  if (wrong.empty() && !network) raiseLoopback();
  return wrong;
}

std::string finishNamespace() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return problem("mount /");
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) return problem("mount /proc");
  return {};
}

std::string leaveNetwork() {
  auto wrong = unshareAs(CLONE_NEWNET);
  if (wrong.empty()) raiseLoopback();
  return wrong;
}

const ContainmentSupport& containmentSupport() {
  static const ContainmentSupport support = [] {
    ContainmentSupport found;
    found.why = wordsOf(tryNamespaces);
    found.best = found.why.empty() ? Containment::Namespace : Containment::Subreaper;
    found.noNetworkWhy = wordsOf(tryWithoutNetwork);
    return found;
  }();
  return support;
}

}  // namespace kerf::inline process
