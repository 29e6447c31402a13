// Little address space (ulimit -v): every command ends, with a result or with an error that says so.
#include "engine/support/sanitizers.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class LittleMemory : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (addressSanitizer || threadSanitizer) GTEST_SKIP() << "a sanitizer maps terabytes";
  }
  ProgramResult runWithin(int mebibytes, const std::vector<std::string>& arguments) {
    const auto script = write("within.sh", fmt::format("ulimit -v {}; exec \"$@\"\n", mebibytes * 1024));
    std::vector<std::string> command = {"sh", script.string(), kerf.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    setenv("KERF_STORE", store().c_str(), 1);
    auto result = runProgram(command, {}, test::patience);
    EXPECT_TRUE(result) << result.error().text();
    return result.value_or(ProgramResult{-1, {}, {}});
  }
};

TEST_F(LittleMemory, EveryCommandEndsAndSaysWhy) {
  constexpr int notLoaded = 127;  // the system's loader had no room for the program's libraries
  int good = 0;
  for (const int mebibytes : {300, 330, 360, 400, 450, 550, 700, 1000, 2000}) {
    const auto result = runWithin(mebibytes, {"compare", sample});
    if (result.status == 0) ++good;
    const bool endedBeforeMain = result.errors.contains("blas_thread_init");  // by OpenBLAS, whose threads need stacks
    if (result.status == 0 || result.status == notLoaded || endedBeforeMain) continue;
    EXPECT_THAT(result.status, AnyOf(1, 2, 3)) << mebibytes << ": " << result.errors;
    EXPECT_THAT(result.output + result.errors, AnyOf(HasSubstr("memory"), HasSubstr("thread"))) << mebibytes;
  }
  EXPECT_GE(good, 1);
}

TEST_F(LittleMemory, AReductionEndsWithItsThreads) {
  int good = 0;
  for (const int mebibytes : {500, 600, 700, 800, 1000, 1500}) {
    const auto out = (folder / fmt::format("out{}", mebibytes)).string();
    const auto result = runWithin(mebibytes, {"minify", sample, "--plant", "relu=accuracy", "-o", out});
    if (result.status == 0) ++good;
    if (result.status == 0 || result.errors.contains("blas_thread_init")) continue;
    EXPECT_THAT(result.status, AnyOf(1, 2, 3)) << mebibytes << ": " << result.errors;
    EXPECT_THAT(result.output + result.errors, AnyOf(HasSubstr("memory"), HasSubstr("thread"))) << mebibytes;
  }
  EXPECT_GE(good, 1);
}

TEST_F(LittleMemory, AGraphThatNeedsMoreIsAnError) {
  const auto large = smallRepro(R"(        expand = torch.ops.aten.expand.default(arg0_1, [200000000, 2, 4])
        clone = torch.ops.aten.clone.default(expand)
        return (clone,)
)");  // of [2, 4]
  const auto result = runWithin(1500, {"run", large.string()});
  EXPECT_THAT(result.status, AnyOf(1, 2, 3)) << result.output;
  EXPECT_THAT(result.output + result.errors, HasSubstr("memory"));
}

}  // namespace
}  // namespace kerf::cli
