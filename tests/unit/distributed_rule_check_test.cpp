#include <gtest/gtest.h>

#include "engine/distributed/checks/rule_check.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

TEST(ShardingRules, AreRightForEveryPlacement) {
  RuleCheckOptions options{.samples = 1, .combinations = 24};
  const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", options);
  ASSERT_TRUE(proofs) << proofs.error().text();
  EXPECT_GE(proofs->size(), 150U);
  for (const RuleProof& proof : *proofs) {
    EXPECT_GT(proof.right, 0) << proof.op;
    EXPECT_EQ(proof.wrong, 0) << proof.op << ": " << (proof.findings.empty() ? "" : proof.findings[0]);
  }
}

/// Ops whose placements follow from their decompositions, with arguments that are sizes of whole tensors.
TEST(ShardingRules, AreRightWhereDecompositionsPlace) {
  for (const char* op : {"aten.native_group_norm.default", "aten.channel_shuffle.default"}) {
    const RuleCheckOptions options{.pattern = op, .samples = 2, .combinations = 60, .isWide = true};
    const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", options);
    ASSERT_TRUE(proofs) << proofs.error().text();
    for (const RuleProof& proof : *proofs) {
      EXPECT_GT(proof.right, 0) << proof.op;
      EXPECT_EQ(proof.wrong, 0) << proof.op << ": " << (proof.findings.empty() ? "" : proof.findings[0]);
    }
  }
}

TEST(ShardingRules, AreFoundByTheirOp) {
  const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", {.pattern = "aten.mm.default", .samples = 1});
  ASSERT_TRUE(proofs) << proofs.error().text();
  ASSERT_EQ(proofs->size(), 1U);
  EXPECT_EQ(proofs->front().wrong, 0);
  EXPECT_EQ(proofs->front().missing, 0) << proofs->front().findings[0];
}

/// Divided by parts of a sum, masks over rows that another dimension shards: among many combinations, not the first few.
TEST(ShardingRules, AreRightWhereTwoDimensionsOfTheMeshMeet) {
  for (const char* op : {"aten.div.Tensor", "aten.embedding.default", "aten.mse_loss_backward.default"}) {
    const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", {.pattern = op, .samples = 4});
    ASSERT_TRUE(proofs) << proofs.error().text();
    for (const RuleProof& proof : *proofs) {
      EXPECT_GT(proof.right, 300) << proof.op;
      EXPECT_EQ(proof.wrong, 0) << proof.op << ": " << (proof.findings.empty() ? "" : proof.findings[0]);
    }
  }
}

}  // namespace
}  // namespace kerf
