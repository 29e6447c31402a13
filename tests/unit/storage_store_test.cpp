// The store: transactions, deduplication, schema versions, two writers, kill -9, resuming.
#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/database/database.h"
#include "storage/migrations/migrations.h"
#include "storage/stores/store.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() /
             fmt::format("kerf_store_{}_{}", getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    path = folder / "kerf.db";
  }
  void TearDown() override { fs::remove_all(folder); }

  Store openStore() {
    auto store = Store::open(path);
    EXPECT_TRUE(store) << store.error().text();
    return std::move(*store);
  }
  std::int64_t count(const std::string& table) {
    auto database = Database::open(path);
    return database->queryInteger("SELECT count(*) FROM " + table).value().value();
  }

  fs::path folder, path;
};

NewGraph graphNamed(const std::string& name, const std::string& storage, std::string_view bytes) {
  return {name, "hash-of-" + name, 3, "# text of " + name, {{storage, bytesOf(bytes)}}};
}

std::string fileText(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(StoreTest, GivesACaptureBackAsFiles) {
  auto store = openStore();
  const std::string data = "0123456789abcdef";
  const auto id = store.addCapture({"repro", "/x/repro.py", "2.11.0", "h", {graphNamed("forward", "ab12", data)}});
  ASSERT_TRUE(id) << id.error().text();
  const auto graph = store.graph(*id, 1).value();
  EXPECT_EQ(graph.nodes, 3);
  const auto file = store.materialize(graph.id, folder / "out");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(fileText(*file), "# text of forward");
  EXPECT_THAT(fileText(folder / "out/storages/ab12"), HasSubstr(data));
}

TEST_F(StoreTest, ImportingTheSameFileAgainReturnsTheOldRow) {
  auto store = openStore();
  const NewCapture capture{"repro", "/x/repro.py", "2.11.0", "h", {graphNamed("forward", "ab12", "data")}};
  const auto first = store.addCapture(capture).value();
  EXPECT_EQ(store.addCapture(capture).value(), first);
  EXPECT_EQ(store.captures().value().size(), 1u);
  EXPECT_EQ(store.captures().value().front().graphCount, 1);
}

TEST_F(StoreTest, KeepsEqualBytesOnceUnderSeveralNames) {
  auto store = openStore();
  const std::string data(1000, 'x');
  ASSERT_TRUE(store.addCapture({"repro", "a", "", "h1", {graphNamed("f", "n1", data), graphNamed("g", "n2", data)}}));
  ASSERT_TRUE(store.addCapture({"repro", "b", "", "h2", {graphNamed("f", "n1", data)}}));
  EXPECT_EQ(count("blobs"), 1);
  EXPECT_EQ(count("contents WHERE hash <> ''"), 2);
  EXPECT_EQ(count("graphs"), 3);
}

TEST_F(StoreTest, KeepsAnEmptyStorage) {
  auto store = openStore();
  const auto id = store.addCapture({"repro", "a", "", "h", {graphNamed("f", "empty", "")}}).value();
  const auto file = store.materialize(store.graph(id, 1)->id, folder / "out");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_TRUE(fs::exists(folder / "out/storages/empty"));
}

TEST_F(StoreTest, RefusesAStorageNameThatLeavesTheFolder) {
  auto store = openStore();
  const auto id = store.addCapture({"repro", "a", "", "h", {graphNamed("f", "../../evil", "x")}}).value();
  const auto file = store.materialize(store.graph(id, 1)->id, folder / "out");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::BadInput);
  EXPECT_FALSE(fs::exists(folder / "evil"));
}

TEST_F(StoreTest, NamesWhatIsMissing) {
  auto store = openStore();
  EXPECT_THAT(store.capture(7).error().message, HasSubstr("c7"));
  EXPECT_THAT(store.graph(7, 2).error().message, HasSubstr("c7/g2"));
  EXPECT_THAT(store.reduction(4).error().message, HasSubstr("m4"));
  EXPECT_EQ(store.repro(4).error().code, ErrorCode::NotFound);
}

