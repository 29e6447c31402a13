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

}  // namespace
}  // namespace kerf
