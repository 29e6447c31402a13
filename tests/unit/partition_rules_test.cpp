// Why a value is not computed again: each ban rule on a small joint graph, and what just escapes it.
#include <gtest/gtest.h>

#include "engine/ir/parser.h"
#include "engine/partition/partition.h"

namespace kerf {
namespace {

/// A joint graph of `calls` on primals_1, f32[8, 8], and tangents_1.
GraphModule jointOf(const std::string& calls, const std::string& outputs, const std::string& more = {}) {
  const std::string text = fmt::format(
      "class joint(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[8, 8][8, 1]cpu\"{}, tangents_1: \"f32[8, 8][8, 1]cpu\"):\n{}"
      "        return [{}]\n",
      more, calls, outputs);
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << module.error().text();
  return module ? std::move(*module) : GraphModule();
}

std::string call(const std::string& name, const std::string& op, const std::string& args) {
  return fmt::format("        {}: \"f32[8, 8][8, 1]cpu\" = torch.ops.aten.{}({})\n", name, op, args);
}

/// The rule that bans the node; empty: none does.
std::string ruleOf(const GraphModule& module, const std::string& name, const BanRules& rules = {},
                   const JointOptions& options = {}) {
  const auto joint = readJointGraph(module, options);
  EXPECT_TRUE(joint) << joint.error().text();
  if (!joint) return "no joint graph";
  const Bans bans = banNodes(*joint, rules, {});
  for (int place = 0; place < int(joint->nodes.size()); ++place)
    if (joint->name(place) == name) return std::string(bans.rules[std::size_t(place)]);
  return "no such node";
}

/// What the forward part returns, so that it needs the node without the node being an output.
std::string out(const std::string& node) { return call("neg", "neg.default", node); }

const std::string sine = call("sin", "sin.default", "primals_1");
const std::string slope = call("mul", "mul.Tensor", "tangents_1, sin");

TEST(BanRulesTest, InputsAreNeverMadeAgain) {
  const GraphModule module = jointOf(sine + slope, "sin, mul");
  EXPECT_EQ(ruleOf(module, "primals_1"), "input");
  EXPECT_EQ(ruleOf(module, "tangents_1"), "");
}

int copiesIn(const Graph& graph) {
  return int(
      std::ranges::count_if(graph.order(), [&](NodeId id) { return graph.node(id).isCall("aten.copy_.default"_op); }));
}

/// Nothing in a text says to which part a copy_ into an input belongs.
TEST(MutationsTest, AreMadeOnceWhereTheirValueIs) {
  for (const bool backward : {false, true}) {
    const std::string copy = call("copy_", "copy_.default", backward ? "primals_2, mul" : "primals_2, sin");
    const GraphModule module = jointOf(sine + slope + copy, "sin, mul, None", ", primals_2: \"f32[8, 8][8, 1]cpu\"");
    for (const double budget : {0.0, 0.5, 1.0}) {
      const auto partition = partitionJoint(module, {}, budget);
      ASSERT_TRUE(partition) << partition.error().text();
      EXPECT_EQ(copiesIn(partition->forward.graph), backward ? 0 : 1) << budget;
      EXPECT_EQ(copiesIn(partition->backward.graph), backward ? 1 : 0) << budget;
    }
  }
}

TEST(MutationsTest, ATagSaysToWhichPartTheyBelong) {
  for (const bool backward : {false, true}) {
    GraphModule module = jointOf(sine + slope + call("copy_", "copy_.default", "primals_2, sin"), "sin, mul, None",
                                 ", primals_2: \"f32[8, 8][8, 1]cpu\"");
    const NodeId copy = *module.graph.find("copy_");
    NodeMeta meta = module.graph.node(copy).meta();
    meta.extra.emplace_back("partitioner_tag", backward ? "'must_be_in_backward'" : "'must_be_in_forward'");
    module.graph.setMeta(copy, std::move(meta));
    const auto partition = partitionJoint(module);
    ASSERT_TRUE(partition) << partition.error().text();
    EXPECT_EQ(copiesIn(partition->forward.graph), backward ? 0 : 1);
    EXPECT_EQ(copiesIn(partition->backward.graph), backward ? 1 : 0);
  }
}

TEST(BanRulesTest, OpsOffTheListAreHeavy) {
  const std::string product = call("mm", "mm.default", "primals_1, primals_1");
  const GraphModule module = jointOf(product + call("mul", "mul.Tensor", "tangents_1, mm") + out("mm"), "neg, mul");
  EXPECT_EQ(ruleOf(module, "mm"), "allow_list");
  EXPECT_EQ(ruleOf(module, "mm", BanRules().aggressive()), "compute_intensive");
  const std::string sort = call("cumsum", "cumsum.default", "primals_1, 0");
  const GraphModule light = jointOf(sort + call("mul", "mul.Tensor", "tangents_1, cumsum") + out("cumsum"), "neg, mul");
  EXPECT_EQ(ruleOf(light, "cumsum"), "allow_list");
  EXPECT_EQ(ruleOf(light, "cumsum", BanRules().aggressive()), "") << "off the list, but not heavy";
}

TEST(BanRulesTest, RandomDrawsAreOthersTheSecondTime) {
  const std::string draw = call("rand", "rand_like.default", "primals_1");
  const GraphModule module = jointOf(draw + call("mul", "mul.Tensor", "tangents_1, rand") + out("rand"), "neg, mul");
  EXPECT_EQ(ruleOf(module, "rand"), "random");
  EXPECT_EQ(ruleOf(module, "rand", BanRules().aggressive()), "random");
}

TEST(BanRulesTest, PoliciesOfCheckpointsAreKept) {
  const GraphModule module = jointOf(
      sine + call("cos", "cos.default", "sin") + call("mul", "mul.Tensor", "tangents_1, cos") + out("cos"), "neg, mul");
  EXPECT_EQ(ruleOf(module, "sin"), "");
  JointOptions options;
  options.policies = {{"sin", RecomputePolicy::MustSave}};
  EXPECT_EQ(ruleOf(module, "sin", {}, options), "must_save");
  options.policies = {{"primals_1", RecomputePolicy::MustRecompute}};
  EXPECT_EQ(ruleOf(module, "primals_1", {}, options), "") << "a tag wins over every rule";
}

TEST(BanRulesTest, WhatTheBackwardPartReadsFromMemoryIsThereAnyway) {
  const std::string product = call("mm", "mm.default", "tangents_1, sin");
  EXPECT_EQ(ruleOf(jointOf(sine + product + out("sin"), "neg, mm"), "sin"), "materialized") << "no product fuses";
  EXPECT_EQ(ruleOf(jointOf(sine + slope + out("sin"), "neg, mul"), "sin"), "") << "a pointwise op does";
  EXPECT_EQ(ruleOf(jointOf(sine + slope, "sin, mul"), "sin"), "materialized") << "it is an output";
  const std::string view = "        permute: \"f32[8, 8][1, 8]cpu\" = torch.ops.aten.permute.default(sin, [1, 0])\n";
  const GraphModule seen =
      jointOf(sine + view + call("mm", "mm.default", "tangents_1, permute") + out("sin"), "neg, mm");
  EXPECT_EQ(ruleOf(seen, "sin"), "materialized") << "through a view too";
  EXPECT_EQ(ruleOf(seen, "permute"), "") << "views themselves never are";
  EXPECT_EQ(ruleOf(jointOf(sine + product + out("sin"), "neg, mm"), "sin", BanRules().moreAggressive()), "");
}

TEST(BanRulesTest, ReductionsAreSmall) {
  const auto withSum = [](const std::string& kind, const std::string& dims) {
    const std::string sum =
        fmt::format("        sum_1: \"{}\" = torch.ops.aten.sum.dim_IntList(sin, {}, True)\n", kind, dims);
    return jointOf(sine + sum + call("mul", "mul.Tensor", "tangents_1, sum_1") + out("sum_1"), "neg, mul");
  };
  EXPECT_EQ(ruleOf(withSum("f32[8, 1][1, 1]cpu", "[1]"), "sum_1"), "reduction");
  EXPECT_EQ(ruleOf(withSum("f32[8, 1][1, 1]cpu", "[1]"), "sin"), "") << "as large as its operand";
  BanRules without;
  without.reductions = false;
  EXPECT_EQ(ruleOf(withSum("f32[8, 1][1, 1]cpu", "[1]"), "sum_1", without), "");
}

TEST(BanRulesTest, WhatIsFarFromTheBackwardPartIsSaved) {
  const std::string chain = sine + call("cos", "cos.default", "sin") + call("exp", "exp.default", "cos");
  const GraphModule module = jointOf(chain + call("mul", "mul.Tensor", "tangents_1, exp") + out("exp"), "neg, mul");
  BanRules near;
  near.farthestFromBackward = 2;
  EXPECT_EQ(ruleOf(module, "sin", near), "distance");
  EXPECT_EQ(ruleOf(module, "cos", near), "");
  EXPECT_EQ(ruleOf(module, "sin"), "");
}

TEST(BanRulesTest, AValueWithNearAndFarUsersIsReadOnce) {
  // primals_1 → sin (near), then through a product that does not fuse; cos reads primals_1 again behind it.
  const std::string more = ", primals_2: \"f32[8, 8][8, 1]cpu\"";
  const std::string calls = call("abs_1", "abs.default", "primals_1") + call("sin", "sin.default", "abs_1") +
                            call("mm", "mm.default", "sin, primals_2") + call("cos", "cos.default", "abs_1") +
                            call("add", "add.Tensor", "mm, cos") + call("mul", "mul.Tensor", "tangents_1, add") +
                            out("add");
  const GraphModule module = jointOf(calls, "neg, mul, None", more);
  EXPECT_EQ(ruleOf(module, "cos"), "used_far_apart");
  EXPECT_EQ(ruleOf(module, "abs_1"), "");
  const std::string fused = call("abs_1", "abs.default", "primals_1") + call("sin", "sin.default", "abs_1") +
                            call("cos", "cos.default", "abs_1") + call("add", "add.Tensor", "sin, cos") +
                            call("mul", "mul.Tensor", "tangents_1, add") + out("add");
  EXPECT_EQ(ruleOf(jointOf(fused, "neg, mul"), "cos"), "") << "all of it fuses into one kernel";
}

/// `length` sines after each other.
GraphModule chainOf(int length) {
  std::string calls, last = "primals_1";
  for (int i = 0; i < length; ++i) {
    const std::string name = fmt::format("sin_{}", i + 1);
    calls += call(name, "sin.default", last);
    last = name;
  }
  return jointOf(calls + call("mul", "mul.Tensor", "tangents_1, " + last) + out(last), "neg, mul");
}

TEST(BanRulesTest, ChainsThroughTheWholeModelAreCut) {
  const auto cutsOf = [](const GraphModule& module) {
    const auto joint = readJointGraph(module, {});
    EXPECT_TRUE(joint);
    const Bans bans = banNodes(*joint, {}, {});
    return std::ranges::count(bans.rules, "long_chain");
  };
  EXPECT_EQ(cutsOf(chainOf(90)), 0);
  EXPECT_EQ(cutsOf(chainOf(150)), 1);
}

}  // namespace
}  // namespace kerf
