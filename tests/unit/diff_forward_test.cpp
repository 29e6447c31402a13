// A model's graph beside the forward graph that AOTAutograd made of it, which also returns what the backward graph needs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/diff/graph_diff.h"
#include "engine/ir/parser.h"

namespace kerf {
namespace {

GraphModule moduleOf(const std::string& text) {
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().text());
  return module ? std::move(*module) : GraphModule{};
}

const std::string norm = "    # File: net.py:9 in forward, code: y = self.norm(x)\n";
const std::string relu = "    # File: net.py:10 in forward, code: return relu(y)\n";

std::string modelText() {
  return "def forward(self, x: \"f32[4, 8]\", w: \"f32[8]\", b: \"f32[8]\"):\n" + norm +
         "    y: \"f32[4, 8]\" = torch.nn.functional.layer_norm(x, (8,), w, b, 1e-05)\n" + relu +
         "    z: \"f32[4, 8]\" = torch.nn.functional.relu(y)\n    return (z,)\n";
}

/// The rewrites of one call into several; others only name the same computation as ATen does (operator.mul → aten.mul).
std::vector<Rewrite> severalFor(const GraphDiff& diff) {
  std::vector<Rewrite> several;
  for (const auto& rewrite : diff.rewrites)
    if (rewrite.after.size() > 1) several.push_back(rewrite);
  return several;
}

/// `behind`: what is computed for the backward graph alone, and `kept` of it.
std::string forwardText(const std::string& behind, const std::string& kept) {
  return "def forward(self, primals_1: \"f32[4, 8]\", primals_2: \"f32[8]\", primals_3: \"f32[8]\"):\n" + norm +
         "    var_mean = torch.ops.aten.var_mean.correction(primals_1, [1], correction = 0, keepdim = True)\n"
         "    getitem: \"f32[4, 1]\" = var_mean[0]\n    getitem_1: \"f32[4, 1]\" = var_mean[1]\n"
         "    add: \"f32[4, 1]\" = torch.ops.aten.add.Tensor(getitem, 1e-05)\n"
         "    rsqrt: \"f32[4, 1]\" = torch.ops.aten.rsqrt.default(add)\n"
         "    sub: \"f32[4, 8]\" = torch.ops.aten.sub.Tensor(primals_1, getitem_1)\n"
         "    mul: \"f32[4, 8]\" = torch.ops.aten.mul.Tensor(sub, rsqrt)\n"
         "    mul_1: \"f32[4, 8]\" = torch.ops.aten.mul.Tensor(mul, primals_2)\n"
         "    add_1: \"f32[4, 8]\" = torch.ops.aten.add.Tensor(mul_1, primals_3)\n" +
         relu + "    relu: \"f32[4, 8]\" = torch.ops.aten.relu.default(add_1)\n" + behind + "    return (relu" + kept +
         ",)\n";
}

TEST(DiffForward, WhatIsKeptForTheBackwardGraphHidesNoRewrite) {
  const GraphModule model = moduleOf(modelText());
  const std::string cases[][2] = {
      {"", ""},
      {norm + "    div: \"f32[4, 1]\" = torch.ops.aten.div.Tensor(rsqrt, 8)\n", ", primals_2, mul, div"},
      {"    le: \"b8[4, 8]\" = torch.ops.aten.le.Scalar(relu, 0)\n" + norm +
           "    div: \"f32[4, 1]\" = torch.ops.aten.div.Tensor(rsqrt, 8)\n",
       ", mul, le, div"}};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const GraphModule forward = moduleOf(forwardText(cases[i][0], cases[i][1]));
    const GraphDiff diff = diffGraphs(model.graph, forward.graph);
    const auto rewrites = severalFor(diff);
    ASSERT_EQ(rewrites.size(), 1u) << i;
    ASSERT_EQ(rewrites[0].before.size(), 1u) << i;
    EXPECT_EQ(model.graph.node(rewrites[0].before[0]).name(), "y") << i;
    EXPECT_EQ(rewrites[0].after.size(), 9u) << i;
    EXPECT_EQ(diff.count(&NodeDelta::removed), 0u) << i;
    EXPECT_EQ(diff.count(&NodeDelta::added), i) << i;
  }
}

