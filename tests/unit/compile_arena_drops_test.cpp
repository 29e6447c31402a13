// Arena drops: which pieces of an arena are given back, and after which step.
#include <gtest/gtest.h>

#include "engine/backend/kernels/arena_drops.h"

namespace kerf {
namespace {

constexpr std::int64_t MiB = std::int64_t{1} << 20;

Program programOf(std::size_t steps, std::int64_t arenaBytes) {
  Program program;
  program.steps.resize(steps);
  program.arenaBytes = arenaBytes;
  return program;
}

Lifetime lived(int first, int last, std::int64_t offset, std::int64_t bytes) {
  return {.buffer = 0, .first = first, .last = last, .bytes = bytes, .offset = offset};
}

/// "2:[0,64)" for each piece, in MiB.
std::string dropsOf(const Program& program) {
  std::string text;
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    for (const Step::Piece& piece : program.steps[s].arenaDrops)
      text += fmt::format("{}:[{},{}) ", s, piece.begin / MiB, piece.end / MiB);
  return text;
}

TEST(ArenaDrops, APageGoesAfterTheLastStepThatNeedsIt) {
  Program program = programOf(10, 512 * MiB);
  const std::vector<Lifetime> lifetimes{lived(0, 3, 0, 64 * MiB), lived(1, 6, 64 * MiB, 128 * MiB),
                                        lived(4, 5, 0, 32 * MiB), lived(2, 9, 192 * MiB, 320 * MiB)};
  addArenaDrops(program, lifetimes);
  EXPECT_EQ(dropsOf(program), "3:[32,64) 5:[0,32) 6:[64,192) ");
}

TEST(ArenaDrops, APageThatTwoShareGoesWithTheLater) {
  Program program = programOf(5, 256 * MiB);
  const std::vector<Lifetime> lifetimes{lived(0, 1, 0, 3 * MiB), lived(0, 2, 3 * MiB, 5 * MiB),
                                        lived(0, 4, 8 * MiB, 248 * MiB)};
  addArenaDrops(program, lifetimes);
  EXPECT_EQ(dropsOf(program), "1:[0,2) 2:[2,8) ");
}

TEST(ArenaDrops, ASmallArenaStaysForTheNextRun) {
  Program program = programOf(5, 255 * MiB);
  const std::vector<Lifetime> lifetimes{lived(0, 1, 0, 255 * MiB)};
  addArenaDrops(program, lifetimes);
  EXPECT_EQ(dropsOf(program), "");
}

TEST(ArenaDrops, OtherSizesMeanOtherDrops) {
  Program program = programOf(5, 512 * MiB);
  addArenaDrops(program, std::vector<Lifetime>{lived(0, 1, 0, 512 * MiB)});
  EXPECT_EQ(dropsOf(program), "1:[0,512) ");
  addArenaDrops(program, std::vector<Lifetime>{lived(0, 2, 0, 512 * MiB)});
  EXPECT_EQ(dropsOf(program), "2:[0,512) ");
}

}  // namespace
}  // namespace kerf
