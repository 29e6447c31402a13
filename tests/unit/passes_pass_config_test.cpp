// Which passes run, in which order and with which options: by name, and what a wrong name is told.
#include "engine/passes/fault_plan.h"
#include "engine/passes/manager/pass_config.h"
#include "engine/passes/pass_names.h"

#include <algorithm>

#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace kerf {
namespace {

std::vector<std::string> names(const std::vector<Pass>& passes) {
  std::vector<std::string> names;
  for (const Pass& pass : passes) names.push_back(pass.name);
  return names;
}

std::vector<std::string> chosen(const PassConfig& config) {
  const auto passes = selectPasses(config);
  EXPECT_TRUE(passes.has_value()) << passes.error().text();
  return passes ? names(*passes) : std::vector<std::string>();
}

using ::testing::ElementsAre;

const std::vector<std::string> allNames = {"inline_module",
                                           "normalization_pass",
                                           "remove_identity",
                                           "fuse_conv_bn",
                                           "merge_splits_pass",
                                           "split_cat_pass",
                                           "unbind_stack_pass",
                                           "linear_permute_fusion",
                                           "matmul_permute_fusion",
                                           "fuse_parallel_linear_pass",
                                           "shape_prop",
                                           "joint_remove_noop_ops",
                                           "constant_fold_uniform_value",
                                           "pointless_view",
                                           "pointless_convert",
                                           "pointless_cumsum_replacement",
                                           "bmm_to_mm",
                                           "scatter_upon_const_tensor",
                                           "mul_softmax_pattern",
                                           "pad_mm",
                                           "replace_bernoulli",
                                           "replace_random",
                                           "joint_stable_sort",
                                           "remove_noop_ops",
                                           "constant_folding",
                                           "cse",
                                           "remove_assert_ops",
                                           "decompose_mm_pass",
                                           "woq_int8",
                                           "fused_int_mm_mul",
                                           "online_softmax",
                                           "splitwithsizes_cat_replace",
                                           "slice_scatters",
                                           "unfuse_bias_add_to_pointwise",
                                           "addmm_fusion",
                                           "reuse_partial",
                                           "move_view_after_cat_aten_pass",
                                           "dce",
                                           "reorder_for_locality",
                                           "stable_sort",
                                           "move_constructors_to_gpu",
                                           "reinplace_inplaceable_ops",
                                           "decompose_auto_functionalized",
                                           "collective_bucketing"};

Pass named(const std::vector<Pass>& passes, std::string_view name) {
  return *std::ranges::find(passes, name, &Pass::name);
}

TEST(DefaultPasses, HaveStableNamesInOrder) {
  for (const Pass& pass : defaultPasses()) {
    EXPECT_FALSE(pass.description.empty()) << pass.name;
    EXPECT_FALSE(pass.place.empty()) << pass.name << ": say why it runs there";
    EXPECT_TRUE(pass.run) << pass.name;
    for (const PassOption& option : pass.options.all()) EXPECT_FALSE(option.description.empty()) << option.name;
  }
  EXPECT_EQ(names(defaultPasses()), allNames);
}

TEST(PassConfig, DisablesRepeatsAndOrders) {
  EXPECT_EQ(chosen({}), allNames);
  std::vector<std::string> fewer = allNames;
  std::erase(fewer, "cse");
  std::erase(fewer, "dce");
  EXPECT_EQ(chosen({.disabled = {"cse", "dce"}}), fewer);
  EXPECT_THAT(chosen({.only = std::vector<std::string>{"dce", "cse", "dce"}}), ElementsAre("dce", "cse", "dce"));
  EXPECT_THAT(chosen({.only = std::vector<std::string>{"dce", "cse"}, .disabled = {"dce"}}), ElementsAre("cse"));
  EXPECT_THAT(chosen({.only = std::vector<std::string>{}}), ElementsAre());
}

TEST(PassConfig, ReplacesByName) {
  const Pass own{.name = "cse", .description = "My own."};
  const auto passes = selectPasses({.replacements = {own}});
  ASSERT_TRUE(passes.has_value());
  EXPECT_EQ(std::ranges::find(*passes, "cse", &Pass::name)->description, "My own.");
  EXPECT_EQ(names(*passes), allNames);
}

TEST(PassConfig, PatchesOptions) {
  const auto patch = parsePassPatch("constant_folding.max_bytes=1024");
  ASSERT_TRUE(patch.has_value()) << patch.error().text();
  const auto passes = selectPasses({.patches = {*patch}});
  ASSERT_TRUE(passes.has_value());
  EXPECT_EQ(named(*passes, "constant_folding").options.value<std::int64_t>("max_bytes"), 1024);
  EXPECT_EQ(named(defaultPasses(), "constant_folding").options.value<std::int64_t>("max_bytes"), 65536);
}

TEST(PassConfig, TellsWhatThereIs) {
  for (const auto& refused :
       {selectPasses({.disabled = {"csee"}}), selectPasses({.only = std::vector<std::string>{"csee"}}),
        selectPasses({.replacements = {Pass{.name = "csee"}}})}) {
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::BadUsage);
    EXPECT_EQ(refused.error().message,
              fmt::format("there is no pass 'csee'; did you mean cse? The passes are {}", fmt::join(allNames, ", ")));
  }
}

