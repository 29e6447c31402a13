// What rots is noticed: flipped bits anywhere, damaged blobs, changed links, stores that cannot be written.
#include <csignal>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "storage/migrations/migrations.h"
#include "storage/stores/store_care.h"
#include "storage/stores/store_transfer.h"
#include "tests/unit/storage_testing.h"

namespace kerf::storagetesting {
namespace {

using ::testing::HasSubstr;

class StoreRot : public StoreFolder {
 protected:
  /// Flips one bit of a copy of the store.
  fs::path flipped(const std::string& whole, std::size_t at, int bit) {
    auto text = whole;
    text[at] = char(text[at] ^ (1 << bit));
    const auto copy = folder / "flipped.db";
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(copy.string() + suffix);
    writeText(copy, text);
    return copy;
  }
  /// What a flip did to the dump: errors, or nothing; anything else is a silent difference.
  void expectNoSilentDifference(const std::vector<std::string>& whole, const std::vector<std::string>& now,
                                std::size_t at, int& errors) {
    if (now == std::vector<std::string>{"error"}) {
      ++errors;
      return;
    }
    ASSERT_EQ(now.size(), whole.size()) << "at " << at;
    bool failed = false;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      failed = failed || now[i] == "error";
      ASSERT_TRUE(now[i] == "error" || now[i] == whole[i]) << "silently different at byte " << at << ":\n" << now[i];
    }
    errors += failed;
  }
};

TEST_F(StoreRot, AFlippedBitIsAnErrorOrChangesNothing) {
  {
    auto store = openStore();
    fill(store);
  }
  const auto bytes = fileText(path);
  const auto whole = dump(path);
  ASSERT_EQ(std::ranges::count(whole, "error"), 0);
  std::mt19937 random(17);
  int errors = 0, flips = 0;
  constexpr std::size_t page = 4096;
  for (std::size_t start = 0; start < bytes.size(); start += page, ++flips)  // every page, and so every blob
    expectNoSilentDifference(whole, dump(flipped(bytes, start + random() % page, int(random() % 8))), start, errors);
  for (int i = 0; i < rounds("KERF_ROT_FLIPS", 60); ++i, ++flips) {
    const auto at = random() % bytes.size();
    expectNoSilentDifference(whole, dump(flipped(bytes, at, int(random() % 8))), at, errors);
  }
  EXPECT_GT(errors, flips / 2) << "most pages are read by a dump";
}

TEST_F(StoreRot, EveryBitOfThePageHeaderIsGuarded) {
  {
    auto store = openStore();
    fill(store);
  }
  const auto bytes = fileText(path);
  const auto whole = dump(path);
  int errors = 0;
  for (std::size_t at = 16; at < 100; ++at)
    expectNoSilentDifference(whole, dump(flipped(bytes, at, int(at % 8))), at, errors);
  EXPECT_GT(errors, 70);
}

TEST_F(StoreRot, NamesTheDamagedBlobAndWhatNeedsIt) {
  auto store = openStore();
  fill(store);
  ASSERT_TRUE(store.database().execute("UPDATE blob_parts SET bytes = zeroblob(64) WHERE length(bytes) = 64"));
  const auto damaged = store.materialize(1, folder / "out");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::BadInput);
  EXPECT_THAT(damaged.error().message, HasSubstr("its bytes do not have its hash"));
  EXPECT_THAT(damaged.error().message, HasSubstr("capture c1 (/x/repro.py), reduction m1, repro p1"));
  const auto check = verifyStore(store).value();
  ASSERT_EQ(check.damage.size(), 1u);
  EXPECT_EQ(check.damage[0].what, "blob");
  EXPECT_EQ(check.blobs, 4);
}

