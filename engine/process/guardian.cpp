#include "engine/process/guardian.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/process/remove_tree.h"
#include "engine/process/wait.h"

namespace kerf::inline process {

namespace {

/// A message is one packet: the order, and a path or a group's number.
enum class Order : char { GuardFolder, ReleaseFolder, GuardGroup, ReleaseGroup };
constexpr std::size_t mostBytes = 8192;

/// What was killed may still be writing for a moment.
void removeForGood(const std::filesystem::path& folder) {
  constexpr int tries = 100;
  constexpr useconds_t pause = 20'000;
  std::error_code ignored;
  for (int i = 0; i < tries && std::filesystem::exists(folder, ignored); ++i) {
    if (i > 0) ::usleep(pause);
    removeTree(folder);
  }
}

/// What the guardian knows; lives in its own process only.
class Charges {
 public:
  void obey(Order order, const std::string& body) {
    pid_t group = 0;
    const bool ofGroup = order == Order::GuardGroup || order == Order::ReleaseGroup;
    if (ofGroup && body.size() == sizeof group) std::memcpy(&group, body.data(), sizeof group);
    if (order == Order::GuardFolder) m_folders.insert(body);
    if (order == Order::ReleaseFolder) m_folders.erase(body);
    if (order == Order::GuardGroup && group > 1) m_groups.insert(group);
    if (order == Order::ReleaseGroup) m_groups.erase(group);
  }
  void cleanUp() const {
    for (const auto group : m_groups) ::kill(-group, SIGKILL);
    for (const auto& folder : m_folders) removeForGood(folder);
  }

 private:
  std::set<std::string> m_folders;
  std::set<pid_t> m_groups;
};

constexpr int guarded = 3;  ///< the guardian's only file

/// Nothing of the watched process may stay open here, or those who read from it would wait for the guardian.
void letGoOfEverythingBut(int file) {
  ::setsid();
  ::prctl(PR_SET_NAME, "kerf-guardian");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) std::signal(number, SIG_IGN);
  ::dup2(file, guarded);
  ::close_range(guarded + 1, ~0u, 0);
  const int null = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) ::dup2(null, standard);
  ::close(null);
}

[[noreturn]] void guard(int file) {
  letGoOfEverythingBut(file);
  Charges charges;
  std::string packet(mostBytes, '\0');
  for (;;) {
    const auto count = ::recv(guarded, packet.data(), packet.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    charges.obey(Order(packet[0]), packet.substr(1, std::size_t(count) - 1));
  }
  charges.cleanUp();
  ::_exit(0);
}

/// The guardian as the watched process knows it.
struct Watch {
  std::mutex mutex;
  OwnedFile orders;
  pid_t guardian = -1;
  std::atomic<pid_t> watched = 0;
};

/// Never destroyed: a thread may outlive main().
Watch& watch() {
  static auto* const instance = new Watch;
  return *instance;
}

/// A child must not find the lock taken by a thread that it does not have.
thread_local bool forksGuardian = false;  ///< under the lock already
void lockBeforeFork() {
  if (!forksGuardian) watch().mutex.lock();
}
void unlockAfterFork() {
  if (!forksGuardian) watch().mutex.unlock();
}
[[maybe_unused]] const bool forkHandlerInstalled =
    ::pthread_atfork(lockBeforeFork, unlockAfterFork, unlockAfterFork) == 0;

/// Leaves `own` without a file where no process is to be had.
void startGuardian(Watch& own) {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(dismissGuardian); });
  own.watched = ::getpid();
  own.orders.close();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  const OwnedFile far(ends[0]);
  OwnedFile near(ends[1]);
  forksGuardian = true;
  own.guardian = ::fork();
  if (own.guardian == 0) {
    near.close();
    guard(far.number());
  }
  forksGuardian = false;
  if (own.guardian > 0) own.orders = std::move(near);
}

void sendPacket(const OwnedFile& orders, std::string_view packet) {
  while (orders.isOpen() && ::send(orders.number(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

/// The watch of this process, with its guardian. The caller holds the lock.
Watch& startedWatch() {
  auto& own = watch();
  // The first order, or the first of a forked child: its parent's guardian is not its own.
  if (own.watched != ::getpid()) startGuardian(own);
  return own;
}

void tell(Order order, std::string_view body) {
  if (body.size() >= mostBytes) return;
  std::string packet(1, char(order));
  packet += body;
  const std::scoped_lock lock(watch().mutex);
  sendPacket(startedWatch().orders, packet);
}

}  // namespace

GuardianLine GuardianLine::toOwnGuardian() {
  const std::scoped_lock lock(watch().mutex);
  const auto& own = startedWatch();
  GuardianLine line;
  if (own.orders.isOpen()) line.m_orders = OwnedFile(::fcntl(own.orders.number(), F_DUPFD_CLOEXEC, 3));
  return line;
}

void GuardianLine::guardOwnGroup() const {
  const pid_t group = ::getpgrp();
  std::array<char, 1 + sizeof group> packet{char(Order::GuardGroup)};
  std::memcpy(packet.data() + 1, &group, sizeof group);
  sendPacket(m_orders, {packet.data(), packet.size()});
}

void dismissGuardian() {
  constexpr std::chrono::seconds patience{2};
  auto& own = watch();
  const std::scoped_lock lock(own.mutex);
  if (own.watched != ::getpid() || !own.orders.isOpen()) return;  // a child of the watched process
  ::shutdown(own.orders.number(), SHUT_RDWR);                     // a forked child may have the socket open too
  own.orders.close();
  if (endsWithin(own.guardian, patience)) waitForEnd(own.guardian);
}

void guardFolder(const std::filesystem::path& folder) { tell(Order::GuardFolder, folder.native()); }
void releaseFolder(const std::filesystem::path& folder) { tell(Order::ReleaseFolder, folder.native()); }
void releaseGroup(pid_t group) {
  tell(Order::ReleaseGroup, std::string_view(reinterpret_cast<const char*>(&group), sizeof group));
}

}  // namespace kerf::inline process
