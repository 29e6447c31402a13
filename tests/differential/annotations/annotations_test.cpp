// Changed annotations of recorded graphs are said, and nothing of the graphs as they were recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/differential/annotations/changed_annotations.h"
#include "tests/support/recordings.h"

namespace kerf::annotations {
namespace {

namespace fs = std::filesystem;

TEST(ChangedAnnotations, AreSaid) {
  const fs::path folder = recordingsFolder() / "golden" / "mlp";
  if (!fs::exists(folder)) GTEST_SKIP() << kerf::testing::leftOut(folder);
  AnnotationReport report;
  for (const char* name : {"train_forward.txt", "train_backward.txt", "train_joint.txt"})
    EXPECT_TRUE(changeAnnotations(folder / name, {.seed = 5, .count = 30}, report)) << name;
  EXPECT_GT(report.changes, 20);
  EXPECT_THAT(report.falseAlarms, ::testing::IsEmpty());
  EXPECT_THAT(report.unsaid, ::testing::IsEmpty());
}

}  // namespace
}  // namespace kerf::annotations
