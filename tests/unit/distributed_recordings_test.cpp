#include <gtest/gtest.h>

#include "engine/distributed/recorded/recordings.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

TEST(RanksRecordings, ComeOutAsRecorded) {
  const auto folder = recordingsFolder() / "distributed";
  if (!holdsRanks(folder)) GTEST_SKIP() << "the recordings of several ranks are not here";
  const auto report = checkRanks(folder);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_GE(report->cases, 1000);
  const auto share = [&](RanksField field) {
    const RanksTally& tally = report->fields[std::size_t(field)];
    return double(tally.equal) / double(std::max(tally.asked, 1));
  };
  EXPECT_EQ(share(RanksField::Values), 1.0);
  EXPECT_EQ(share(RanksField::Gradients), 1.0);
  EXPECT_GE(share(RanksField::Placements), 0.98);
  EXPECT_GE(share(RanksField::LocalShapes), 0.98);
  EXPECT_GE(share(RanksField::Collectives), 0.98);
  EXPECT_EQ(share(RanksField::Refusals), 1.0);
  if (HasFailure())
    for (const auto& miss : report->differences) fmt::print("{} {}: {}\n", miss.id, miss.field, miss.text);
  for (const auto& miss : report->differences)
    EXPECT_FALSE(miss.id.starts_with("mod_")) << miss.id << " " << miss.field << ": " << miss.text;
}

TEST(RanksRecordings, OfOperationsAndAConvNextComeOutAsRecorded) {
  const auto folder = recordingsFolder() / "dtensor";
  if (!holdsRanks(folder)) GTEST_SKIP() << "the recordings of DTensor are not here";
  const auto report = checkRanks(folder);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->cases, 71);
  EXPECT_EQ(report->fields[std::size_t(RanksField::Gradients)].asked, 48);
  for (const auto& miss : report->differences) ADD_FAILURE() << miss.id << " " << miss.field << ": " << miss.text;
}

/// A world that only says that it fails agrees with nothing, neither with results nor with refusals.
TEST(RanksRecordings, WorldsThatFailInOtherWaysDiffer) {
  const auto folder = recordingsFolder() / "distributed";
  if (!holdsRanks(folder)) GTEST_SKIP() << "the recordings of several ranks are not here";
  RecordedWorld broken{.start = {}, .ranks = 2};
  broken.start = [](int count, const RankBody&) {
    return std::vector<Result<void>>(std::size_t(count), fail(ErrorCode::Environment, "there is no such device"));
  };
  const auto report = checkRanks(folder, broken);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_GT(report->cases, 0);
  for (const RanksField field : {RanksField::Values, RanksField::Refusals})
    EXPECT_EQ(report->fields[std::size_t(field)].equal, 0) << ranksFieldNames[std::size_t(field)];
  EXPECT_EQ(int(report->differences.size()), report->cases);
  const auto same = checkRanks(folder, RecordedWorld{.start = {}, .ranks = 2});
  ASSERT_TRUE(same) << same.error().text();
  EXPECT_EQ(same->cases, report->cases);
  for (const auto& miss : same->differences) ADD_FAILURE() << miss.id << " " << miss.field << ": " << miss.text;
}

}  // namespace
}  // namespace kerf
