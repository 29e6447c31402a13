// Replays the seeds of fuzz_torch_trace in the normal build.
#include <set>

#include "tests/fuzz/checks.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

TEST(FuzzSeeds, TorchTraceLogsImportOrAreRefused) {
  std::set<std::string> refused;
  std::size_t count = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(KERF_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / "torch_trace")) {
    ++count;
    if (!fuzz::checkTorchTrace(testing::readFile(entry.path()))) refused.insert(entry.path().filename().string());
  }
  EXPECT_GE(count, 27u);
  for (const std::string& name : refused) EXPECT_TRUE(name.starts_with("bad_")) << name;
  for (const char* name : {"bad_bomb.gz", "bad_cut.gz", "bad_deep.log", "bad_half.log", "bad_json.log", "bad_text.log"})
    EXPECT_TRUE(refused.contains(name)) << name;
}

}  // namespace
}  // namespace kerf
