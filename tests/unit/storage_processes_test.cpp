// Many processes at one store, and processes that are killed while they change it.
#include <csignal>
#include <thread>

#include "storage/stores/deletions.h"
#include "storage/stores/store_care.h"
#include "storage/stores/store_transfer.h"
#include "tests/unit/storage_testing.h"

namespace kerf::storagetesting {
namespace {

using StoreShared = StoreFolder;

TEST_F(StoreShared, FourWritersAndTwoReadersAtOnce) {
  const int each = rounds("KERF_STORE_WRITES", 12);
  std::vector<pid_t> writers, readers;
  openStore();
  for (int writer = 0; writer < 4; ++writer)
    writers.push_back(startChild([&] {
      auto store = Store::open(path);
      for (int i = 0; store && i < each; ++i) {
        const int index = writer * 1000 + i;
        const auto id = store->addCapture(reproOf(index, noise(3000, unsigned(index))));
        if (!id) return 1;
        const auto row = store->graph(*id, 1);
        if (!row || !store->addRun({0, row->id, "run", "llvm", "{}", "", "ok", 1})) return 2;
        if (i % 3 == 2 && !removeItems(store->database(), {{'c', *id}}, true)) return 3;
        if (i % 5 == 4 && !sweepStore(*store, momentBefore(-1))) return 4;
      }
      return store ? 0 : 5;
    }));
  for (int reader = 0; reader < 2; ++reader)
    readers.push_back(startChild([&] {
      auto store = Store::open(path);
      const auto out = folder / fmt::format("out{}", getpid());
      for (int i = 0; store && i < each; ++i) {
        const auto captures = store->captures();
        if (!captures) return 1;
        for (const auto& row : *captures) {
          const auto graph = store->graph(row.id, 1);
          if (!graph && graph.error().code != ErrorCode::NotFound) return 2;  // deleted meanwhile
          const auto file = graph ? store->materialize(graph->id, out) : Result<fs::path>(out);
          if (!file && file.error().code != ErrorCode::NotFound) return 3;
        }
      }
      return store ? 0 : 5;
    }));
  for (const auto child : writers) EXPECT_EQ(waitForChild(child), 0);
  for (const auto child : readers) EXPECT_EQ(waitForChild(child), 0);
  auto store = openStore();
  ASSERT_TRUE(sweepStore(store, momentBefore(-1)));
  EXPECT_EQ(std::ssize(store.captures().value()), 4 * (each - each / 3));
  EXPECT_EQ(number(store, "SELECT count(*) FROM blobs"), 4 * (each - each / 3));
  EXPECT_TRUE(verifyStore(store)->damage.empty());
}

/// Kills a child that works on the store after a while that grows with the round.
class StoreKilled : public StoreFolder {
 protected:
  void killAt(int round, const std::function<int()>& work) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const auto child = startChild([&] {
      (void)!write(ready[1], "x", 1);
      return work();
    });
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    std::this_thread::sleep_for(std::chrono::microseconds(1500 * round));
    kill(child, SIGKILL);
    waitForChild(child);
    close(ready[0]);
    close(ready[1]);
  }
};

TEST_F(StoreKilled, KillingImportsRemovalsAndCollectionsLeavesAWholeStore) {
  {
    auto store = openStore();
    fill(store);
  }
  const int kills = rounds("KERF_STORE_KILLS", 12);
  for (int round = 0; round < kills; ++round) {
    killAt(round, [&] {
      auto store = Store::open(path);
      for (int i = 0; store && i < 50; ++i) {
        const auto id = store->addCapture(reproOf(round * 100 + i, noise(50'000, unsigned(round * 100 + i))));
        if (id && i % 2 == 1) (void)removeItems(store->database(), {{'c', *id}}, true);
        if (i % 4 == 3) (void)sweepStore(*store, momentBefore(-1));
      }
      return 0;
    });
    auto store = openStore();
    const auto check = verifyStore(store);
    ASSERT_TRUE(check) << check.error().text();
    ASSERT_TRUE(check->damage.empty()) << check->damage[0].message;
    const auto captures = store.captures().value();
    const bool whole = std::ranges::all_of(captures, [](const CaptureRow& row) { return row.graphCount == 1; });
    ASSERT_TRUE(whole) << "an import is there whole or not at all";
    ASSERT_TRUE(store.materialize(1, folder / "out"));
  }
}

TEST_F(StoreKilled, KillingAnExportOrAnImportLeavesNoHalfFile) {
  const auto file = folder / "carried.kerf", other = folder / "other.db";
  {
    auto store = openStore();
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(store.addCapture(reproOf(i, noise(20'000, unsigned(i)))));
    ASSERT_TRUE(exportStore(store, folder / "whole.kerf", {}));
  }
  for (int round = 0; round < rounds("KERF_STORE_KILLS", 12) / 2; ++round) {
    killAt(2 * round, [&] {
      auto store = Store::open(path);
      return store && exportStore(*store, file, {}) ? 0 : 1;
    });
    if (fs::exists(file)) {
      auto carried = openStore(file);
      ASSERT_EQ(carried.captures()->size(), 30u);
      ASSERT_TRUE(verifyStore(carried)->damage.empty());
    }
    fs::remove(file);
    killAt(2 * round, [&] {
      auto store = Store::open(other);
      return store && importStore(*store, folder / "whole.kerf") ? 0 : 1;
    });
    auto target = openStore(other);
    ASSERT_TRUE(verifyStore(target)->damage.empty());
  }
  auto target = openStore(other);
  ASSERT_TRUE(importStore(target, folder / "whole.kerf")) << "goes on where it was stopped";
  EXPECT_EQ(target.captures()->size(), 30u);
}

}  // namespace
}  // namespace kerf::storagetesting
