// Error texts, exit codes, hashes and parallelFor.
#include <atomic>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/support/environment.h"
#include "engine/support/hash.h"
#include "engine/support/result.h"
#include "engine/support/sanitizers.h"
#include "engine/support/thread_pool.h"

namespace kerf {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::BadInput, "{} is odd", value);
  return value / 2;
}

Result<int> quarter(int value) {
  KERF_TRY(const int first, half(value));
  KERF_TRY(const int second, half(first));
  return second;
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
}

TEST(Error, TextNamesFileLineNodeAndTrail) {
  Error error{ErrorCode::BadInput, "unexpected ')'", {}, 0, {}, {}};
  error.atFile("repro.py", 7).atNode("add_1").while_("importing");
  EXPECT_EQ(error.text(), "repro.py:7: node add_1: unexpected ')' (importing)");
  EXPECT_EQ(errorCodeName(error.code), "bad_input");
}

TEST(Error, CodesMapToTheDocumentedExits) {
  EXPECT_EQ(exitCode(ErrorCode::BadUsage), 2);
  EXPECT_EQ(exitCode(ErrorCode::Different), 1);
  EXPECT_EQ(exitCode(ErrorCode::Cancelled), 3);
  EXPECT_EQ(exitCode(ErrorCode::Internal), 3);
}

TEST(Hash, Sha1IsTheStandardOne) {
  const std::string text = "abc";
  EXPECT_EQ(sha1Hex(std::as_bytes(std::span(text))), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(Hash, DiffersByOneByte) { EXPECT_NE(hashText("relu"), hashText("relv")); }

TEST(ParallelFor, CoversEveryIndexOnce) {
  std::vector<int> hits(10'001, 0);
  parallelFor(std::ssize(hits), 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) ++hits[std::size_t(i)];
  });
  EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), 0), 10'001);
  EXPECT_EQ(*std::ranges::max_element(hits), 1);
}

TEST(ParallelFor, ThrowsWhatAPieceThrowsAndWorksAfterwards) {
  setThreadCount(3);
  for (const std::int64_t failing : {0, 417, 999}) {
    const auto piece = [&](std::int64_t begin, std::int64_t end) {
      if (begin <= failing && failing < end) throw std::runtime_error(std::to_string(failing));
    };
    try {
      parallelFor(1000, 1, piece);
      ADD_FAILURE() << "nothing was thrown for " << failing;
    } catch (const std::runtime_error& problem) {
      EXPECT_EQ(problem.what(), std::to_string(failing));
    }
    std::atomic<std::int64_t> sum = 0;
    parallelFor(1000, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 1000);
  }
}

TEST(ParallelFor, ManagesWithTheThreadsThatTheSystemGives) {
  if (addressSanitizer || threadSanitizer) GTEST_SKIP() << "a sanitizer maps terabytes";
  const pid_t child = ::fork();
  if (child == 0) {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlimit space{pages * 4096 + (20 << 20), RLIM_INFINITY};  // for the stacks of two threads
    ::setrlimit(RLIMIT_AS, &space);
    setThreadCount(64);
    std::atomic<std::int64_t> sum = 0;
    for (int i = 0; i < 3; ++i)
      parallelFor(10'000, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    ::_exit(sum == 30'000 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ParallelFor, WorksInAForkedChildAfterUseInTheParent) {
  parallelFor(1000, 1, [](std::int64_t, std::int64_t) {});
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<std::int64_t> sum = 0;
    parallelFor(1000, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    ::_exit(sum == 1000 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Environment, ANumberIsAllOfTheTextAndWithinItsBounds) {
  constexpr const char* name = "KERF_TEST_NUMBER";
  const auto read = [&](const char* text) {
    ::setenv(name, text, 1);
    return environmentNumber(name, 1, 1024);
  };
  ::unsetenv(name);
  EXPECT_FALSE(environmentNumber(name, 1, 1024));
  EXPECT_EQ(read("7"), 7);
  EXPECT_EQ(read("1024"), 1024);
  for (const char* text : {"", "0", "-1", "1025", "1e9", "abc", "7 ", "99999999999999999999"})
    EXPECT_FALSE(read(text)) << text;
  ::unsetenv(name);
}

}  // namespace
}  // namespace kerf
