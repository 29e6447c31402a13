// Rot in the write-ahead log that a killed process leaves: SQLite drops what is behind it, the store says so.
#include <gmock/gmock.h>

#include "storage/database/log_check.h"
#include "storage/stores/store_care.h"
#include "tests/unit/storage_testing.h"

namespace kerf::storagetesting {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LogRot : public StoreFolder {
 protected:
  enum class Index { Beside, Missing };

  /// The files of a store as a process leaves them that is killed: nothing is in the main file yet but the schema.
  void SetUp() override {
    StoreFolder::SetUp();
    auto store = openStore();
    fill(store);
    main = fileText(path);
    log = fileText(path.string() + "-wal");
    index = fileText(path.string() + "-shm");
    whole = dump(path);
    frames = (log.size() - 32) / frameBytes;
    ASSERT_GT(frames, 20u);
  }
  /// A store with these files, nobody's so far.
  fs::path crashed(const std::string& logText, Index beside) {
    const auto copy = folder / "crashed.db";
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().filename().string().starts_with("crashed.db")) fs::remove(entry.path());
    writeText(copy, main);
    writeText(copy.string() + "-wal", logText);
    if (beside == Index::Beside) writeText(copy.string() + "-shm", index);
    return copy;
  }
  std::string flipped(std::size_t at, int bit) const {
    auto text = log;
    text[at] = char(text[at] ^ (1 << bit));
    return text;
  }
  /// Whether the store says that something is lost, or has lost nothing.
  void expectSaid(const fs::path& copy, const std::string& where) {
    const auto now = dump(copy);
    const bool failed = std::ranges::count(now, "error") > 0 && keptLogs(copy).empty();
    if (failed || !keptLogs(copy).empty()) {
      ++said;
      return;
    }
    EXPECT_EQ(now, whole) << "silently different: " << where;
  }

  static constexpr std::size_t frameBytes = 24 + 4096;
  std::string main, log, index;
  std::vector<std::string> whole;
  std::size_t frames = 0;
  int said = 0;
};

TEST_F(LogRot, AFlippedBitIsSaidOrChangesNothing) {
  std::mt19937 random(23);
  const int rounds = storagetesting::rounds("KERF_ROT_FLIPS", 1);
  for (const Index beside : {Index::Beside, Index::Missing}) {
    for (std::size_t at = 0; at < 32; ++at)
      expectSaid(crashed(flipped(at, int(random() % 8)), beside), fmt::format("byte {} of the header", at));
    for (std::size_t frame = 0; frame < frames; ++frame) {
      if (rounds == 1 && (frame % 2 == 0) != (beside == Index::Beside)) continue;  // the other half is enough
      for (int i = 0; i < rounds; ++i) {
        const auto begin = 32 + frame * frameBytes;
        const auto head = begin + random() % 24, page = begin + 24 + random() % 4096;
        for (const auto at : {head, page})
          expectSaid(crashed(flipped(at, int(random() % 8)), beside), fmt::format("byte {}", at));
      }
    }
  }
  EXPECT_GT(said, int(frames)) << "most frames hold something that is needed";
}

TEST_F(LogRot, AWholeLogOrOneCutByAKillIsNoDamage) {
  for (const Index beside : {Index::Beside, Index::Missing}) {
    EXPECT_EQ(dump(crashed(log, beside)), whole);
    EXPECT_THAT(keptLogs(folder / "crashed.db"), IsEmpty());
  }
  std::mt19937 random(24);
  for (int i = 0; i < 20; ++i) {  // a write that did not come to its end; nothing counted on it
    const auto copy = crashed(log.substr(0, random() % log.size()), Index::Missing);
    ASSERT_TRUE(Store::open(copy));
    EXPECT_THAT(keptLogs(copy), IsEmpty());
  }
}

TEST_F(LogRot, ALogThatLostItsEndIsNoticedByItsIndex) {
  const auto copy = crashed(log.substr(0, log.size() - frameBytes), Index::Beside);
  const auto damage = damageOfLog(copy);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->frames, std::int64_t(frames));
  EXPECT_LT(damage->whole, std::int64_t(frames));
}

TEST_F(LogRot, TheLogIsKeptAndVerifyTellsOfItUntilItIsDeleted) {
  const auto copy = crashed(flipped(32 + 10 * frameBytes + 500, 3), Index::Beside);
  const auto damaged = fileText(copy.string() + "-wal");
  auto store = openStore(copy);
  const auto kept = keptLogs(copy);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(fileText(kept[0]), damaged);
  const auto check = verifyStore(store).value();
  ASSERT_EQ(check.damage.size(), 1u);
  EXPECT_EQ(check.damage[0].what, "log");
  EXPECT_EQ(check.damage[0].id, kept[0].string());
  EXPECT_THAT(check.damage[0].message, HasSubstr("delete the file"));
  fs::remove(kept[0]);
  EXPECT_THAT(verifyStore(store)->damage, IsEmpty());
}