TEST_F(StoreTest, RefusesAStoreOfANewerKerfAndLeavesItAlone) {
  {
    auto store = openStore();
  }
  {
    auto database = Database::open(path).value();
    ASSERT_TRUE(database.executeScript("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  const auto before = fileText(path);
  const auto store = Store::open(path);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::BadInput);
  EXPECT_THAT(store.error().message,
              HasSubstr(fmt::format("newer Kerf (schema 99, this Kerf knows {})", newestSchema())));
  EXPECT_EQ(fileText(path), before);
  EXPECT_FALSE(fs::exists(path.string() + "-wal"));
}

TEST_F(StoreTest, RefusesAnotherProgramsDatabase) {
  {
    auto database = Database::open(path).value();
    ASSERT_TRUE(database.executeScript("CREATE TABLE theirs(x)"));
  }
  const auto before = fileText(path);
  const auto store = Store::open(path);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::BadInput);
  EXPECT_THAT(store.error().message, HasSubstr("another program"));
  EXPECT_EQ(fileText(path), before);
}

TEST_F(StoreTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path) << std::string(5000, 'z');
  EXPECT_EQ(Store::open(path).error().code, ErrorCode::BadInput);
  EXPECT_EQ(fileText(path), std::string(5000, 'z'));
  EXPECT_EQ(Store::open(folder).error().code, ErrorCode::BadInput);
  EXPECT_EQ(Store::open("/proc/nowhere/kerf.db").error().code, ErrorCode::Environment);
}

/// Runs `body` in a child process; the child's exit code is what body returns.
pid_t inChild(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  return pid;
}

int waitFor(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int addMany(const fs::path& path, int writer, int captures) {
  auto store = Store::open(path);
  if (!store) return 2;
  for (int i = 0; i < captures; ++i) {
    const auto name = fmt::format("{}-{}", writer, i);
    const auto id = store->addCapture({"repro", name, "", name, {graphNamed(name, "n", "data " + name)}});
    if (!id || !store->putVerdict(name, "{}")) return 3;
  }
  return 0;
}

TEST_F(StoreTest, TwoProcessesCreateAndWriteAtOnce) {
  std::vector<pid_t> children;
  for (int writer = 0; writer < 3; ++writer)
    children.push_back(inChild([&, writer] { return addMany(path, writer, 60); }));
  for (const auto child : children) EXPECT_EQ(waitFor(child), 0);
  EXPECT_EQ(count("captures"), 180);
  EXPECT_EQ(count("graphs"), 180);
  EXPECT_EQ(count("verdicts"), 180);
}

int addBigCaptures(const fs::path& path, int ready) {
  auto store = Store::open(path);
  if (!store) return 2;
  std::string bytes(1 << 20, 'a');
  for (int i = 0; i < 100'000; ++i) {
    bytes.replace(0, 8, fmt::format("{:08}", i));
    std::vector<NewGraph> graphs;
    for (int g = 0; g < 4; ++g) graphs.push_back(graphNamed(fmt::format("{}-{}", i, g), "n", bytes));
    if (!store->addCapture({"repro", std::to_string(i), "", std::to_string(i), graphs})) return 3;
    if (write(ready, "x", 1) != 1) return 4;
  }
  return 0;
}

TEST_F(StoreTest, KillNineInTheMiddleOfAnImportLeavesNothingHalfDone) {
  for (int round = 0; round < 3; ++round) {
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const auto child = inChild([&] { return addBigCaptures(path, ready[1]); });
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(7 + 13 * round));
    kill(child, SIGKILL);
    EXPECT_EQ(waitFor(child), 128 + SIGKILL);
    close(ready[0]);
    close(ready[1]);
    auto store = openStore();
    const auto captures = store.captures().value();
    ASSERT_GE(captures.size(), 1u);
    for (const auto& capture : captures) {
      ASSERT_EQ(capture.graphCount, 4);
      const auto graphs = store.graphs(capture.id).value();
      for (const auto& graph : graphs) ASSERT_TRUE(store.materialize(graph.id, folder / "out"));
      fs::remove_all(folder / "out");
    }
    fs::remove(path);
    fs::remove(path.string() + "-wal");
    fs::remove(path.string() + "-shm");
  }
}

