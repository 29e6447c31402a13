// Bisecting versions: which two stand beside each other, and what is passed over.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "minifier/bisect/version_bisection.h"

namespace kerf {
namespace {

/// 'p' passes, 'a' and 'b' fail in two ways, 'x' cannot be tested.
struct Versions {
  std::string does;
  std::vector<std::size_t> asked = {};

  Result<VersionChange> bisect() {
    return bisectVersions(does.size(),
                          [this](std::size_t version) -> Result<VersionAnswer> {
                            asked.push_back(version);
                            const char what = does[version];
                            return VersionAnswer{.version = std::to_string(version),
                                                 .testable = what != 'x',
                                                 .fingerprint = what == 'p' || what == 'x' ? "" : std::string(1, what),
                                                 .detail = "said"};
                          },
                          {});
  }
};

TEST(VersionBisection, FindsTheFirstThatFailsInFewTrials) {
  for (std::size_t first = 1; first < 32; ++first) {
    Versions versions{std::string(first, 'p') + std::string(32 - first, 'a')};
    const auto change = versions.bisect();
    ASSERT_TRUE(change);
    EXPECT_TRUE(change->changes);
    EXPECT_EQ(change->before, first - 1);
    EXPECT_EQ(change->after, first);
    EXPECT_LE(versions.asked.size(), 7U);
    EXPECT_EQ(std::set(versions.asked.begin(), versions.asked.end()).size(), versions.asked.size()) << "each once";
  }
}

TEST(VersionBisection, AlsoFindsWhereAFailureEndsAndWhereItBecomesAnother) {
  auto ends = Versions{"aaapp"}.bisect();
  ASSERT_TRUE(ends);
  EXPECT_EQ(ends->before, 2U);
  EXPECT_EQ(ends->after, 3U);
  auto other = Versions{"aabbbb"}.bisect();
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->changes);
  EXPECT_EQ(other->after, 2U);
}

TEST(VersionBisection, PassesOverWhatCannotBeTestedAndSaysSoWhereItLiesBetween) {
  auto change = Versions{"xppxxaax"}.bisect();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->before, 2U);
  EXPECT_EQ(change->after, 5U);
  EXPECT_EQ(change->notTestable, (std::vector<std::size_t>{3, 4}));
  auto beside = Versions{"pxxxxxpa"}.bisect();
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->before, 6U);
  EXPECT_EQ(beside->after, 7U);
  EXPECT_TRUE(beside->notTestable.empty());
}

TEST(VersionBisection, WithoutAChangeThereIsNothingToBisect) {
  Versions same{"pppppppp"};
  const auto change = same.bisect();
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->changes);
  EXPECT_EQ(same.asked.size(), 2U);
  const auto none = Versions{"xxpx"}.bisect();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::BadInput);
  EXPECT_NE(none.error().message.find("said"), std::string::npos);
}

TEST(VersionBisection, AnErrorEndsItAndItCanBeStopped) {
  const auto failed =
      bisectVersions(4, [](std::size_t) -> Result<VersionAnswer> { return fail(ErrorCode::Internal, "broken"); }, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Internal);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = bisectVersions(4, [](std::size_t) -> Result<VersionAnswer> { return VersionAnswer{}; },
                                      {.stop = stop.get_token()});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace kerf
