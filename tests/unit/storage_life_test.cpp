// The life of what is stored: deleting and bringing back, collecting, shrinking, carrying away.
#include <csignal>

#include <gmock/gmock.h>

#include "storage/stores/deletions.h"
#include "storage/stores/store_care.h"
#include "storage/stores/store_transfer.h"
#include "tests/unit/storage_testing.h"

namespace kerf::storagetesting {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StoreLife : public StoreFolder {
 protected:
  static std::vector<std::string> texts(const std::vector<StoreItem>& items) {
    std::vector<std::string> all;
    for (const auto& item : items) all.push_back(item.text());
    return all;
  }
};

TEST_F(StoreLife, DeletesAndBringsBack) {
  auto store = openStore();
  fill(store);
  auto& database = store.database();
  const auto refused = removeItems(database, {{'c', 1}}, false);
  EXPECT_EQ(refused.error().code, ErrorCode::BadUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("m1, p1, r1 depend on it"));
  EXPECT_EQ(store.captures()->size(), 2u);
  const auto deletion = removeItems(database, {{'c', 1}}, true).value();
  EXPECT_THAT(texts(deletion.items), ElementsAre("c1", "m1", "p1", "r1"));
  EXPECT_EQ(store.captures()->size(), 1u);
  EXPECT_EQ(store.graphs()->size(), 1u);
  EXPECT_TRUE(store.runs()->empty());
  EXPECT_TRUE(store.reductions()->empty());
  EXPECT_TRUE(store.repros()->empty());
  const auto gone = store.capture(1);
  EXPECT_EQ(gone.error().code, ErrorCode::NotFound);
  EXPECT_EQ(gone.error().hint.advice, Advice::RestoreItems);
  EXPECT_EQ(gone.error().hint.subject, "c1");
  EXPECT_EQ(store.graph(1, 1).error().code, ErrorCode::NotFound);
  EXPECT_EQ(store.repro(1).error().code, ErrorCode::NotFound);
  EXPECT_EQ(removeItems(database, {{'c', 1}}, true).error().code, ErrorCode::NotFound);
  EXPECT_THAT(texts(restoreItems(database, {{'m', 1}}).value()), ElementsAre("c1", "m1", "p1", "r1"));
  EXPECT_EQ(store.captures()->size(), 2u);
  EXPECT_EQ(store.repros()->size(), 1u);
  EXPECT_EQ(restoreItems(database, {{'c', 1}}).error().code, ErrorCode::BadUsage);
  EXPECT_EQ(restoreItems(database, {{'c', 77}}).error().code, ErrorCode::NotFound);
}

TEST_F(StoreLife, WhatDependsOnADeletedThingDoesNotComeBackAlone) {
  auto store = openStore();
  fill(store);
  auto& database = store.database();
  ASSERT_TRUE(removeItems(database, {{'r', 1}}, false));
  ASSERT_TRUE(removeItems(database, {{'c', 1}}, true));
  const auto alone = restoreItems(database, {{'r', 1}});
  EXPECT_EQ(alone.error().code, ErrorCode::BadUsage);
  EXPECT_EQ(alone.error().hint.subject, "c1 r1");
  EXPECT_TRUE(store.runs()->empty()) << "nothing came back";
  EXPECT_EQ(restoreItems(database, {{'c', 1}, {'r', 1}})->size(), 4u);
}

TEST_F(StoreLife, ImportingADeletedCaptureAgainBringsItBack) {
  auto store = openStore();
  const auto id = store.addCapture(reproOf(1, "data")).value();
  ASSERT_TRUE(removeItems(store.database(), {{'c', id}}, false));
  EXPECT_EQ(store.addCapture(reproOf(1, "data")).value(), id);
  EXPECT_EQ(store.captures()->size(), 1u);
}

TEST_F(StoreLife, DoesNotDeleteWhatAnotherProcessWorksOn) {
  auto store = openStore();
  fill(store);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const auto child = startChild([&] {
    auto mine = Store::open(path);
    const bool started = mine && mine->startReduction({0, 1, "engine", "running", "", 9, 9, 0, "f"});
    (void)!write(ready[1], started ? "y" : "n", 1);
    pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto refused = removeItems(store.database(), {{'m', 2}}, true);
  EXPECT_EQ(refused.error().code, ErrorCode::BadUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("another process"));
  kill(child, SIGKILL);
  waitForChild(child);
  EXPECT_EQ(sweepStore(store, "")->reductions, 1);
  EXPECT_EQ(store.reduction(2)->status, "interrupted");
  EXPECT_TRUE(removeItems(store.database(), {{'m', 2}}, true));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(StoreLife, CollectsWhatNothingNeedsAndShrinks) {
  auto store = openStore();
  fill(store);
  ASSERT_TRUE(removeItems(store.database(), {{'c', 2}}, false));
  auto sweep = sweepStore(store, momentBefore(30 * 24 * 3600)).value();
  EXPECT_EQ(sweep.purged, 0);
  EXPECT_EQ(sweep.blobs, 0) << "what is deleted can still be brought back";
  EXPECT_EQ(store.capture(2).error().code, ErrorCode::NotFound);
  writeText(folder / "kerf.db.999999999.0.tmp", "left by a dead process");
  writeText(folder / fmt::format("kerf.db.{}.0.tmp", getpid()), "of a living one");
  sweep = sweepStore(store, momentBefore(-1)).value();
  EXPECT_EQ(sweep.purged, 1);
  EXPECT_EQ(sweep.blobs, 2);
  EXPECT_EQ(sweep.bytes, 90'003 + 30'000);
  EXPECT_EQ(sweep.files, 1);
  EXPECT_FALSE(fs::exists(folder / "kerf.db.999999999.0.tmp"));
  EXPECT_TRUE(fs::exists(folder / fmt::format("kerf.db.{}.0.tmp", getpid())));
  EXPECT_TRUE(deletions(store.database())->empty());
  EXPECT_GT(figuresOf(store)->freeBytes, 30'000);
  EXPECT_GT(shrinkStore(store).value(), 25'000);
  EXPECT_EQ(figuresOf(store)->freeBytes, 0);
  EXPECT_TRUE(store.materialize(1, folder / "out"));
  EXPECT_TRUE(verifyStore(store)->damage.empty());
}

TEST_F(StoreLife, DraftsOfDeadProcessesGoAndTheUsersFilesStay) {
  auto store = openStore();
  fill(store);
  const std::vector<std::string> drafts = {"99999999.0.tmp",       "99999999.17.tmp",      "99999999.new.tmp",
                                           "99999999.new.tmp-wal", "99999999.new.tmp-shm", "99999999.new.tmp-journal"};
  const std::vector<std::string> others = {"99999999-notes.tmpl",
                                           "2024-notes.tmpl",
                                           "99999999.0.tmp.txt",
                                           "99999999.tmp",
                                           "99999999..tmp",
                                           "99999999.x.tmp",
                                           "99999999.new.tmp-walls",
                                           "99999999.new.tmp.bak",
                                           "-1.0.tmp",
                                           "0.0.tmp",
                                           "+99999999.0.tmp",
                                           "99999999999999999999.0.tmp",
                                           "notes.99999999.0.tmp",
                                           "99999999.0.tmp-wal",
                                           "99999999.-1.tmp"};
  for (const auto* names : {&drafts, &others})
    for (const auto& name : *names) writeText(folder / ("bug.kerf." + name), "text");
  ASSERT_TRUE(exportStore(store, folder / "bug.kerf", {}));
  for (const auto& name : drafts) EXPECT_FALSE(fs::exists(folder / ("bug.kerf." + name))) << name;
  for (const auto& name : others) EXPECT_EQ(fileText(folder / ("bug.kerf." + name)), "text") << name;
}

TEST_F(StoreLife, SaysWhatTheStoreTakes) {
  auto store = openStore();
  fill(store);
  const auto figures = figuresOf(store).value();
  EXPECT_TRUE(figures.checkedPages);
  const auto share = [&](const std::string& kind) {
    return *std::ranges::find(figures.shares, kind, &StoreShare::kind);
  };
  EXPECT_EQ(share("captures").count, 2);
  EXPECT_EQ(share("files").count, 2);
  EXPECT_LT(share("files").bytes, 40'000) << "the log is kept compressed";
  EXPECT_EQ(share("storages").count, 2);
  EXPECT_EQ(share("storages").bytes, 20'064);
  EXPECT_EQ(share("unused blobs").count, 0);
}

TEST_F(StoreLife, CarriesEverythingToAnotherStore) {
  auto store = openStore();
  fill(store);
  const auto file = folder / "carried.kerf", other = folder / "other.db";
  const auto written = exportStore(store, file, {}).value();
  EXPECT_EQ(written.captures.size(), 2u);
  EXPECT_EQ(written.runs, 1);
  EXPECT_EQ(written.reductions, 1);
  EXPECT_EQ(written.repros, 1);
  EXPECT_FALSE(fs::exists(file.string() + "-wal"));
  const auto whole = dump(path);
  EXPECT_EQ(dump(file), whole);
  auto target = openStore(other);
  ASSERT_TRUE(target.addCapture(reproOf(7, "something before")));
  const auto added = importStore(target, file).value();
  EXPECT_EQ(added.captures.at(0).to, 2);
  EXPECT_EQ(added.captures.at(1).to, 3);
  EXPECT_EQ(target.passes(1)->size(), 1u);
  EXPECT_EQ(target.snapshotText("s2").value(), "graph two");
  EXPECT_EQ(target.repro(1)->reductionId, 1);
  const auto graph = target.graph(2, 1).value();
  EXPECT_EQ(target.repro(1)->graphId, graph.id);
  ASSERT_TRUE(target.materialize(graph.id, folder / "out"));
  EXPECT_THAT(fileText(folder / "out/storages/aa11"), HasSubstr(noise(20'000, 1)));
  const auto again = importStore(target, file).value();
  EXPECT_TRUE(again.captures.at(0).known);
  EXPECT_EQ(again.runs + again.reductions + again.repros + again.blobs, 0);
  EXPECT_EQ(target.captures()->size(), 3u);
  EXPECT_TRUE(verifyStore(target)->damage.empty());
}

TEST_F(StoreLife, AnExportCopiesLinksAndLeavesDamageOut) {
  auto store = openStore();
  fill(store);
  writeText(folder / "in/linked.log", "linked");
  NewCapture linked{"torch_trace", (folder / "in/linked.log").string(), "", "h3", {{"g", "", -1, "", {}}}};
  linked.files = {{"linked.log", folder / "in/linked.log", false, {}}};
  ASSERT_TRUE(store.addCapture(linked));
  ASSERT_TRUE(store.database().execute("UPDATE blob_parts SET bytes = zeroblob(64) WHERE length(bytes) = 64"));
  const auto file = folder / "carried.kerf";
  const auto written = exportStore(store, file, {}).value();
  ASSERT_EQ(written.failed.size(), 1u);
  EXPECT_THAT(written.failed[0], HasSubstr("c1: blob"));
  EXPECT_EQ(written.captures.size(), 2u);
  fs::remove(folder / "in/linked.log");
  auto carried = openStore(file);
  EXPECT_EQ(carried.captures()->size(), 2u);
  const auto id = carried.captures()->back().id;
  ASSERT_TRUE(carried.materializeFiles(id, folder / "out"));
  EXPECT_EQ(fileText(folder / "out/linked.log"), "linked");
}

TEST_F(StoreLife, AnExportThatFailsLeavesNothing) {
  auto store = openStore();
  fill(store);
  EXPECT_EQ(exportStore(store, path, {}).error().code, ErrorCode::BadUsage);
  EXPECT_EQ(exportStore(store, folder / "x.kerf", {99}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(exportStore(store, folder / "x.kerf", {}, [](double) { return false; }).error().code, ErrorCode::Cancelled);
  EXPECT_EQ(exportStore(store, folder / "none/x.kerf/", {}).error().code, ErrorCode::Environment);
  EXPECT_FALSE(fs::exists(folder / "x.kerf"));
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(HasSubstr("tmp")));
  writeText(folder / "text",
            "no store at all, and long enough to have a header of a hundred bytes, which this has not");
  EXPECT_EQ(importStore(store, folder / "text").error().code, ErrorCode::BadInput);
}

TEST_F(StoreLife, ALargeFileIsStoredPieceByPiece) {
  constexpr int pieces = 5;
  {
    std::ofstream stream(folder / "in/big.log", std::ios::binary);
    for (int i = 0; i < pieces; ++i) stream << noise(4 << 20, 5) << std::string(5 << 20, char('a' + i));
  }
  auto store = openStore();
  NewCapture capture{"torch_trace", (folder / "in").string(), "", "h", {{"g", "", -1, "", {}}}};
  capture.files = {{"in/big.log", folder / "in/big.log", true, {}}};
  int asked = 0;
  const auto id = store.addCapture(capture, [&](double done) {
    ++asked;
    return done <= 1;
  });
  ASSERT_TRUE(id) << id.error().text();
  EXPECT_GT(asked, 4);
  ASSERT_TRUE(store.materializeFiles(*id, folder / "out"));
  EXPECT_EQ(fileText(folder / "out/in/big.log"), fileText(folder / "in/big.log"));
  EXPECT_EQ(number(store, "SELECT max(length(bytes)) <= 8400000 FROM blob_parts"), 1);
}

}  // namespace
}  // namespace kerf::storagetesting
