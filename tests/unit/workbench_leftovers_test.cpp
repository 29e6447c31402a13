// A worker that is killed while its candidates leave daemons behind: at seeded points, and with its starter.
#include <csignal>

#include <sys/wait.h>

#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

class WorkerLeftoversTest : public WorkbenchTest {
 protected:
  /// The fourth candidate never ends: the search is still under way when it is killed.
  MinifyRequest request() const {
    MinifyRequest made{{sample}};
    made.oracle.oracle = "command";
    made.oracle.check = fmt::format(
        "echo >> {0}/candidates; (setsid sh -c 'sleep {1} & exec sleep {1}' </dev/null >/dev/null 2>&1 &); sleep 0.05; "
        "[ $(wc -l < {0}/candidates) -lt 4 ] || sleep {1}; ! grep -q aten.relu {{}}",
        folder().string(), m_mark);
    made.oracle.timeout = test::patience;
    made.place = MinifyRequest::ReproPlace::Store;
    return made;
  }
  bool candidatesAre(std::size_t count) const {
    std::error_code none;
    const auto size = fs::file_size(folder() / "candidates", none);
    return !none && size >= count;
  }
  bool nothingIsLeft() const { return test::countMarked(m_mark) == 0 && scratchIsEmpty(); }
  void forgetCandidates() const {
    fs::remove(folder() / "candidates");
    fs::remove(store());
  }

 private:
  const std::string m_mark = test::markOf(5);
};

TEST_F(WorkerLeftoversTest, AKilledWorkerLeavesNothing) {
  for (const std::size_t point : {1u, 2u, 3u}) {
    forgetCandidates();
    RemoteWorkbench remote(kerf, store());
    ASSERT_TRUE(remote.perform(OpenRequest{sample}));
    const auto workers = workersOf(::getpid());
    ASSERT_EQ(workers.size(), 1u);
    std::jthread killer([&] {
      EXPECT_TRUE(waitUntil([&] { return candidatesAre(point); }));
      std::this_thread::sleep_for(7ms * point);
      ::kill(workers[0], SIGKILL);
    });
    EXPECT_FALSE(remote.perform(request()));
    EXPECT_TRUE(waitUntil([&] { return nothingIsLeft(); })) << point;
  }
}

TEST_F(WorkerLeftoversTest, AKilledStarterLeavesNothing) {
  for (const std::size_t point : {1u, 2u}) {
    forgetCandidates();
    const pid_t starter = ::fork();
    if (starter == 0) {
      RemoteWorkbench doomed(kerf, store());
      (void)doomed.perform(request());
      ::_exit(0);
    }
    EXPECT_TRUE(waitUntil([&] { return candidatesAre(point); }));
    ::kill(starter, SIGKILL);
    ::waitpid(starter, nullptr, 0);
    EXPECT_TRUE(waitUntil([&] { return nothingIsLeft(); })) << point;
  }
}

}  // namespace
}  // namespace kerf::workbench
