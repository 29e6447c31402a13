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

using testing::HasSubstr;

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