TEST_F(StoreRot, ImportingAgainMendsADamagedBlob) {
  auto store = openStore();
  fill(store);
  ASSERT_TRUE(store.database().execute("UPDATE blob_parts SET bytes = zeroblob(9) WHERE length(bytes) = 30000"));
  EXPECT_FALSE(store.materializeFiles(2, folder / "out"));
  EXPECT_EQ(waitForChild(startChild([&] {  // another process: this one takes its own blobs for whole
              auto again = openStore();
              NewCapture files{"torch_trace", (folder / "in").string(), "2.11.0", "h2", {{"g", "", -1, "", {}}}};
              files.files = {{"in/trace.log", folder / "in/trace.log", true, {}},
                             {"in/model.bin", folder / "in/model.bin", true, {}}};
              return again.addCapture(files) == std::int64_t{2} ? 0 : 1;
            })),
            0);
  const auto mended = store.materializeFiles(2, folder / "out2");
  ASSERT_TRUE(mended) << mended.error().text();
  EXPECT_EQ(fileText(folder / "out2/in/model.bin"), noise(30'000, 3));
}

TEST_F(StoreRot, NoticesADamagedTextOfAGraph) {
  auto store = openStore();
  fill(store);
  ASSERT_TRUE(
      store.database().execute("UPDATE contents SET text = '# text of backward' WHERE text = '# text of forward'"));
  EXPECT_EQ(store.materialize(1, folder / "out").error().code, ErrorCode::BadInput);
  const auto check = verifyStore(store).value();
  ASSERT_EQ(check.damage.size(), 1u);
  EXPECT_EQ(check.damage[0].what, "content");
}

TEST_F(StoreRot, ALinkedFileMustHaveTheSameBytes) {
  auto store = openStore();
  writeText(folder / "in/a.log", "0123456789");
  NewCapture capture{"torch_trace", (folder / "in").string(), "", "h", {{"g", "", -1, "", {}}}};
  capture.files = {{"in/a.log", folder / "in/a.log", false, {}}};
  const auto id = store.addCapture(capture).value();
  EXPECT_TRUE(store.materializeFiles(id, folder / "out"));
  const auto time = fs::last_write_time(folder / "in/a.log");
  writeText(folder / "in/a.log", "0123456780");
  fs::last_write_time(folder / "in/a.log", time);  // same size, same time
  const auto changed = store.materializeFiles(id, folder / "out2");
  EXPECT_EQ(changed.error().code, ErrorCode::BadInput);
  EXPECT_THAT(changed.error().message, HasSubstr("has changed since it was imported"));
  EXPECT_EQ(verifyStore(store)->damage.at(0).what, "link");
}

TEST_F(StoreRot, AnOlderStoreIsCopiedAndStaysAsABackup) {
  {
    auto database = Database::open(path).value();
    ASSERT_TRUE(migrate(database, 2));
    ASSERT_TRUE(database.execute("INSERT INTO verdicts VALUES('k', 'v')"));
  }
  const auto before = fileText(path);
  {
    auto store = openStore();
    EXPECT_EQ(store.verdict("k").value().value(), "v");
    EXPECT_TRUE(store.database().checksPages());
    EXPECT_EQ(store.database().queryInteger("PRAGMA user_version").value().value(), newestSchema());
  }
  const auto backup = path.string() + ".v2.bak";
  ASSERT_TRUE(fs::exists(backup));
  auto old = Database::open(backup, Database::Access::Read).value();
  EXPECT_EQ(old.queryInteger("PRAGMA user_version").value().value(), 2);
  EXPECT_EQ(fileText(backup).size(), before.size());
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(HasSubstr("tmp")));
}

TEST_F(StoreRot, SeveralProcessesUpgradeAnOlderStoreOnce) {
  {
    auto database = Database::open(path).value();
    ASSERT_TRUE(migrate(database, 2));
  }
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(startChild([&] {
      auto store = Store::open(path);
      return store && store->addCapture({"repro", fmt::format("/x/{}", getpid()), "", "h", {}}) ? 0 : 1;
    }));
  for (const auto child : children) EXPECT_EQ(waitForChild(child), 0);
  EXPECT_EQ(openStore().captures()->size(), 4u);
  EXPECT_TRUE(fs::exists(path.string() + ".v2.bak"));
  EXPECT_FALSE(fs::exists(path.string() + ".v2.bak.2"));
}

TEST_F(StoreRot, AStoreThatWouldDoSomethingByItselfIsRefused) {
  for (const char* sql : {"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM captures; END",
                          "ALTER TABLE runs RENAME TO others; CREATE VIEW runs AS WITH RECURSIVE c(x) AS (SELECT 1 "
                          "UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c"}) {
    const auto file = folder / "hostile.db";
    fs::remove(file);
    {
      openStore(file);
    }
    {
      auto database = Database::open(file).value();
      ASSERT_TRUE(database.executeScript(sql));
    }
    const auto refused = Store::open(file);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::BadInput);
    EXPECT_THAT(refused.error().message, HasSubstr("triggers, views"));
    auto mine = openStore();
    EXPECT_EQ(importStore(mine, file).error().code, ErrorCode::BadInput);
  }
}

TEST_F(StoreRot, AStoreThatCannotBeWrittenCanBeRead) {
  for (const int schema : {newestSchema(), 2}) {
    const auto file = folder / fmt::format("only_{}/kerf.db", schema);
    fs::create_directories(file.parent_path());
    {
      auto database = Database::open(file).value();
      ASSERT_TRUE(migrate(database, schema));
      ASSERT_TRUE(database.execute("INSERT INTO verdicts VALUES('k', 'v')"));
    }
    fs::permissions(file, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
    fs::permissions(file.parent_path(), fs::perms(0555));
    fs::permissions(folder, fs::perms(0755));
    EXPECT_EQ(waitForChild(startChild([&] {
                if (getuid() == 0 && setuid(65534) != 0) return 9;
                auto store = Store::open(file);
                if (!store || !store->readOnly()) return 1;
                if (!store->captures() || store->verdict("k").value() != "v") return 2;
                const auto written = store->putVerdict("a", "b");
                return !written && written.error().code == ErrorCode::Environment ? 0 : 3;
              })),
              0)
        << "schema " << schema;
    fs::permissions(file.parent_path(), fs::perms::owner_all);
  }
}

TEST_F(StoreRot, AFullDiskFailsTheImportAndLeavesTheStoreWhole) {
  {
    auto store = openStore();
    fill(store);
  }
  const auto whole = dump(path);
  const auto body = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto store = Store::open(path);
    const auto big = noise(400'000, 9);
    NewGraph graph{"big", "h", 1, "# big", {{"cc33", std::as_bytes(std::span(big))}}};
    const auto id = store->addCapture({"repro", "/big", "", "hb", {graph}});
    if (id || id.error().code != ErrorCode::Environment) return 1;
    return store->captures()->size() == 2 ? 0 : 2;
  };
  EXPECT_EQ(waitForChild(startChild(body)), 0);
  EXPECT_EQ(dump(path), whole);
  auto store = openStore();
  EXPECT_TRUE(verifyStore(store)->damage.empty());
}

}  // namespace
}  // namespace kerf::storagetesting
