#include <gtest/gtest.h>

#include "engine/distributed/checks/rule_check.h"
#include "engine/distributed/checks/rule_sample.h"
#include "engine/distributed/group/in_process.h"
#include "engine/distributed/sharding/redistribute.h"
#include "engine/ops/core/op_call.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

TEST(ShardingRules, AreRightForEveryPlacement) {
  RuleCheckOptions options{.samples = 1, .combinations = 24};
  const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", options);
  ASSERT_TRUE(proofs) << proofs.error().text();
  EXPECT_GE(proofs->size(), 150U);
  for (const RuleProof& proof : *proofs) {
    if (proof.samples == 0) continue;
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

/// Every op of which a call can be proved: placed by a rule, by trait, by its decomposition or whole.
TEST(ShardingRules, AreRightForTheWholeTable) {
  const RuleCheckOptions options{.samples = 1, .combinations = 6, .isWide = true, .isBrief = true};
  const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", options);
  ASSERT_TRUE(proofs) << proofs.error().text();
  int proved = 0, uneven = 0;
  for (const RuleProof& proof : *proofs) {
    EXPECT_EQ(proof.wrong, 0) << proof.op << ": " << (proof.findings.empty() ? "" : proof.findings[0]);
    proved += proof.right > 0 ? 1 : 0;
    uneven += proof.uneven > 0 ? 1 : 0;
  }
  EXPECT_GE(proved, 400);
  EXPECT_GE(uneven, 320);
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

/// Real samples are proved in complex128 as well, where the op runs on complex tensors.
TEST(ShardingRules, AreRightForComplexTensors) {
  for (const char* op : {"aten.mul.Tensor", "aten.mm.default", "aten.sum.dim_IntList", "aten.abs.default"}) {
    const RuleCheckOptions options{.pattern = op, .samples = 1, .combinations = 40, .isWide = true};
    const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", options);
    ASSERT_TRUE(proofs) << proofs.error().text();
    ASSERT_EQ(proofs->size(), 1U) << op;
    EXPECT_EQ(proofs->front().samples, 2) << op;
    EXPECT_EQ(proofs->front().complex, 1) << op;
    EXPECT_EQ(proofs->front().wrong, 0) << op << ": " << proofs->front().findings[0];
  }
  const auto real = checkShardingRules(recordingsFolder() / "opinfo",
                                       {.pattern = "aten.floor.default", .samples = 1, .isWide = true});
  ASSERT_TRUE(real && real->size() == 1U);
  EXPECT_EQ(real->front().complex, 0);
}

TEST(ShardingRules, SayWhyAnOpIsLeftOut) {
  const auto proofs = checkShardingRules(recordingsFolder() / "opinfo",
                                         {.pattern = "aten.nonzero.default", .samples = 1, .isWide = true});
  ASSERT_TRUE(proofs) << proofs.error().text();
  ASSERT_EQ(proofs->size(), 1U);
  EXPECT_EQ(proofs->front().samples, 0);
  EXPECT_EQ(proofs->front().left, std::vector<std::string>{"sizes or numbers that it gives depend on values"});
}

/// Rows that a mask hides must not move while they are masked, and shards must not be gathered under it.
TEST(ShardingRules, MasksStayWithTheirRows) {
  for (const char* op : {"aten.transpose.int", "aten.permute.default", "aten.view.default", "aten.unsqueeze.default",
                         "aten.slice.Tensor", "aten.select.int", "aten.cat.default", "aten.mul.Tensor"}) {
    const RuleCheckOptions options{.pattern = op, .samples = 1, .combinations = 80, .isWide = true};
    const auto proofs = checkShardingRules(recordingsFolder() / "opinfo", options);
    ASSERT_TRUE(proofs) << proofs.error().text();
    for (const RuleProof& proof : *proofs)
      EXPECT_EQ(proof.wrong, 0) << proof.op << ": " << (proof.findings.empty() ? "" : proof.findings[0]);
  }
}

/// Parts of a tensor put together again, from what ranks have under every placement.
TEST(ShardingRules, PartsAreThoseOfTheWhole) {
  const auto mesh = DeviceMesh::ofSizes({2, 2});
  ASSERT_TRUE(mesh);
  const auto whole = callTensorOp("aten.arange.default"_op, {24.0});
  ASSERT_TRUE(whole) << whole.error().text();
  const auto wide = whole->to(DType::Float64);
  ASSERT_TRUE(wide);
  const auto rows = callTensorOp("aten.view.default"_op, {*wide, intList(Sizes{8, 3})});
  ASSERT_TRUE(rows) << rows.error().text();
  const auto options = placementOptions(*rows, true);
  EXPECT_EQ(options.size(), 10U);  // R, S(0), S(1), _S(0, 2), five reductions, masked rows
  for (const Placement& first : options)
    for (const Placement& second : options) {
      const Placements placements{first, second};
      const bool masks = first.kind == Placement::Kind::MaskPartial && second.kind == Placement::Kind::MaskPartial;
      const bool differ = first.isPartial() && second.isPartial() && first.reduction != second.reduction;
      if (masks || differ) continue;
      const auto made = runRanks(4, [&](Communicator& link) -> Result<void> {
        MeshRank rank(*mesh, link);
        KERF_TRY(const RulePart part, partUnder(placements, *rows, *mesh, rank.coordinate));
        KERF_TRY(const Tensor again, fullTensor(rank, part.local, Spec{part.placements, rows->sizes(), rows->dtype()}));
        const std::string text = resultDifference(again, *rows);
        return text.empty() ? Result<void>() : fail(ErrorCode::RuntimeFailed, "{}", text);
      });
      const auto cause = firstCause(made);
      EXPECT_TRUE(cause) << placementsText(placements) << ": " << cause.error().text();
    }
}

}  // namespace
}  // namespace kerf
