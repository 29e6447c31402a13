// Attention in recorded joint graphs: what PyTorch wrote is what the patterns' own traces look like.
#include <fstream>
#include <sstream>

#include "engine/ir/parser.h"
#include "engine/patterns/fuse_attention.h"
#include "engine/patterns/matcher_input.h"
#include "engine/patterns/shipped_patterns.h"
#include "patterns_testing.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

using namespace testing;

std::optional<GraphModule> recorded(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  auto module = parseReadable(text.str());
  EXPECT_TRUE(module) << module.error().text();
  return module ? std::optional(std::move(*module)) : std::nullopt;
}

TEST(RecordedAttention, OfAJointGraphIsFusedWithItsValues) {
  const auto path = recordingsFolder() / "golden/attention/train_joint.txt";
  const auto module = recorded(path);
  if (!module) GTEST_SKIP() << leftOut(path);
  const auto matcher = attentionMatcher();
  ASSERT_TRUE(matcher) << matcher.error().text();
  const auto prepared = matcherInput(*module);
  ASSERT_TRUE(prepared) << prepared.error().text();
  GraphModule fused = *prepared;
  const auto replaced = (*matcher)->apply(fused);
  ASSERT_TRUE(replaced) << replaced.error().text();
  if (replaced->empty()) {
    const auto miss = (*matcher)->explain(*prepared, "sfdp_pattern_11_training");
    FAIL() << (miss && *miss ? (*miss)->reason : "");
  }
  ASSERT_EQ(replaced->size(), 1u);
  EXPECT_EQ((*replaced)[0].pattern, "sfdp_pattern_11_training");
  EXPECT_TRUE(fused.graph.lint());
  const auto has = [&](std::string_view target) {
    return std::ranges::any_of(fused.graph.order(), [&](NodeId id) { return fused.graph.node(id).target() == target; });
  };
  EXPECT_TRUE(has("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default"));
  EXPECT_FALSE(has("torch.ops.aten.bmm.default"));
  expectSameValues(*module, fused, 1e-4);
}

TEST(RecordedAttention, ThePassFusesItAndLeavesOtherGraphsUntouched) {
  const auto path = recordingsFolder() / "golden/attention/train_joint.txt";
  auto module = recorded(path);
  if (!module) GTEST_SKIP() << leftOut(path);
  const Pass pass = fuseAttentionPass();
  const std::size_t before = module->graph.size();
  ASSERT_TRUE(pass.run(*module, {pass.options, ""}));
  EXPECT_LT(module->graph.size(), before);
  const auto revision = module->revision();
  ASSERT_TRUE(pass.run(*module, {pass.options, ""}));
  EXPECT_EQ(module->revision(), revision) << "nothing is left to fuse";
}

TEST(RecordedAttention, TheSafeSoftmaxOfAttentionWithAMaskIsNoPattern) {
  const auto path = recordingsFolder() / "golden/bert_mini/train_joint.txt";
  const auto module = recorded(path);
  if (!module) GTEST_SKIP() << leftOut(path);
  const auto prepared = matcherInput(*module);
  ASSERT_TRUE(prepared) << prepared.error().text();
  GraphModule fused = *prepared;
  const auto replaced = (*attentionMatcher())->apply(fused);
  ASSERT_TRUE(replaced) << replaced.error().text();
  for (const ReplacedMatch& match : *replaced) ADD_FAILURE() << match.pattern << " at " << match.result;
  const auto miss = (*attentionMatcher())->explain(*prepared, "sfdp_pattern_14_training");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->reason, "mul_10 is aten.mul.Tensor, the pattern has aten.div.Tensor") << "not a linear layer";
}

}  // namespace
}  // namespace kerf
