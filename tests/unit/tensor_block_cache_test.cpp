// Memory that storages gave back: what each run takes again is kept, what nobody asks for any more goes first.
#include "engine/tensor/block_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/support/sanitizers.h"

namespace kerf {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

std::vector<std::byte*> taken(int count, std::int64_t bytes) {
  std::vector<std::byte*> blocks;
  bool zeroed = false;
  for (int i = 0; i < count; ++i) blocks.push_back(takeBlock(bytes, zeroed));
  return blocks;
}

void give(const std::vector<std::byte*>& blocks, std::int64_t bytes) {
  for (std::byte* block : blocks) returnBlock(block, bytes);
}

class BlockCache : public testing::Test {
 protected:
  void SetUp() override {
    if (addressSanitizer) GTEST_SKIP() << "nothing is kept under the address sanitizer";
    releaseBlocks();
  }
};

TEST_F(BlockCache, ASmallBlockFromTheSystemTakesNoLargeOnesAway) {
  const auto large = taken(8, 64 * mebibyte);
  give(large, 64 * mebibyte);
  ASSERT_EQ(keptBlockBytes(), 8 * 64 * mebibyte);
  for (const std::int64_t bytes : {mebibyte, 3 * mebibyte, 5 * mebibyte}) give(taken(1, bytes), bytes);
  EXPECT_EQ(keptBlockBytes(), (8 * 64 + 1 + 3 + 5) * mebibyte);
  auto again = taken(8, 64 * mebibyte);
  EXPECT_EQ(keptBlockBytes(), (1 + 3 + 5) * mebibyte);  // none of the eight came from the system
  give(again, 64 * mebibyte);
  releaseBlocks();
}

TEST_F(BlockCache, WhatIsKeptAndUsedStaysNearTheMostThatWasInUse) {
  const std::int64_t slack = 128 * mebibyte;
  give(taken(16, 64 * mebibyte), 64 * mebibyte);
  const std::int64_t most = 16 * 64 * mebibyte;
  for (const std::int64_t bytes : {72 * mebibyte, 80 * mebibyte, 96 * mebibyte, 112 * mebibyte}) {
    const auto blocks = taken(8, bytes);
    EXPECT_LE(keptBlockBytes() + 8 * bytes, most + slack) << bytes / mebibyte;
    give(blocks, bytes);
  }
  releaseBlocks();
}

TEST_F(BlockCache, SizesNobodyAsksForGoFirst) {
  give(taken(24, 64 * mebibyte), 64 * mebibyte);  // long ago
  give(taken(4, 96 * mebibyte), 96 * mebibyte);   // in each run
  const auto used = taken(4, 96 * mebibyte);
  give(taken(2, 112 * mebibyte), 112 * mebibyte);  // makes room
  give(used, 96 * mebibyte);
  const std::int64_t before = keptBlockBytes();
  give(taken(4, 96 * mebibyte), 96 * mebibyte);
  EXPECT_EQ(keptBlockBytes(), before);
  EXPECT_LT(before, (24 * 64 + 4 * 96 + 2 * 112) * mebibyte);
  releaseBlocks();
}

}  // namespace
}  // namespace kerf
