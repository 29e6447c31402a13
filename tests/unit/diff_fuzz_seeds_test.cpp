// Replays the seeds of the diff's fuzz target in the normal build.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/fuzz/checks.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

TEST(DiffSeeds, EveryNodeIsToldOnce) {
  int pairs = 0, seeds = 0;
  for (const char* folder : {"diff", "graph_text"})
    for (const auto& entry : fs::directory_iterator(fs::path(KERF_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / folder)) {
      std::ifstream stream(entry.path(), std::ios::binary);
      std::stringstream text;
      text << stream.rdbuf();
      const bool compared = fuzz::checkDiff(text.str());
      pairs += compared ? 1 : 0;
      ++seeds;
      EXPECT_TRUE(compared || std::string_view(folder) != "diff") << entry.path();
    }
  EXPECT_GE(pairs, 5);
  EXPECT_GE(seeds, 30);
}

}  // namespace
}  // namespace kerf
