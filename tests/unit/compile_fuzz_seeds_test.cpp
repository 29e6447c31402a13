// The seeds of fuzz_compile in the normal build: what was found once stays found.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "tests/fuzz/checks.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

std::string textOf(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(FuzzSeeds, GraphsCompileAndRunOrAreRefused) {
  std::set<std::string> ran;
  for (const char* folder : {"compile", "repro"})
    for (const auto& entry : fs::directory_iterator(fs::path(KERF_SOURCE_DIR) / "tests/fuzz/seeds" / folder))
      if (fuzz::checkCompile(textOf(entry.path()))) ran.insert(entry.path().filename().string());
  for (const char* name : {"attention.txt", "convolution.txt", "creation.txt", "dtypes.txt", "empty.txt",
                           "indexing.txt", "inplace.txt", "matmul.txt", "pointwise.txt", "random.txt", "reductions.txt",
                           "softmax.txt", "sorting.txt", "strides.txt", "views.txt", "relu.py", "symbols.py"})
    EXPECT_TRUE(ran.contains(name)) << name;
  for (const std::string& name : ran) EXPECT_FALSE(name.starts_with("bad_") || name == "unknown.txt") << name;
}

}  // namespace
}  // namespace kerf
