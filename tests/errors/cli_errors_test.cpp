// Bad usage and bad input on the command line: exit code, message, and nothing left behind.
#include "storage/database/database.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CliErrorTest : public CliTest {
 protected:
  void expectError(const std::vector<std::string>& arguments, int status, const std::string& message) {
    const auto result = run(arguments);
    EXPECT_EQ(result.status, status) << result.output << result.errors;
    EXPECT_THAT(result.errors, AllOf(HasSubstr("kerf: error: "), HasSubstr(message)));
  }
};

TEST_F(CliErrorTest, UnknownCommandsAndOptionsAreBadUsage) {
  expectError({}, 2, "subcommand");
  expectError({"nonesuch"}, 2, "nonesuch");
  expectError({"show"}, 2, "GRAPH");
  expectError({"show", sample, "--format", "jpeg"}, 2, "jpeg");
  expectError({"run", sample, "--dtype", "f8"}, 2, "f8");
  expectError({"run", sample, "--backend", "metal"}, 2, "metal");
  expectError({"passes", sample, "--dump-after", "nonesuch"}, 2, "cse");
  expectError({"passes", sample, "--dump-after", "pad_m"}, 2, "did you mean pad_mm?");
  expectError({"minify", sample, "--oracle", "command"}, 2, "needs a check");
  expectError({"minify", sample, "--oracle", "command", "--check", "true", "--plant", "relu=crash"}, 2,
              "needs the oracle engine");
  expectError({"compare", sample, "--plant", "relu=sadness"}, 2, "sadness");
}

TEST_F(CliErrorTest, FaultsThatHitNothingAreBadUsage) {
  for (const char* fault : {"relu_=accuracy", "pass:fuse=accuracy"}) {
    expectError({"compare", sample, "--plant", fault}, 2, fault);
    expectError({"minify", sample, "--plant", fault}, 2, fault);
    expectError({"minify", sample, "--judge", "--plant", fault}, 2, fault);
    expectError({"bisect", sample, "--by", "node", "--plant", fault}, 2, fault);
  }
}

TEST_F(CliErrorTest, UnknownPassesAndOptionsAreBadUsage) {
  for (const char* command : {"passes", "run", "compare", "minify"}) {
    expectError({command, sample, "--passes", "cse,fuse"}, 2, "there is no pass 'fuse'");
    expectError({command, sample, "--disable-pass", "fuse"}, 2, "constant_folding");
    expectError({command, sample, "--config", "constant_folding.bytes=1"}, 2, "max_bytes");
    expectError({command, sample, "--passes", "cse", "--config", "constant_folding.max_bytes=1"}, 2, "does not run");
  }
  expectError({"bisect", sample, "--by", "pass", "--passes", "fuse"}, 2, "fuse");
  expectError({"minify", sample, "--oracle", "command", "--check", "true", "--passes", "cse"}, 2,
              "need the oracle engine");
  expectError({"run", sample, "--precision", "exact", "--passes", "cse"}, 2, "choose no passes");
}

TEST_F(CliErrorTest, ABackendThatIsNotBuiltInIsTheEnvironments) {
  expectError({"run", sample, "--backend", "cuda"}, 3, "cuda");
  expectError({"compare", sample, "--backend", "cuda"}, 3, "cuda");
  expectError({"minify", sample, "--backend", "cuda"}, 3, "cuda");
  expectError({"bisect", sample, "--by", "pass", "--backend", "cuda"}, 3, "cuda");
}

TEST_F(CliErrorTest, MissingFilesAndIdsAreNotFound) {
  expectError({"show", "nothere.py"}, 2, "nothere.py");
  expectError({"show", "c9"}, 2, "c9");
  expectError({"import", (folder / "nothere").string()}, 2, "nothere");
  expectError({"run", sample, "--expect", (folder / "nothere").string()}, 2, "nothere");
}

TEST_F(CliErrorTest, BadFilesNameFileAndLineAndLeaveNothing) {
  const auto garbage = write("garbage.py", std::string(5000, '\x01'));
  expectError({"import", garbage.string()}, 2, "garbage.py");
  const auto undefined = smallRepro("        relu = torch.ops.aten.relu.default(nowhere)\n        return (relu,)\n");
  const auto result = run({"import", undefined.string()});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("small.py:4"), HasSubstr("nowhere")));
  EXPECT_EQ(runJson({"ls"})["captures"], json::array());
}

TEST_F(CliErrorTest, JsonErrorsHaveFields) {
  const auto undefined = smallRepro("        relu = torch.ops.aten.relu.default(nowhere)\n        return (relu,)\n");
  const auto error = runJson({"show", undefined.string()}, 2)["error"];
  EXPECT_EQ(error["code"], "bad_input");
  EXPECT_EQ(error["line"], 4);
  EXPECT_EQ(error["file"], undefined.string());
  EXPECT_EQ(runJson({"show"}, 2)["error"]["code"], "bad_usage");
}

TEST_F(CliErrorTest, RunningAnUnknownOpNamesTheNode) {
  const auto odd =
      smallRepro("        odd = torch.ops.mylib.odd.default(arg0_1);  arg0_1 = None\n        return (odd,)\n");
  const auto error = runJson({"run", odd.string()}, 2)["error"];
  EXPECT_EQ(error["code"], "unsupported_op");
  EXPECT_EQ(error["node"], "odd");
}

TEST_F(CliErrorTest, StoresThatAreNoneAreRefused) {
  const auto text = write("text.db", std::string(3000, 'x'));
  expectError({"ls", "--store", text.string()}, 2, "not a Kerf store");
  EXPECT_EQ(textOf(text), std::string(3000, 'x'));
  expectError({"ls", "--store", "/proc/nowhere/kerf.db"}, 3, "/proc/nowhere");
}

TEST_F(CliErrorTest, AStoreOfANewerKerfIsRefused) {
  ASSERT_EQ(run({"import", sample}).status, 0);
  ASSERT_TRUE(Database::open(store())->executeScript("PRAGMA user_version = 99"));
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"ls"}, {"import", sample}, {"passes", sample}, {"minify", sample, "--plant", "relu=crash"}}) {
    expectError(command, 2, "written by a newer Kerf");
  }
}

TEST_F(CliErrorTest, AFullDiskIsNoSuccess) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const RunningKerf running(kerf, {"show", sample}, "/dev/full");
  EXPECT_EQ(running.wait(), 3);
}

}  // namespace
}  // namespace kerf::cli
