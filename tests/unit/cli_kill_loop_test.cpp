// kerf killed at counted steps of its way: the store stays whole, the next command works, nothing is left behind.
// KERF_KILL_POINTS=N kills each command at N points (200 points are KERF_KILL_POINTS=40).
#include "tests/support/io_steps.h"

namespace kerf::cli {
namespace {

using ::testing::IsEmpty;

class KillLoop : public StepsTest {
 protected:
  /// The sample's own copy, for a capture that the store does not know.
  std::string copyOfSample(int number) const {
    const auto copy = folder / fmt::format("in{}", number);
    fs::copy(fs::path(sample).parent_path(), copy, fs::copy_options::recursive);
    return (copy / fs::path(sample).filename()).string();
  }
  void removeStore() const {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(store() + suffix);
  }
  /// A result that was being written into the user's folder when its process was killed stays as a draft
  /// ("issue.md.123.28.tmp"): no later command knows of that folder.
  void removeDraftsOfResults() const {
    for (const auto& left : filesLeft())
      if (left.starts_with("out") && left.ends_with(".tmp")) fs::remove_all(folder / left);  // a folder, too
  }
  /// What must hold however the last command ended, once `next` was run.
  void expectWhole(const std::string& where, const std::vector<std::string>& next) {
    EXPECT_TRUE(waitUntil([&] { return !processesLeft(); })) << where << ": processes are left";
    const auto verify = run({"store", "verify"});
    ASSERT_EQ(verify.status, 0) << where << "\n" << verify.output << verify.errors;
    EXPECT_EQ(run(next).status, 0) << where;
    removeDraftsOfResults();
    EXPECT_THAT(filesLeft(), IsEmpty()) << where;
  }
  using Arguments = std::function<std::vector<std::string>(int round)>;
  /// Kills the command at points of its way; `prepare` comes before each.
  void killAtPoints(
      const std::string& name, unsigned seed, const Arguments& arguments, const std::function<void()>& prepare = [] {},
      const std::vector<std::string>& next = {"store", "gc"}) {
    prepare();
    const auto total = countSteps(arguments(0));
    int round = 0, killed = 0;
    for (const auto point : points(total, rounds("KERF_KILL_POINTS", 6), seed)) {
      prepare();
      const auto result = runSteps(fmt::format("kill:{}", point), arguments(++round));
      killed += result.status == 128 + SIGKILL;
      const auto where = fmt::format("{} killed at step {} of {}", name, point, total);
      EXPECT_TRUE(result.status == 0 || result.status == 128 + SIGKILL) << where << "\n" << result.errors;
      expectWhole(where, next);
      if (HasFatalFailure()) return;
    }
    // Later runs need fewer steps than the counted one: threads race, and minify knows verdicts of the killed ones.
    EXPECT_GE(2 * killed, round) << name;
    prepare();
    const auto last = run(arguments(++round));
    EXPECT_EQ(last.status, 0) << name << "\n" << last.output << last.errors;
  }
};

TEST_F(KillLoop, ImportIntoANewStore) {
  killAtPoints("import", 1, [&](int) { return std::vector<std::string>{"import", sample}; }, [&] { removeStore(); });
}

TEST_F(KillLoop, ImportIntoAStoreThatHoldsOthers) {
  ASSERT_EQ(run({"run", sample}).status, 0);
  killAtPoints("import", 2, [&](int round) { return std::vector<std::string>{"import", copyOfSample(round)}; });
  EXPECT_EQ(run({"export", "c1", "-o", (folder / "out").string()}).status, 0);
}

TEST_F(KillLoop, RunAndCompare) {
  ASSERT_EQ(run({"import", sample}).status, 0);
  killAtPoints("run", 3, [&](int) { return std::vector<std::string>{"run", "c1"}; });
  killAtPoints("compare", 4, [&](int) { return std::vector<std::string>{"compare", "c1"}; });
}

TEST_F(KillLoop, MinifyGoesOnWhereItWas) {
  ASSERT_EQ(run({"import", sample}).status, 0);
  int number = 0;
  killAtPoints("minify", 5, [&](int) {
    const auto out = folder / fmt::format("out{}", ++number);
    return std::vector<std::string>{"minify", "c1", "--plant", "relu=accuracy", "-o", out.string()};
  });
}

TEST_F(KillLoop, ExportAndImportOfStores) {
  ASSERT_EQ(run({"run", sample}).status, 0);
  const auto carried = (folder / "carried.kerf").string();
  const std::vector<std::string> exporting{"store", "export", carried};
  killAtPoints("store export", 6, [&](int) { return exporting; }, [&] { fs::remove(carried); }, exporting);
  ASSERT_EQ(run({"store", "export", carried}).status, 0);
  killAtPoints(
      "store import", 7, [&](int) { return std::vector<std::string>{"store", "import", carried}; },
      [&] { removeStore(); });
}

}  // namespace
}  // namespace kerf::cli
