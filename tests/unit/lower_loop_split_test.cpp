// Loops of a kernel and of a value that views have cut otherwise, as one nest.
#include <gtest/gtest.h>

#include "engine/lower/loop_split.h"

namespace kerf {
namespace {

using LoopSizes = std::initializer_list<std::int64_t>;

std::vector<LoopVariable> loops(LoopSizes outer, LoopSizes reduced) {
  std::vector<LoopVariable> result;
  for (const std::int64_t size : outer) result.push_back({size, false});
  for (const std::int64_t size : reduced) result.push_back({size, true});
  return result;
}

std::string text(const IndexMap& map) {
  std::string all;
  for (const Affine& index : map) all += (all.empty() ? "" : ", ") + index.text();
  return all;
}

TEST(CommonLoops, GroupsOfChannels) {
  const auto common = commonLoops(loops({32, 32}, {8, 4096}), {32, 256, 64, 64});
  ASSERT_TRUE(common);
  EXPECT_EQ(common->variables, loops({32, 32}, {8, 64, 64}));
  EXPECT_EQ(text(common->ofKernel), "i0, i1, i2, 64*i3 + i4");
  EXPECT_EQ(text(common->ofValue), "i0, 8*i1 + i2, i3, i4");
  EXPECT_EQ(common->row, 4096);
}

TEST(CommonLoops, TheSameCutsNothing) {
  const auto common = commonLoops(loops({4}, {6, 10}), {4, 6, 10});
  ASSERT_TRUE(common);
  EXPECT_EQ(common->variables, loops({4}, {6, 10}));
  EXPECT_EQ(text(common->ofValue), "i0, i1, i2");
}

TEST(CommonLoops, RowsOfGroupsWithoutChannelsOfTheirOwn) {
  const auto common = commonLoops(loops({2, 4}, {3 * 49}), {2, 12, 7, 7});
  ASSERT_TRUE(common);
  EXPECT_EQ(common->variables, loops({2, 4}, {3, 7, 7}));
  EXPECT_EQ(text(common->ofKernel), "i0, i1, 49*i2 + 7*i3 + i4");
  EXPECT_EQ(text(common->ofValue), "i0, 3*i1 + i2, i3, i4");
  EXPECT_EQ(common->row, 49);
}

TEST(CommonLoops, NoneWhereSizesDoNotDivide) {
  EXPECT_FALSE(commonLoops(loops({6}, {10}), {10, 6}));
  EXPECT_FALSE(commonLoops(loops({6}, {10}), {6, 5}));
  EXPECT_FALSE(commonLoops(loops({6}, {10}), {2, 6, 10}));
}

}  // namespace
}  // namespace kerf
