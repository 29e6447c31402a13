// Commands that try to get away: from their supervisor, out of lists of processes, past limits that look elsewhere.
#include <csignal>
#include <cstring>
#include <fstream>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "engine/process/process_tree.h"
#include "tests/support/contained_test.h"

namespace kerf {
namespace {

class Escaping : public Contained {};

INSTANTIATE_TEST_SUITE_P(Both, Escaping, ::testing::Values(Containment::Namespace, Containment::Subreaper),
                         nameOfContainment);

/// Inside of a PID namespace the first process takes no signal of the others; elsewhere another supervisor is there.
TEST_P(Escaping, ACommandThatKillsItsParentIsOneVerdict) {
  const bool inside = GetParam() == Containment::Namespace;
  const auto result =
      run("env -i setsid sleep MARK & sleep 0.2; kill -9 $PPID; sleep MARK", {}, inside ? 1s : test::patience);
  if (inside) {
    EXPECT_EQ(result.end, ContainedEnd::TimedOut);
  } else {
    EXPECT_EQ(result.end, ContainedEnd::Signalled);
    EXPECT_EQ(result.status, SIGKILL);
  }
  expectNothingLeft();
}

TEST_P(Escaping, ACommandThatStopsItsParentIsStillWatched) {
  const auto after = run("kill -STOP $PPID; sleep 0.1; exit 5");
  EXPECT_EQ(after.end, ContainedEnd::Exited);
  EXPECT_EQ(after.status, 5);
  const auto over = run("kill -STOP $PPID; while :; do sleep MARK & done", {.processes = 30});
  EXPECT_EQ(over.end, ContainedEnd::Processes);
  expectNothingLeft();
}

/// Each process lives for as long as it takes to start the next: what is listed is gone when it is looked at.
TEST_P(Escaping, AChainOfForksEnds) {
  for (int i = 0; i < 25; ++i) {
    const auto result = run(": MARK; f() { f & }; f; exit 1");
    EXPECT_EQ(result.end, ContainedEnd::Exited);
    EXPECT_EQ(result.status, 1);
    expectNothingLeft();
  }
}

TEST_P(Escaping, OutputIsOverItsLimitWhoeverLooksFirst) {
  for (int i = 0; i < 30; ++i) {
    const auto result = run("echo hello; exit 1", {.outputBytes = 2});
    EXPECT_EQ(result.end, ContainedEnd::Output);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output.text(), "hello\n");
  }
  EXPECT_EQ(run("echo hello; exit 1", {.outputBytes = 6}).status, 1);
}

TEST_P(Escaping, NoLimitOfProcessesStillCountsTheirMemory) {
  EXPECT_EQ(run("sleep 0.1 & sleep 0.1 & sleep 0.2; exit 3", {.processes = 0}).status, 3);
  const std::string hog = "sh -c 'x=$(head -c 15000000 /dev/zero | tr \"\\0\" x); y=$x$x; sleep MARK' &";
  const auto result = run(hog + hog + hog + hog + " wait", {.memoryBytes = 80 << 20, .processes = 0});
  EXPECT_EQ(result.end, ContainedEnd::Memory);
  expectNothingLeft();
}

/// Of a kind that no process needs to have open.
TEST_P(Escaping, SharedMemoryOfSystemVGoesWithTheNamespace) {
  if (GetParam() == Containment::Subreaper) GTEST_SKIP() << "it stays, as the documentation says";
  EXPECT_NE(run("readlink /proc/self/ns/ipc").output.text(),
            std::filesystem::read_symlink("/proc/self/ns/ipc").string() + "\n");
}

/// Where there are as many namespaces as the system makes: nothing was started yet, so the other way is taken.
TEST(Containing, WithoutAnotherNamespaceASubreaperHoldsACommand) {
  if (containmentSupport().best != Containment::Namespace) GTEST_SKIP() << containmentSupport().why;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(77);
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << ::getuid() << " 1";
    std::ofstream limit("/proc/sys/user/max_pid_namespaces");
    if (!(limit << 0 << std::flush)) ::_exit(77);
    const auto result =
        runContained({.arguments = {"/bin/sh", "-c", "sleep 1000 & exit 3"}, .folder = "/", .timeout = test::patience});
    ::_exit(result ? 10 * result->status + result->leftovers : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not limit namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 31);
}

/// A process that has touched so much shared memory and then waits.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : m_bytes(bytes) {
    m_at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  ~SharedMemory() {
    for (const pid_t pid : m_users) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    ::munmap(m_at, m_bytes);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  /// Another process that uses all of it, when it does.
  pid_t addUser() {
    const auto user = char(m_users.size() + 1);
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::memset(m_at, user, m_bytes);
      while (true) ::pause();
    }
    m_users.push_back(pid);
    EXPECT_TRUE(waitUntil([&] { return static_cast<volatile char*>(m_at)[m_bytes - 1] == user; }));
    return pid;
  }
  const std::vector<pid_t>& users() const { return m_users; }

 private:
  std::size_t m_bytes;
  void* m_at = nullptr;
  std::vector<pid_t> m_users;
};

TEST(MemoryOf, SharedMemoryCountsOnce) {
  constexpr std::int64_t bytes = 64 << 20, own = 16 << 20, always = std::int64_t{1} << 60;
  SharedMemory memory{std::size_t(bytes)};
  memory.addUser();
  EXPECT_GE(memoryOf(memory.users(), always), bytes);
  EXPECT_GE(memoryOf(memory.users(), 0), bytes - own);
  memory.addUser();
  const auto quick = memoryOf(memory.users(), always), exact = memoryOf(memory.users(), 0);
  EXPECT_GE(quick, 2 * bytes) << "the quick bound is on the safe side";
  EXPECT_GE(exact, bytes - own);
  EXPECT_LE(exact, quick - bytes + own);
}

}  // namespace
}  // namespace kerf