TEST_F(StoreTest, StepsSurviveKillNineAndTheReductionResumes) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const auto child = inChild([&] {
    auto store = Store::open(path);
    const auto capture = store->addCapture({"repro", "a", "", "h", {graphNamed("f", "n", "data")}}).value();
    const auto graph = store->graph(capture, 1).value();
    const auto id = store->startReduction({0, graph.id, "engine relu=accuracy", "running", "", 87, 87, 0, ""}).value();
    for (int i = 0; i < 3; ++i) {
      const StepRow step{0, id, i, i + 1, "delta", "g", "accuracy:magnitude", 80 - i, 1, 64, 5};
      if (!store->addStep(step, graphNamed(fmt::format("s{}", i), "n", "data"))) return 3;
    }
    (void)!write(ready[1], "x", 1);
    pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  auto store = openStore();
  const auto graph = store.graphs().value().front();
  EXPECT_EQ(store.resumable(graph.id, "engine relu=accuracy").value(), std::nullopt) << "its process still lives";
  kill(child, SIGKILL);
  waitFor(child);
  const auto found = store.resumable(graph.id, "engine relu=accuracy").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bestNodes, 78);
  EXPECT_EQ(found->tests, 3);
  const auto steps = store.steps(found->id).value();
  ASSERT_EQ(steps.size(), 3u);
  const auto file = store.materializeStep(steps.back().id, folder / "step").value();
  EXPECT_EQ(fileText(file), "# text of s2");
  EXPECT_FALSE(store.resumable(graph.id, "another oracle").value());
  ASSERT_TRUE(store.finishReduction(found->id, "finished", 3, 9, "accuracy:magnitude"));
  EXPECT_FALSE(store.resumable(graph.id, "engine relu=accuracy").value());
}

TEST_F(StoreTest, ResumesAnEqualGraphOfAnotherCapture) {
  auto store = openStore();
  const auto first = store.addCapture({"repro", "a", "", "h", {graphNamed("f", "n", "data")}}).value();
  const auto second = store.addCapture({"repro", "b", "", "h", {graphNamed("f", "n", "data")}}).value();
  ASSERT_NE(first, second);
  ASSERT_TRUE(store.startReduction({0, store.graph(first, 1)->id, "o", "cancelled", "", 9, 9, 0, ""}));
  EXPECT_TRUE(store.resumable(store.graph(second, 1)->id, "o").value());
}

