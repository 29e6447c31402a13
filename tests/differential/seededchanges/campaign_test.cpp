// Seeded changes of recorded compilations are seen, one and two at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/differential/seededchanges/campaign.h"
#include "tests/support/recordings.h"

namespace kerf::seededchanges {
namespace {

namespace fs = std::filesystem;

fs::path logOf(const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(recordingsFolder() / "variety" / name / "trace", ignored))
    if (entry.path().extension() == ".log") return entry.path();
  return {};
}

void expectSeen(const SeededOptions& options) {
  if (logOf("dropout_rng").empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dropout_rng");
  for (const char* name : {"dropout_rng", "dynamic_mlp", "inplace_alias"}) {
    const auto log = logOf(name);
    if (log.empty()) continue;
    const auto report = runSeededChanges(log, options);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_GE(report->effects, options.two ? 2 : options.count) << name;
    EXPECT_THAT(report->missed, ::testing::IsEmpty()) << name;
  }
}

TEST(SeededChanges, OneIsSeenAndItsStageNamed) { expectSeen({.seed = 7, .count = 12}); }
/// NaN of the inputs hide no change.
TEST(SeededChanges, OneIsSeenBesideNaN) { expectSeen({.seed = 9, .count = 8, .nan = true}); }
TEST(SeededChanges, TwoAreBothNamed) { expectSeen({.seed = 8, .count = 8, .two = true}); }

}  // namespace
}  // namespace kerf::seededchanges
