// One store of many commands at once, a store that is moved, and exports that come out the same.
#include <thread>

#include "tests/support/cli_test.h"
#include "tests/support/trace_fixture.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class StoreSharing : public CliTest {
 protected:
  /// kerf from a thread: the environment is set before, and nobody changes it meanwhile.
  int statusOf(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), kerf.string());
    const auto result = runProgram(arguments, {}, std::chrono::seconds(800));
    return result ? result->status : -1;
  }
};

TEST_F(StoreSharing, FourImportersAndTwoReadersAtOnce) {
  const char* given = std::getenv("KERF_STORE_WRITES");
  const int each = given == nullptr ? 3 : std::atoi(given);
  setenv("KERF_STORE", store().c_str(), 1);
  setenv("TMPDIR", folder.c_str(), 1);
  std::vector<int> failures(6, 0);
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < each; ++i) {
        const auto file = write(fmt::format("w{}_{}.log", writer, i), traceFixture + std::string("\n"));
        failures[std::size_t(writer)] += statusOf({"import", file.string()}) != 0;
        failures[std::size_t(writer)] += statusOf({"run", sample}) != 0;
      }
    });
  for (int reader = 4; reader < 6; ++reader)
    threads.emplace_back([&, reader] {
      for (int i = 0; i < each; ++i) {
        failures[std::size_t(reader)] += statusOf({"ls"}) != 0;
        failures[std::size_t(reader)] += statusOf({"store", "verify"}) != 0;
      }
    });
  for (auto& thread : threads) thread.join();
  unsetenv("TMPDIR");
  EXPECT_THAT(failures, ::testing::Each(0));
  const auto listed = runJson({"ls"});
  EXPECT_EQ(listed["captures"].size(), std::size_t(4 * each + 1));
  EXPECT_EQ(listed["runs"].size(), std::size_t(4 * each));
  EXPECT_EQ(runJson({"store", "verify"})["whole"], true);
}

TEST_F(StoreSharing, AMovedStoreKeepsWhatItCopied) {
  const auto originals = folder / "originals", moved = folder / "elsewhere/kerf.db";
  fs::copy(fs::path(sample).parent_path(), originals, fs::copy_options::recursive);
  const auto repro = originals / fs::path(sample).filename(), log = originals / "trace.log",
             linked = originals / "l.log";
  std::ofstream(log) << traceFixture;
  std::ofstream(linked) << traceFixture;
  ASSERT_EQ(run({"import", repro.string()}).status, 0);
  ASSERT_EQ(run({"import", log.string()}).status, 0);
  ASSERT_EQ(run({"import", "--link", linked.string()}).status, 0);
  const auto values = run({"run", "c1"}).output;
  const auto text = run({"show", "c2/g1", "--format", "text"}).output;
  ASSERT_FALSE(text.empty());
  fs::create_directories(moved.parent_path());
  fs::rename(store(), moved);
  fs::remove_all(originals);
  const std::vector<std::string> there{"--store", moved.string()};
  const auto inMoved = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), there.begin(), there.end());
    return run(arguments);
  };
  EXPECT_EQ(inMoved({"show", "c2/g1", "--format", "text"}).output, text);
  EXPECT_EQ(inMoved({"run", "c1"}).status, 0);
  EXPECT_EQ(inMoved({"export", "c1", "-o", (folder / "out").string()}).status, 0);
  const auto gone = inMoved({"show", "c3/g1"});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.errors, HasSubstr("only links to it"));
  const auto verify = inMoved({"store", "verify"});
  EXPECT_EQ(verify.status, 1);
  EXPECT_THAT(verify.output, HasSubstr("1 damaged")) << "the link, and nothing that was copied";
}

TEST_F(StoreSharing, TheSameExportTwiceIsTheSameFile) {
  ASSERT_EQ(run({"run", sample}).status, 0);
  ASSERT_EQ(run({"compare", sample}).status, 0);
  ASSERT_EQ(run({"import", write("trace.log", traceFixture).string()}).status, 0);
  ASSERT_EQ(run({"minify", "c1", "--plant", "relu=accuracy", "-o", (folder / "m").string()}).status, 0);
  const auto first = folder / "first.kerf", second = folder / "second.kerf";
  ASSERT_EQ(run({"store", "export", first.string()}).status, 0);
  ASSERT_EQ(run({"store", "verify"}).status, 0);
  ASSERT_EQ(run({"store", "export", second.string()}).status, 0);
  EXPECT_EQ(textOf(first), textOf(second));
  const auto repro = folder / "repro", again = folder / "again";
  ASSERT_EQ(run({"export", "p1", "-o", repro.string()}).status, 0);
  ASSERT_EQ(run({"export", "p1", "-o", again.string()}).status, 0);
  EXPECT_EQ(textOf(repro / "repro.py"), textOf(again / "repro.py"));
}

}  // namespace
}  // namespace kerf::cli