TEST_F(StoreTest, KeepsRunsPassesComparisonsWithNan) {
  auto store = openStore();
  const auto capture = store.addCapture({"repro", "a", "", "h", {graphNamed("f", "n", "data")}}).value();
  const auto run = store.addRun({0, store.graph(capture, 1)->id, "compare", "llvm", "{}", "", "running", 0}).value();
  ASSERT_TRUE(store.putSnapshot("s1", "graph():", 4));
  ASSERT_TRUE(store.putSnapshot("s1", "graph():", 4));
  ASSERT_TRUE(store.addPasses(run, {{0, run, 1, "cse", "post_grad", "s0", "s1", 5, 4, 77, true}}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(store.addComparisons(run, {{.name = "out0",
                                          .reason = "NaN",
                                          .maxAbsError = nan,
                                          .rmseRes = 1.5,
                                          .rmseRef = 2.5,
                                          .ratioToLimit = nan,
                                          .nanRes = 3,
                                          .infRes = 4}}));
  ASSERT_TRUE(store.finishRun(run, "different", 1234));
  EXPECT_EQ(store.runs().value().front().status, "different");
  EXPECT_EQ(store.passes(run).value().front().nodesAfter, 4);
  EXPECT_EQ(store.snapshotText("s1").value(), "graph():");
  const auto comparison = store.comparisons(run).value().front();
  EXPECT_TRUE(std::isnan(comparison.maxAbsError));
  EXPECT_EQ(comparison.rmseRef, 2.5);
  EXPECT_EQ(comparison.infRes, 4);
}

TEST_F(StoreTest, KeepsReprosWithAndWithoutAReduction) {
  auto store = openStore();
  const auto capture = store.addCapture({"repro", "a", "", "h", {graphNamed("f", "n", "data")}}).value();
  const auto graph = store.graph(capture, 1)->id;
  const auto id = store.addRepro({0, std::nullopt, graph, "out", "h", "", 3}, graphNamed("r", "n", "data")).value();
  EXPECT_EQ(store.repro(id)->reductionId, std::nullopt);
  EXPECT_EQ(fileText(store.materializeRepro(id, folder / "r").value()), "# text of r");
  EXPECT_FALSE(store.addRepro({0, 99, graph, "out", "h", "", 3}, graphNamed("r2", "n", "data")));
  EXPECT_EQ(count("contents WHERE hash <> ''"), 2) << "a failed write must leave nothing";
}

TEST_F(StoreTest, AFindingIsReplacedByASmallerOneAndGoesWithItsReduction) {
  auto store = openStore();
  const auto capture = store.addCapture({"repro", "a", "", "h", {graphNamed("f", "n", "data")}}).value();
  const auto id =
      store.startReduction({0, store.graph(capture, 1)->id, "o", "finished", "", 9, 9, 0, "accuracy:nan"}).value();
  EXPECT_EQ(store.slips(id)->size(), 0u);
  ASSERT_TRUE(store.putSlip({0, id, 1, "crash:SIGSEGV:run", "first", 1, "h1", 8}, graphNamed("s1", "n", "data")));
  ASSERT_TRUE(store.putSlip({0, id, 2, "hang:run", "another", 1, "h2", 5}, graphNamed("s2", "n", "data")));
  ASSERT_TRUE(store.putSlip({0, id, 1, "crash:SIGSEGV:run", "smaller", 4, "h3", 3}, graphNamed("s3", "n", "data")));
  const auto slips = store.slips(id).value();
  ASSERT_EQ(slips.size(), 2u);
  EXPECT_EQ(slips[0].number, 1);
  EXPECT_EQ(slips[0].detail, "smaller");
  EXPECT_EQ(slips[0].tests, 4);
  EXPECT_EQ(slips[0].nodes, 3);
  EXPECT_EQ(fileText(store.materializeSlip(slips[0].id, folder / "r").value()), "# text of s3");
  EXPECT_FALSE(store.putSlip({0, 99, 1, "f", "d", 1, "h", 3}, graphNamed("s4", "n", "data")));
  ASSERT_TRUE(store.database().execute("DELETE FROM reductions"));
  EXPECT_EQ(count("slips"), 0);
}

TEST_F(StoreTest, ANodeHasOneNoteByTheContentOfItsGraph) {
  auto store = openStore();
  ASSERT_TRUE(store.putNote({"h1", "relu", "", "/x/a.py", "forward"}));
  ASSERT_TRUE(store.putNote({"h2", "relu", "other graph", "c3", "joint"}));
  ASSERT_TRUE(store.putNote({"h1", "relu", "wrong scale", "/x/b.py", "forward"}));
  const auto ofOne = store.notes("h1").value();
  ASSERT_EQ(ofOne.size(), 1u);
  EXPECT_EQ(ofOne[0].text, "wrong scale");
  EXPECT_EQ(ofOne[0].capture, "/x/b.py");
  EXPECT_EQ(ofOne[0].changedAt.size(), 20u) << ofOne[0].changedAt;
  EXPECT_EQ(store.notes()->size(), 2u);
  ASSERT_TRUE(store.forgetNote("h1", "relu"));
  ASSERT_TRUE(store.forgetNote("h1", "never noted"));
  EXPECT_EQ(store.notes("h1")->size(), 0u);
  EXPECT_EQ(store.notes()->size(), 1u);
}

TEST_F(StoreTest, DefaultPathFollowsTheEnvironment) {
  setenv("KERF_STORE", "/a/b.db", 1);
  EXPECT_EQ(Store::defaultPath(), "/a/b.db");
  unsetenv("KERF_STORE");
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(Store::defaultPath(), "/data/kerf/kerf.db");
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(Store::defaultPath(), "/home/me/.local/share/kerf/kerf.db");
}

}  // namespace
}  // namespace kerf
