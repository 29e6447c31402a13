// Large files go into the store piece by piece: with little memory, from a part of a file, checked meanwhile.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "engine/support/hash_stream.h"
#include "engine/support/sanitizers.h"
#include "engine/tensor/file_pieces.h"
#include "storage/stores/store_care.h"
#include "tests/unit/storage_testing.h"

namespace kerf::storagetesting {
namespace {

using ::testing::HasSubstr;

class StorePieces : public StoreFolder {
 protected:
  NewCapture inFile(const fs::path& file, std::int64_t offset, std::int64_t length) const {
    NewGraph graph{"g", "hash", 1, "# text", {}};
    graph.blobs = {{"aa11", {}, FilePart{file, offset, length}}};
    return {"repro", "/x/repro.py", "", "h", {graph}};
  }
};

TEST_F(StorePieces, APartOfAFileIsStored) {
  const auto data = noise(20'000'000, 4);
  writeText(folder / "in/archive", "head" + data + "tail");
  auto store = openStore();
  ASSERT_TRUE(store.addCapture(inFile(folder / "in/archive", 4, std::ssize(data))));
  EXPECT_EQ(number(store, "SELECT size FROM blobs"), std::ssize(data));
  EXPECT_EQ(number(store, "SELECT count(*) FROM blob_parts"), 3);
  ASSERT_TRUE(store.materialize(1, folder / "out"));
  EXPECT_THAT(fileText(folder / "out/storages/aa11"), HasSubstr(data));
  const auto beyond =
      store.addCapture({"repro", "/y", "", "h2", inFile(folder / "in/archive", 100, 30'000'000).graphs});
  EXPECT_EQ(beyond.error().code, ErrorCode::BadInput);
  EXPECT_EQ(store.captures()->size(), 1u);
}

TEST_F(StorePieces, ACheckThatFailsMeanwhileUndoesTheImport) {
  writeText(folder / "in/a", noise(100'000, 5));
  auto capture = inFile(folder / "in/a", 0, 100'000);
  capture.graphs[0].check = [] { return Result<void>(fail(ErrorCode::BadInput, "its name is not its SHA-1")); };
  auto store = openStore();
  const auto refused = store.addCapture(capture);
  EXPECT_THAT(refused.error().message, HasSubstr("SHA-1"));
  EXPECT_EQ(number(store, "SELECT count(*) FROM blobs"), 0);
  capture.graphs[0].check = [] { return Result<void>(); };
  EXPECT_TRUE(store.addCapture(capture)) << "nothing of the first attempt is taken for stored";
  EXPECT_TRUE(verifyStore(store)->damage.empty());
}

TEST_F(StorePieces, OthersCanWriteWhileAFileIsRead) {
  writeText(folder / "in/a", noise(100'000, 7));
  auto store = openStore(), other = openStore();
  int calls = 0;
  bool written = true;
  const auto progress = [&](double) {
    if (calls++ == 0) written = bool(other.putSnapshot("s", "text", 1));
    return true;
  };
  ASSERT_TRUE(store.addCapture(inFile(folder / "in/a", 0, 100'000), progress));
  EXPECT_GT(calls, 0);
  EXPECT_TRUE(written);
  EXPECT_EQ(number(store, "SELECT count(*) FROM snapshots"), 1);
  calls = 0;
  ASSERT_TRUE(store.addCapture(inFile(folder / "in/a", 0, 100'000), progress)) << "and so when it is imported again";
  EXPECT_GT(calls, 0);
  EXPECT_TRUE(written);
}

TEST_F(StorePieces, StopsWhileAFileIsRead) {
  writeText(folder / "in/a", noise(100'000, 8));
  auto store = openStore();
  const auto stopped = store.addCapture(inFile(folder / "in/a", 0, 100'000), [](double) { return false; });
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(number(store, "SELECT count(*) FROM blobs"), 0);
  EXPECT_TRUE(store.captures()->empty());
}

TEST_F(StorePieces, ABlobThatAnotherProcessCollectedIsStoredAgain) {
  const auto data = noise(100'000, 9);
  writeText(folder / "in/a", data);
  auto store = openStore();
  ASSERT_TRUE(store.addCapture(inFile(folder / "in/a", 0, 100'000)));
  auto again = inFile(folder / "in/a", 0, 100'000);
  again.contentHash = "another";
  bool collected = false;
  const auto collect = [&](double) {
    if (!std::exchange(collected, true)) {  // it is known to be whole, and the transaction has not begun
      auto other = openStore();
      auto& database = other.database();
      EXPECT_TRUE(database.executeScript("PRAGMA foreign_keys = OFF; DELETE FROM blobs; DELETE FROM blob_parts"));
    }
    return true;
  };
  ASSERT_TRUE(store.addCapture(again, collect));
  ASSERT_TRUE(collected);
  ASSERT_TRUE(store.materialize(2, folder / "out"));
  EXPECT_THAT(fileText(folder / "out/storages/aa11"), HasSubstr(data));
}

TEST_F(StorePieces, TheStreamsGiveTheSumsOfTheWhole) {
  const auto data = noise(3'000'001, 6);
  writeText(folder / "in/a", data);
  HashStream xxh;
  Sha1Stream sha1;
  std::size_t pieces = 0;
  ASSERT_TRUE(readPieces({folder / "in/a", 1, 3'000'000}, [&](std::span<const std::byte> piece) -> Result<void> {
    for (; !piece.empty(); piece = piece.subspan(std::min<std::size_t>(77'777, piece.size()))) {
      xxh.add(piece.first(std::min<std::size_t>(77'777, piece.size())));
      sha1.add(piece.first(std::min<std::size_t>(77'777, piece.size())));
      ++pieces;
    }
    return {};
  }));
  const auto bytes = std::as_bytes(std::span(data)).subspan(1);
  EXPECT_EQ(pieces, 39u);
  EXPECT_EQ(xxh.finish(), hashBytes(bytes));
  EXPECT_EQ(sha1.hex(), sha1Hex(bytes));
}

TEST_F(StorePieces, MemoryDoesNotGrowWithTheFile) {
  const auto megabytesFor = [&](std::uintmax_t size) {
    const auto file = folder / fmt::format("in/{}", size);
    writeText(file, "");
    fs::resize_file(file, size);
    const auto child = startChild([&] {
      auto store = Store::open(folder / fmt::format("{}.db", size));
      return store && store->addCapture(inFile(file, 0, std::int64_t(size))) ? 0 : 1;
    });
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    EXPECT_EQ(status, 0);
    return usage.ru_maxrss / 1024;
  };
  const auto small = megabytesFor(1 << 20), large = megabytesFor(96 << 20);
  if (!addressSanitizer && !threadSanitizer) {  // they keep what was freed
    EXPECT_LT(large - small, 60) << "of a file of 96 MB";
  }
}

}  // namespace
}  // namespace kerf::storagetesting