TEST_F(LogRot, ALogThatIsGoneOrHardlyBegunIsNoticedByItsIndex) {
  for (const std::size_t bytes : {0, 31, 500, 567, 600}) {
    const auto copy = crashed(log.substr(0, bytes), Index::Beside);
    const auto damage = damageOfLog(copy);
    ASSERT_TRUE(damage) << bytes;
    EXPECT_EQ(damage->frames, std::int64_t(frames));
    EXPECT_EQ(damage->whole, 0);
    EXPECT_FALSE(damageOfLog(crashed(log.substr(0, bytes), Index::Missing))) << "a write that never came to its end";
  }
  const auto copy = crashed("", Index::Beside);
  fs::remove(copy.string() + "-wal");
  const auto damage = damageOfLog(copy);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->text(), fmt::format("the log, which had {} pages, is gone or cut short", frames));
  auto store = openStore(copy);
  ASSERT_EQ(keptLogs(copy).size(), 1u);
  EXPECT_EQ(verifyStore(store)->damage.size(), 1u) << "and verify tells of it";
}

TEST_F(LogRot, ALogThatIsGoneWithAllItsPagesCopiedIsNoDamage) {
  {
    auto store = openStore();
    ASSERT_TRUE(store.putSnapshot("s3", "graph three", 1));
    ASSERT_TRUE(store.database().query("PRAGMA wal_checkpoint(FULL)", {}, [](const auto&) {}));
    main = fileText(path);
    index = fileText(path.string() + "-shm");
  }
  for (const std::size_t bytes : {0, 500}) EXPECT_FALSE(damageOfLog(crashed(log.substr(0, bytes), Index::Beside)));
  EXPECT_EQ(dump(crashed("", Index::Beside)), whole);
}

TEST_F(LogRot, ADamagedHeaderIsNamed) {
  const auto known = damageOfLog(crashed(flipped(3, 5), Index::Beside));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->text(),
            fmt::format("the header of the log is damaged, and none of its {} pages can be read", frames));
  const auto unknown = damageOfLog(crashed(flipped(3, 5), Index::Missing));
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->text(), "the header of the log is damaged");
}

TEST_F(LogRot, WhatIsKeptTakesNobodysPlace) {
  const auto copy = crashed(flipped(32 + 10 * frameBytes + 500, 3), Index::Beside);
  const auto damaged = fileText(copy.string() + "-wal");
  writeText(copy.string() + "-wal.damaged", "of another process");
  fs::create_symlink("nowhere", copy.string() + "-wal.damaged.2");
  const auto damage = keepDamagedLog(copy);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->kept, copy.string() + "-wal.damaged.3");
  EXPECT_EQ(fileText(damage->kept), damaged);
  EXPECT_EQ(fileText(copy.string() + "-wal.damaged"), "of another process");
  EXPECT_TRUE(fs::is_symlink(copy.string() + "-wal.damaged.2"));
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

/// Opens the store, says so, and keeps it open until the test closes its end of the pipe.
class Holder {
 public:
  explicit Holder(const fs::path& store) {
    int ready[2], done[2];
    if (::pipe(ready) != 0 || ::pipe(done) != 0) return;
    m_child = startChild([&] {
      ::close(done[1]);
      const auto opened = Store::open(store);
      char byte = opened ? 'y' : 'n';
      (void)!::write(ready[1], &byte, 1);
      (void)!::read(done[0], &byte, 1);
      return 0;
    });
    ::close(ready[1]);
    ::close(done[0]);
    m_end = done[1];
    char byte = 'n';
    m_holds = ::read(ready[0], &byte, 1) == 1 && byte == 'y';
    ::close(ready[0]);
  }
  ~Holder() {
    ::close(m_end);
    waitForChild(m_child);
  }
  bool holds() const { return m_holds; }

 private:
  pid_t m_child = -1;
  int m_end = -1;
  bool m_holds = false;
};

TEST_F(LogRot, WhatAnotherProcessHasOpenIsItsBusiness) {
  const auto copy = crashed(log, Index::Beside);
  const auto text = flipped(32 + 10 * frameBytes + 500, 3);
  {
    const Holder other(copy);
    ASSERT_TRUE(other.holds());
    writeText(copy.string() + "-wal", text);
    EXPECT_FALSE(damageOfLog(copy)) << "in use, so not looked at";
    EXPECT_FALSE(keepDamagedLog(copy));
    EXPECT_THAT(keptLogs(copy), IsEmpty());
  }
  EXPECT_TRUE(damageOfLog(crashed(text, Index::Beside))) << "and in use by nobody it is";
}

}  // namespace
}  // namespace kerf::storagetesting