TEST(DiffForward, SeedsOfAllRandomCallsBelongToNone) {
  const GraphModule model = moduleOf(
      "def forward(self, x: \"f32[4]\"):\n"
      "    a: \"f32[4]\" = torch.nn.functional.dropout(x, 0.1, True, False)\n"
      "    b: \"f32[4]\" = torch.sin(a)\n"
      "    c: \"f32[4]\" = torch.nn.functional.dropout(b, 0.1, True, False)\n    return (c,)\n");
  const auto dropout = [](int i, const std::string& of) {
    return fmt::format(
        "    lookup_{0}: \"i64[]\" = torch.ops.prims.inductor_lookup_seed.default(seeds, {0})\n"
        "    random_{0}: \"f32[4]\" = torch.ops.prims.inductor_random.default([4], lookup_{0}, 'rand')\n"
        "    gt_{0}: \"b8[4]\" = torch.ops.aten.gt.Scalar(random_{0}, 0.1)\n"
        "    mul_{0}: \"f32[4]\" = torch.ops.aten.mul.Tensor(gt_{0}, {1})\n"
        "    scaled_{0}: \"f32[4]\" = torch.ops.aten.mul.Tensor(mul_{0}, 1.1111111111111112)\n",
        i, of);
  };
  const GraphModule forward = moduleOf(
      "def forward(self, primals_1: \"f32[4]\"):\n"
      "    seeds: \"i64[2]\" = torch.ops.prims.inductor_seeds.default(2, device(type='cpu'))\n" +
      dropout(0, "primals_1") + "    sin: \"f32[4]\" = torch.ops.aten.sin.default(scaled_0)\n" + dropout(1, "sin") +
      "    return (scaled_1, gt_0, gt_1)\n");
  const GraphDiff diff = diffGraphs(model.graph, forward.graph);
  EXPECT_EQ(severalFor(diff).size(), 2u);
  EXPECT_EQ(diff.count(&NodeDelta::removed), 0u);
  EXPECT_EQ(diff.count(&NodeDelta::added), 1u);
}

TEST(DiffForward, CallsThatPartitioningMadeOneAreNoSecondResult) {
  const GraphModule model = moduleOf(
      "def forward(self, x: \"f32[2, 4, 8]\", w: \"f32[8, 8]\", v: \"f32[8, 8]\", b: \"f32[8]\"):\n"
      "    a: \"f32[2, 4, 8]\" = torch._C._nn.linear(x, w, b)\n"
      "    c: \"f32[2, 4, 8]\" = torch._C._nn.linear(x, v, b)\n"
      "    y: \"f32[2, 4, 8]\" = a * c\n    return (y,)\n");
  const GraphModule forward = moduleOf(
      "def forward(self, primals_1: \"f32[2, 4, 8]\", primals_2: \"f32[8, 8]\", primals_3: \"f32[8, 8]\", "
      "primals_4: \"f32[8]\"):\n"
      "    view: \"f32[8, 8]\" = torch.ops.aten.view.default(primals_1, [8, 8])\n"
      "    permute: \"f32[8, 8]\" = torch.ops.aten.permute.default(primals_2, [1, 0])\n"
      "    addmm: \"f32[8, 8]\" = torch.ops.aten.addmm.default(primals_4, view, permute)\n"
      "    view_1: \"f32[2, 4, 8]\" = torch.ops.aten.view.default(addmm, [2, 4, 8])\n"
      "    permute_1: \"f32[8, 8]\" = torch.ops.aten.permute.default(primals_3, [1, 0])\n"
      "    addmm_1: \"f32[8, 8]\" = torch.ops.aten.addmm.default(primals_4, view, permute_1)\n"
      "    view_3: \"f32[2, 4, 8]\" = torch.ops.aten.view.default(addmm_1, [2, 4, 8])\n"
      "    mul: \"f32[2, 4, 8]\" = torch.ops.aten.mul.Tensor(view_1, view_3)\n"
      "    return (mul, view, view_1, view_3)\n");
  const GraphDiff diff = diffGraphs(model.graph, forward.graph);
  EXPECT_EQ(severalFor(diff).size(), 2u);
  EXPECT_EQ(diff.count(&NodeDelta::removed), 0u);
  EXPECT_EQ(diff.count(&NodeDelta::added), 0u);
}

}  // namespace
}  // namespace kerf
