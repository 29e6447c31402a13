// A disk that is full from some write on: the result is printed all the same, exit code and warning say what is not
// stored, and the store is whole afterwards. KERF_FULL_POINTS=N tries N writes of each command.
#include "tests/support/io_steps.h"

namespace kerf::cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FullDisk : public StepsTest {
 protected:
  std::size_t countOf(const std::string& kind) { return runJson({"ls"})[kind].size(); }

  /// Lets the disk be full at points of the command; `output` is what it prints nevertheless.
  void fillAtPoints(const std::vector<std::string>& arguments, const std::string& kind, const std::string& output,
                    unsigned seed) {
    const auto total = countSteps(arguments);
    int refused = 0;
    for (const auto point : points(total, rounds("KERF_FULL_POINTS", 5), seed)) {
      const auto before = countOf(kind);
      const auto result = runSteps(fmt::format("full:{}", point), arguments);
      const auto where = fmt::format("{} with a disk full from write {} on\n{}", arguments[0], point, result.errors);
      EXPECT_THAT(result.status, AnyOf(0, 3)) << where;
      EXPECT_THAT(result.output, HasSubstr(output)) << where;
      refused += result.status == 3;
      if (result.status == 3) {
        EXPECT_THAT(result.errors, AnyOf(HasSubstr("not stored"), HasSubstr("no room"))) << where;
      } else {
        EXPECT_EQ(countOf(kind), before + 1) << where;
      }
      const auto verify = run({"store", "verify"});
      ASSERT_EQ(verify.status, 0) << where << verify.output;
      EXPECT_EQ(run({"store", "gc"}).status, 0) << where;
      EXPECT_THAT(filesLeft(), IsEmpty()) << where;
    }
    EXPECT_GT(refused, 0);
    EXPECT_EQ(run(arguments).status, 0) << "there is room again";
  }
};

TEST_F(FullDisk, RunAndCompareArePrinted) {
  ASSERT_EQ(run({"import", sample}).status, 0);
  fillAtPoints({"run", sample}, "runs", "out0", 11);
  fillAtPoints({"compare", sample}, "runs", "out0", 12);
}

TEST_F(FullDisk, AnImportIsWholeOrNothing) {
  const auto total = countSteps({"import", sample});
  for (const auto point : points(total / 2, rounds("KERF_FULL_POINTS", 5), 13)) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(store() + suffix);
    const auto result = runSteps(fmt::format("full:{}", point), {"import", sample});
    EXPECT_THAT(result.status, AnyOf(0, 3)) << result.errors;
    if (result.status == 3) {
      EXPECT_THAT(result.errors,
                  AnyOf(HasSubstr("disk is full"), HasSubstr("disk of the store may be full"), HasSubstr("No space")))
          << point;
    }
    const auto listed = run({"ls", "--json"});
    EXPECT_EQ(listed.status, 0) << point << listed.errors;
    EXPECT_EQ(json::parse(listed.output)["captures"].size(), result.status == 0 ? 1u : 0u) << point;
    EXPECT_EQ(run({"store", "verify"}).status, 0) << point;
  }
}

/// A file system of its own, where a user may have one.
TEST_F(FullDisk, ARealOneIsFullAndHasRoomAgain) {
  const auto mayMount = runProgram({"unshare", "-Urm", "true"}, {}, test::patience);
  if (!mayMount || mayMount->status != 0) GTEST_SKIP() << "no user namespaces here";
  const auto disk = folder / "disk";
  fs::create_directories(disk);
  const auto script = write("full.sh", R"(
set -u
mount -t tmpfs -o size=1536k tmpfs "$1" || exit 77
export KERF_STORE="$1/kerf.db"
"$2" import "$3" >/dev/null || exit 1
cat /dev/zero >"$1/filler" 2>/dev/null
"$2" run "$3" >"$4/output" 2>"$4/errors"
[ $? -eq 3 ] || exit 2
"$2" ls >/dev/null || exit 3
"$2" store verify >/dev/null || exit 4
rm "$1/filler"
"$2" store verify >/dev/null || exit 5
"$2" run "$3" >/dev/null || exit 6
"$2" ls runs | grep -q '^r1 ' || exit 7
)");
  const auto result =
      runProgram({"unshare", "-Urm", "sh", script.string(), disk.string(), kerf.string(), sample, folder.string()}, {},
                 std::chrono::seconds(600));
  ASSERT_TRUE(result);
  if (result->status == 77) GTEST_SKIP() << "no file system may be mounted here";
  EXPECT_EQ(result->status, 0) << result->output << result->errors << textOf(folder / "errors");
  EXPECT_THAT(textOf(folder / "output"), HasSubstr("out0"));
  EXPECT_THAT(textOf(folder / "errors"), HasSubstr("the result is not stored"));
}

}  // namespace
}  // namespace kerf::cli