TEST(PassNames, TakesThoseOfEarlierVersions) {
  EXPECT_EQ(currentPassName("matmul_padding"), "pad_mm");
  EXPECT_EQ(currentPassName("pad_mm"), "pad_mm");
  EXPECT_EQ(currentPassName("csee"), "csee");
  EXPECT_THAT(chosen({.only = std::vector<std::string>{"view_cleanup", "no_op_removal"}}),
              ElementsAre("pointless_view", "remove_noop_ops"));
  const auto fewer = chosen({.disabled = {"uniform_cumsum"}});
  EXPECT_EQ(fewer.size(), allNames.size() - 1);
  EXPECT_EQ(std::ranges::count(fewer, "pointless_cumsum_replacement"), 0);
  const auto patch = parsePassPatch("small_matmul.enabled=true");
  ASSERT_TRUE(patch.has_value()) << patch.error().text();
  EXPECT_EQ(patch->pass, "decompose_mm_pass");
  EXPECT_EQ(parseFault("pass:locality_order=crash")->subject, "reorder_for_locality");
}

TEST(PassNames, SuggestsNearOnesAndWhatDoesItAmongOtherThings) {
  EXPECT_THAT(suggestedPasses("pad_m", allNames), ElementsAre("pad_mm"));
  EXPECT_THAT(suggestedPasses("split_cat", allNames), ElementsAre("split_cat_pass"));
  EXPECT_THAT(suggestedPasses("pointless_permute_pair", allNames), ElementsAre("pointless_view"));
  EXPECT_THAT(suggestedPasses("prepare_softmax_pattern", allNames), ElementsAre("online_softmax"));
  EXPECT_THAT(suggestedPasses("constant", allNames), ElementsAre("constant_folding", "constant_fold_uniform_value"));
  EXPECT_THAT(suggestedPasses("zzz", allNames), ElementsAre());
}

TEST(PassConfig, RefusesPatchesThatFitNoOption) {
  const std::pair<const char*, const char*> refused[] = {
      {"max_bytes=1", "write PASS.OPTION=VALUE"},
      {"constant_folding.max_bytes", "write PASS.OPTION=VALUE"},
      {"folding.max_bytes=1", "there is no pass 'folding'"},
      {"constant_folding.bytes=1", "there is no option 'bytes'; there is max_bytes, max_intermediate_bytes"},
      {"constant_folding.max_bytes=many", "option max_bytes takes an int, not 'many'"},
      {"constant_folding.max_bytes=1.5", "option max_bytes takes an int, not '1.5'"},
      {"cse.level=1", "this pass has none"}};
  for (const auto& [text, message] : refused) {
    const auto patch = parsePassPatch(text);
    ASSERT_FALSE(patch.has_value()) << text;
    EXPECT_EQ(patch.error().code, ErrorCode::BadUsage) << text;
    EXPECT_THAT(patch.error().message, ::testing::HasSubstr(message)) << text;
  }
  const PassPatch wrongType{"constant_folding", "max_bytes", 0.5};
  EXPECT_EQ(selectPasses({.patches = {wrongType}}).error().code, ErrorCode::BadUsage);
}

TEST(PassConfig, RefusesToGoBackToAStageThatIsOver) {
  Pass early{.name = "cse", .stage = PassStage::PreGrad};
  const PassConfig config{.only = std::vector<std::string>{"dce", "cse"}, .replacements = {early}};
  const auto refused = selectPasses(config);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("pass cse belongs to stage pre_grad"));
}

TEST(PassConfig, HasAStableText) {
  EXPECT_EQ(PassConfig().text(), "");
  const PassConfig config{.only = std::vector<std::string>{"cse", "dce"},
                          .disabled = {"dce"},
                          .patches = {*parsePassPatch("constant_folding.max_bytes=7")}};
  EXPECT_EQ(config.text(), "only cse,dce; no dce; constant_folding.max_bytes=7");
  EXPECT_EQ((PassConfig{.only = std::vector<std::string>{}}).text(), "only none");
}

TEST(PassOptions, ReadEveryType) {
  const PassOptions options{{"flag", true, "A flag."},
                            {"size", std::int64_t{1}, "A size."},
                            {"rate", 0.5, "A rate."},
                            {"mode", std::string("a"), "A mode."}};
  EXPECT_EQ(*options.parse("flag", "false"), PassOptionValue(false));
  EXPECT_EQ(*options.parse("size", "-3"), PassOptionValue(std::int64_t{-3}));
  EXPECT_EQ(*options.parse("rate", "0.25"), PassOptionValue(0.25));
  EXPECT_EQ(*options.parse("mode", "b c"), PassOptionValue(std::string("b c")));
  EXPECT_FALSE(options.parse("flag", "yes"));
  EXPECT_FALSE(options.parse("rate", ""));
  EXPECT_EQ(options.value<double>("none"), 0);
}

}  // namespace
}  // namespace kerf
