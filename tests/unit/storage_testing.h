// What the tests of the store's life share: a folder, a store with something of everything in it, and its dump.
#pragma once

#include <fstream>
#include <functional>
#include <random>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::storagetesting {

namespace fs = std::filesystem;

inline std::string fileText(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
inline void writeText(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
inline std::string noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (auto& c : text) c = char(random());
  return text;
}

/// How many rounds a test does: `usual`, or what the environment variable says.
inline int rounds(const char* variable, int usual) {
  const char* given = std::getenv(variable);
  return given == nullptr ? usual : std::atoi(given);
}

/// Runs `body` in a child process; its exit status, or 128 and the signal.
inline pid_t startChild(const std::function<int()>& body) {
  const auto child = fork();
  if (child == 0) _exit(body());
  return child;
}
inline int waitForChild(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class StoreFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() /
             fmt::format("kerf_life_{}_{}", getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder / "in");
    path = folder / "kerf.db";
  }
  void TearDown() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }
  Store openStore(const fs::path& file = {}) {
    auto store = Store::open(file.empty() ? path : file);
    EXPECT_TRUE(store) << store.error().text();
    return std::move(*store);
  }

  static std::int64_t number(Store& store, const std::string& sql) {
    return store.database().queryInteger(sql).value().value();
  }
  /// A capture of its own: a repro with one storage of noise.
  static NewCapture reproOf(int index, const std::string& data) {
    NewGraph graph{"g", fmt::format("hash{}", index), 1, fmt::format("# text {}", index), {}};
    graph.blobs = {{"aa", std::as_bytes(std::span(data))}};
    return {"repro", fmt::format("/x/{}", index), "", fmt::format("h{}", index), {graph}};
  }

  /// Two captures (a repro with storages, and files), a run with passes and comparisons, a reduction and a repro.
  void fill(Store& store) {
    const std::string weights = noise(20'000, 1), bias = noise(64, 2);
    NewGraph graph{"forward", "hash-of-forward", 3, "# text of forward", {}};
    graph.blobs = {{"aa11", std::as_bytes(std::span(weights))}, {"bb22", std::as_bytes(std::span(bias))}};
    const auto repro = store.addCapture({"repro", "/x/repro.py", "2.11.0", "h1", {graph}}).value();
    std::string log(90'000, 'a');
    log += "end";
    writeText(folder / "in/trace.log", log);
    writeText(folder / "in/model.bin", noise(30'000, 3));
    NewCapture files{"torch_trace", (folder / "in").string(), "2.11.0", "h2", {{"g", "", -1, "", {}}}};
    files.files = {{"in/trace.log", folder / "in/trace.log", true, {}},
                   {"in/model.bin", folder / "in/model.bin", true, {}}};
    ASSERT_TRUE(store.addCapture(files));
    const auto row = store.graph(repro, 1).value();
    const auto run = store.addRun({0, row.id, "compare", "llvm", "{}", "2026-01-01T00:00:00Z", "same", 7}).value();
    ASSERT_TRUE(store.putSnapshot("s1", "graph one", 1));
    ASSERT_TRUE(store.putSnapshot("s2", "graph two", 2));
    ASSERT_TRUE(store.addPasses(run, {{0, run, 0, "cse", "aot", "s1", "s2", 3, 2, 11, true}}));
    ASSERT_TRUE(store.addComparisons(
        run, {{.name = "out0", .same = true, .reason = "close", .maxAbsError = 1e-6, .ratioToLimit = 0.5}}));
    const auto reduction =
        store.startReduction({0, row.id, "engine", "finished", "2026-01-01T00:00:00Z", 9, 9, 0, "f"}).value();
    NewGraph step{"s", "hash-of-s", 2, "# step", {}};
    step.blobs = {{"bb22", std::as_bytes(std::span(bias))}};
    ASSERT_TRUE(store.addStep({0, reduction, 0, 1, "delta", "g", "f", 2, 1, 64, 5}, step));
    ASSERT_TRUE(store.putSlip({0, reduction, 1, "crash:SIGSEGV:run", "a crash", 3, "hash-of-s", 2}, step));
    ASSERT_TRUE(store.finishReduction(reduction, "finished", 2, 1, "f"));
    ASSERT_TRUE(store.addRepro({0, reduction, row.id, "/x/small", "hash", "2026-01-01T00:00:01Z", 2}, step));
  }

  /// Everything that can be read out of a store; an error in place of what cannot.
  std::vector<std::string> dump(const fs::path& file) {
    auto opened = Store::open(file);
    if (!opened) return {"error"};
    auto& store = *opened;
    std::vector<std::string> lines;
    const auto add = [&](const auto& result, const auto& text) {
      lines.push_back(result ? text(*result) : std::string("error"));
    };
    const auto out = folder / "out";
    const auto tree = [&](const fs::path&) {
      std::vector<std::string> parts;
      for (const auto& entry : fs::recursive_directory_iterator(out))
        if (entry.is_regular_file())
          parts.push_back(fs::relative(entry.path(), out).string() + "=" + fileText(entry.path()));
      std::ranges::sort(parts);
      fs::remove_all(out);
      return fmt::format("{}", fmt::join(parts, "\n"));
    };
    const auto each = [&](const auto& rows, const auto& text) {
      add(rows, [&](const auto& list) {
        std::string all;
        for (const auto& row : list) all += text(row) + "\n";
        return all;
      });
    };
    each(store.captures(), [](const CaptureRow& row) {
      return fmt::format("{} {} {} {} {} {} {}", row.id, row.kind, row.path, row.torchVersion, row.contentHash,
                         row.graphCount, row.fileCount);
    });
    each(store.graphs(), [](const GraphRow& row) { return fmt::format("{} {} {}", row.id, row.name, row.hash); });
    each(store.runs(), [](const RunRow& row) { return fmt::format("{} {} {}", row.id, row.status, row.nanoseconds); });
    each(store.passes(1), [](const SnapshotRow& row) { return row.pass + row.hashBefore + row.hashAfter; });
    each(store.comparisons(1),
         [](const OutputVerdict& row) { return fmt::format("{} {}", row.name, row.maxAbsError); });
    each(store.reductions(), [](const ReductionRow& row) { return fmt::format("{} {}", row.oracle, row.bestNodes); });
    each(store.steps(1), [](const StepRow& row) { return fmt::format("{} {}", row.reduction, row.nodes); });
    each(store.slips(1), [](const SlipRow& row) { return fmt::format("{} {}", row.fingerprint, row.tests); });
    each(store.repros(), [](const ReproRow& row) { return fmt::format("{} {}", row.path, row.hash); });
    for (const char* hash : {"s1", "s2"}) add(store.snapshotText(hash), [](const std::string& text) { return text; });
    add(store.materialize(1, out), tree);
    fs::remove_all(out);
    add(store.materializeFiles(2, out), tree);
    fs::remove_all(out);
    add(store.materializeStep(1, out), tree);
    fs::remove_all(out);
    add(store.materializeSlip(1, out), tree);
    fs::remove_all(out);
    add(store.materializeRepro(1, out), tree);
    fs::remove_all(out);
    return lines;
  }

  fs::path folder, path;
};

}  // namespace kerf::storagetesting
