// Verifying made compilations: gradients, mutations, kinks, attributes, and stages that fail.
#include "engine/ir/parser.h"
#include "tests/unit/verify_testing.h"

namespace kerf {
namespace {

using namespace testing;
using Kind = PairVerdict::Kind;
struct VerifyMadeStages : VerifyStages {};

/// A record of a log, as PyTorch writes it but for its MD5.
std::string record(const std::string& stage, const std::string& text) {
  std::string payload;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    payload += "\t" + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return fmt::format(
      "V1121 10:00:01.200000 77 torch/_functorch/x.py:1] {{\"{}\": {{}}, \"frame_id\": 0, "
      "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"0\"}}\n{}",
      stage, payload);
}

/// relu(x * w) and its gradients, as logs without AOTAutograd's descriptions have it. x is in `dynamo` the first input.
constexpr const char* dynamo = R"(class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4, 3][3, 1]cpu", L_w_: "f32[4, 3][3, 1]cpu"):
        mul: "f32[4, 3][3, 1]cpu" = L_x_ * L_w_
        relu: "f32[4, 3][3, 1]cpu" = torch.relu(mul)
        return (relu,)
)";
constexpr const char* joint = R"(class joint_fn(torch.nn.Module):
    def forward(self, primals_1: "f32[4, 3][3, 1]cpu", primals_2: "f32[4, 3][3, 1]cpu", tangents_1: "f32[4, 3][3, 1]cpu"):
        mul: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(primals_1, primals_2)
        relu: "f32[4, 3][3, 1]cpu" = torch.ops.aten.relu.default(mul)
        gt: "b8[4, 3][3, 1]cpu" = torch.ops.aten.gt.Scalar(relu, 0)
        mul_1: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, gt)
        mul_2: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(mul_1, primals_2)
        mul_3: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(mul_1, primals_1)
        return [relu, mul_2, mul_3]
)";
constexpr const char* forward = R"(class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[4, 3][3, 1]cpu", primals_2: "f32[4, 3][3, 1]cpu"):
        mul: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(primals_1, primals_2)
        relu: "f32[4, 3][3, 1]cpu" = torch.ops.aten.relu.default(mul)
        gt: "b8[4, 3][3, 1]cpu" = torch.ops.aten.gt.Scalar(relu, 0)
        return (relu, primals_1, primals_2, gt)
)";
constexpr const char* backward = R"(class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[4, 3][3, 1]cpu", primals_2: "f32[4, 3][3, 1]cpu", gt: "b8[4, 3][3, 1]cpu", tangents_1: "f32[4, 3][3, 1]cpu"):
        mul_1: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, gt)
        mul_2: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(mul_1, primals_2)
        mul_3: "f32[4, 3][3, 1]cpu" = torch.ops.aten.mul.Tensor(mul_1, primals_1)
        return (mul_2, mul_3)
)";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string trainingLog(const std::string& jointText, const std::string& backwardText) {
  return record("dynamo_output_graph", dynamo) + record("aot_joint_graph", jointText) +
         record("aot_forward_graph", forward) + record("aot_backward_graph", backwardText);
}

TEST_F(VerifyMadeStages, LogsWithoutDescriptionsGoByNameAndPosition) {
  const auto verdict = verify(trainingLog(joint, backward)).front();
  ASSERT_EQ(verdict.pairs.size(), 2u);
  EXPECT_EQ(verdict.pairs[0].kind, Kind::Same) << verdict.pairs[0].why;
  ASSERT_TRUE(verdict.pairs[0].gradients.has_value());
  EXPECT_TRUE(verdict.pairs[0].gradients->done) << verdict.pairs[0].gradients->why;
  EXPECT_EQ(verdict.pairs[0].gradients->inputs, 2u);
  EXPECT_LT(verdict.pairs[0].gradients->relativeError, 1e-6);
  EXPECT_EQ(verdict.pairs[1].kind, Kind::Same) << verdict.pairs[1].why;
  EXPECT_EQ(verdict.pairs[1].values.size(), 3u);  // out:0, grad:0, grad:1
}

/// A wrong formula that joint and backward graph share: only finite differences see it, and they tell whose it is.
TEST_F(VerifyMadeStages, FiniteDifferencesSeeAWrongGradient) {
  const auto wrong = [](const char* text) {
    return changed(text, "mul.Tensor(mul_1, primals_1)", "mul.Tensor(mul_1, primals_2)");
  };
  const auto verdict = verify(trainingLog(wrong(joint), wrong(backward))).front();
  ASSERT_EQ(verdict.pairs.size(), 2u);
  EXPECT_EQ(verdict.pairs[0].kind, Kind::Different);
  EXPECT_THAT(verdict.pairs[0].gradients->suspects, ::testing::ElementsAre("grad:1"));
  EXPECT_THAT(verdict.pairs[0].why, ::testing::HasSubstr("grad:1"));
  EXPECT_EQ(verdict.pairs[1].kind, Kind::Same);
}

TEST_F(VerifyMadeStages, AWrongBackwardGraphIsNamedThere) {
  const auto verdict =
      verify(trainingLog(joint, changed(backward, "mul.Tensor(mul_1, primals_1)", "add.Tensor(mul_1, primals_1)")))
          .front();
  EXPECT_EQ(verdict.pairs[0].kind, Kind::Same);
  EXPECT_EQ(verdict.pairs[1].kind, Kind::Different);
  EXPECT_EQ(verdict.pairs[1].changedIn, "aot_backward_graph");
  EXPECT_EQ(verdict.pairs[1].changed.node, "mul_3");
}

/// The later stage writes into an input, the earlier one does not.
TEST_F(VerifyMadeStages, AMutationOfOneStageOnlyIsADifference) {
  const std::string pure = R"(class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[4][1]cpu"):
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, 2)
        return (mul,)
)";
  const auto writing =
      changed(pure, "        return",
              "        copy_: \"f32[4][1]cpu\" = torch.ops.aten.copy_.default(arg0_1, mul)\n        return");
  const auto verdict = verify(record("before_joint_graph", pure) + record("after_joint_graph", writing)).front();
  ASSERT_EQ(verdict.pairs.size(), 1u);
  EXPECT_EQ(verdict.pairs[0].kind, Kind::Different);
  EXPECT_THAT(verdict.pairs[0].why, ::testing::HasSubstr("mutates:0: only the later stage changes this input"));
}

/// running_mean and running_var are written in place by Dynamo's call, and given back or copied by ATen's.
TEST_F(VerifyMadeStages, RunningStatisticsAreResults) {
  const std::string called = R"(class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4, 3, 2, 2][12, 4, 2, 1]cpu", L_mean_: "f32[3][1]cpu", L_var_: "f32[3][1]cpu"):
        y: "f32[4, 3, 2, 2][12, 4, 2, 1]cpu" = torch.nn.functional.batch_norm(L_x_, L_mean_, L_var_, None, None, True, 0.1, 1e-05)
        return (y,)
)";
  const std::string functional = R"(class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[4, 3, 2, 2][12, 4, 2, 1]cpu", arg1_1: "f32[3][1]cpu", arg2_1: "f32[3][1]cpu"):
        var_mean = torch.ops.aten.var_mean.correction(arg0_1, [0, 2, 3], correction = 0, keepdim = True)
        getitem: "f32[1, 3, 1, 1][3, 1, 1, 1]cpu" = var_mean[0]
        getitem_1: "f32[1, 3, 1, 1][3, 1, 1, 1]cpu" = var_mean[1]
        add: "f32[1, 3, 1, 1][3, 1, 1, 1]cpu" = torch.ops.aten.add.Tensor(getitem, 1e-05)
        rsqrt: "f32[1, 3, 1, 1][3, 1, 1, 1]cpu" = torch.ops.aten.rsqrt.default(add)
        sub: "f32[4, 3, 2, 2][12, 4, 2, 1]cpu" = torch.ops.aten.sub.Tensor(arg0_1, getitem_1)
        mul: "f32[4, 3, 2, 2][12, 4, 2, 1]cpu" = torch.ops.aten.mul.Tensor(sub, rsqrt)
        squeeze: "f32[3][1]cpu" = torch.ops.aten.squeeze.dims(getitem_1, [0, 2, 3])
        mul_1: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(squeeze, 0.1)
        mul_2: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(arg1_1, 0.9)
        add_1: "f32[3][1]cpu" = torch.ops.aten.add.Tensor(mul_1, mul_2)
        squeeze_1: "f32[3][1]cpu" = torch.ops.aten.squeeze.dims(getitem, [0, 2, 3])
        mul_3: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(squeeze_1, 1.0666666666666667)
        mul_4: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(mul_3, 0.1)
        mul_5: "f32[3][1]cpu" = torch.ops.aten.mul.Tensor(arg2_1, 0.9)
        add_2: "f32[3][1]cpu" = torch.ops.aten.add.Tensor(mul_4, mul_5)
        copy_: "f32[3][1]cpu" = torch.ops.aten.copy_.default(arg1_1, add_1)
        copy__1: "f32[3][1]cpu" = torch.ops.aten.copy_.default(arg2_1, add_2)
        return (mul,)
)";
  const auto verdict =
      verify(record("after_pre_grad_graph", called) + record("aot_inference_graph", functional)).front();
  ASSERT_EQ(verdict.pairs.size(), 1u);
  EXPECT_EQ(verdict.pairs[0].kind, Kind::Same) << verdict.pairs[0].why;
  EXPECT_EQ(verdict.pairs[0].values.size(), 3u);  // out:0, mutates:1, mutates:2
  const auto wrong = changed(functional, "copy_.default(arg2_1, add_2)", "copy_.default(arg2_1, add_1)");
  const auto other = verify(record("after_pre_grad_graph", called) + record("aot_inference_graph", wrong)).front();
  EXPECT_EQ(other.pairs[0].kind, Kind::Different);
  EXPECT_EQ(other.pairs[0].values.front().slot, "mutates:2");
  EXPECT_EQ(other.pairs[0].changedIn, "aot_inference_graph");
}

/// Graphs of one compilation, by stage.
Capture stagesOf(const std::vector<std::pair<std::string, std::string>>& texts) {
  Capture capture;
  capture.kind = "torch_trace";
  for (const auto& [stage, text] : texts) {
    auto module = parseReadable(text);
    EXPECT_TRUE(module) << (module ? "" : module.error().text());
    CapturedGraph graph;
    graph.name = graph.origin.stage = stage;
    graph.origin.compileId = "0/0";
    graph.module = std::move(*module);
    capture.graphs.push_back(std::move(graph));
  }
  return capture;
}

CompileVerdict verdictOf(Capture capture) {
  for (auto& graph : capture.graphs)
    for (const char* name : {"w", "m"})
      if (graph.name == "dynamo_output_graph")
        graph.module.attributes.add(name, TensorAttribute{*Tensor::zeros(DType::Float32, {4}), true, {}});
  const auto plans = planStages(capture);
  EXPECT_TRUE(plans && plans->size() == 1);
  const auto inputs = makeStageInputs(capture, plans->front(), {}, loadWith({}));
  EXPECT_TRUE(inputs);
  auto verdict = verifyStages(capture, plans->front(), inputs->values, {});
  EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().text());
  return std::move(*verdict);
}

/// Dynamo's graph writes into attributes, the later one into the inputs that they became.
TEST_F(VerifyMadeStages, AnOptimizersAttributesAreInputsOfTheNextStage) {
  const std::string dynamo =
      "class GraphModule(torch.nn.Module):\n    def forward(self, L_g_: \"f32[4]\"):\n        l_g_ = L_g_\n"
      "        w: \"f32[4]\" = self.w\n        m: \"f32[4]\" = self.m\n"
      "        mul_: \"f32[4]\" = m.mul_(0.9)\n        add_: \"f32[4]\" = mul_.add_(l_g_);  l_g_ = None\n"
      "        sub_: \"f32[4]\" = w.sub_(add_);  w = add_ = None\n        return ()\n";
  const auto aot = [](const char* factor) {
    return fmt::format(
        "class <lambda>(torch.nn.Module):\n"
        "    def forward(self, arg0_1: \"f32[4]\", arg1_1: \"f32[4]\", arg2_1: \"f32[4]\"):\n"
        "        mul: \"f32[4]\" = torch.ops.aten.mul.Tensor(arg1_1, {})\n"
        "        add: \"f32[4]\" = torch.ops.aten.add.Tensor(mul, arg2_1);  mul = arg2_1 = None\n"
        "        sub: \"f32[4]\" = torch.ops.aten.sub.Tensor(arg0_1, add)\n"
        "        copy_: \"f32[4]\" = torch.ops.aten.copy_.default(arg0_1, sub);  arg0_1 = sub = None\n"
        "        copy__1: \"f32[4]\" = torch.ops.aten.copy_.default(arg1_1, add);  arg1_1 = add = None\n"
        "        return ()\n",
        factor);
  };
  const auto good = verdictOf(stagesOf({{"dynamo_output_graph", dynamo}, {"aot_inference_graph", aot("0.9")}}));
  ASSERT_EQ(good.pairs.size(), 1u);
  EXPECT_EQ(good.pairs[0].kind, Kind::Same) << good.pairs[0].why;
  EXPECT_EQ(good.pairs[0].values.size(), 2u);
  const auto bad = verdictOf(stagesOf({{"dynamo_output_graph", dynamo}, {"aot_inference_graph", aot("0.8")}}));
  EXPECT_EQ(bad.pairs[0].kind, Kind::Different);
}

/// relu and max at zero: no step tells the derivative there, and a correct compile is not called different.
TEST_F(VerifyMadeStages, KinksAtTheInputsAreNoDifference) {
  const std::string dynamo =
      "class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: \"f32[8]\"):\n        l_x_ = L_x_\n"
      "        z: \"f32[8]\" = l_x_ - l_x_\n        s: \"f32[8]\" = z + l_x_;  z = None\n"
      "        r: \"f32[8]\" = torch.relu(s);  s = None\n        return (r,)\n";
  const auto joint = [](const char* grad) {
    return fmt::format(
        "class joint(torch.nn.Module):\n    def forward(self, primals_1: \"f32[8]\", tangents_1: \"f32[8]\"):\n"
        "        relu: \"f32[8]\" = torch.ops.aten.relu.default(primals_1);  primals_1 = None\n"
        "        le: \"b8[8]\" = torch.ops.aten.le.Scalar(relu, 0)\n"
        "        full: \"f32[]\" = torch.ops.aten.full.default([], 0.0)\n"
        "        where: \"f32[8]\" = torch.ops.aten.where.self(le, full, {});  le = full = None\n"
        "        return (relu, where)\n",
        grad);
  };
  const auto verdictAtZero = [&](const char* grad) {
    Capture capture = stagesOf({{"dynamo_output_graph", dynamo}, {"aot_joint_graph", joint(grad)}});
    const auto plans = planStages(capture);
    auto inputs = makeStageInputs(capture, plans->front(), {}, loadWith({.fill = InputFill::Zeros}));
    Tensor ones = *Tensor::zeros(DType::Float32, {8});
    std::fill_n(ones.data<float>(), 8, 1.0F);
    inputs->values["tangent:0"] = Value(std::move(ones));
    return *verifyStages(capture, plans->front(), inputs->values, {});
  };
  const auto good = verdictAtZero("tangents_1");
  EXPECT_TRUE(good.good()) << good.pairs[0].why;
  ASSERT_TRUE(good.pairs[0].gradients);
  EXPECT_TRUE(good.pairs[0].gradients->agrees());
}

const PairVerdict* pairWith(const CompileVerdict& verdict, const std::string& after) {
  const auto found = std::ranges::find(verdict.pairs, after, &PairVerdict::after);
  return found == verdict.pairs.end() ? nullptr : &*found;
}

/// A fault of the forward graph makes what it saved wrong; the backward graph is judged with the joint graph's values.
TEST_F(VerifyMadeStages, FaultsOfForwardAndBackwardGraphAreBothNamed) {
  const std::string text =
      record("dynamo_output_graph", dynamo) + record("aot_joint_graph", joint) +
      record("aot_forward_graph", changed(forward, "gt.Scalar(relu, 0)", "lt.Scalar(relu, 1)")) +
      record("aot_backward_graph", changed(backward, "mul.Tensor(mul_1, primals_1)", "add.Tensor(mul_1, primals_1)"));
  const auto verdict = verify(text).front();
  ASSERT_EQ(verdict.pairs.size(), 3u);
  EXPECT_EQ(verdict.pairs[1].changedIn, "aot_forward_graph");
  EXPECT_EQ(verdict.pairs[1].changed.node, "gt");
  EXPECT_EQ(verdict.pairs[2].kind, Kind::Different);
  EXPECT_EQ(verdict.pairs[2].changedIn, "aot_backward_graph");
  EXPECT_EQ(verdict.pairs[2].changed.node, "mul_3");
}

/// A forward graph that does not run, or that nobody can read, leaves the backward graph to be judged.
TEST_F(VerifyMadeStages, ABackwardGraphIsJudgedWithoutItsForwardGraph) {
  const std::string start = record("dynamo_output_graph", dynamo) + record("aot_joint_graph", joint);
  const std::string wrong =
      record("aot_backward_graph", changed(backward, "mul.Tensor(mul_1, primals_1)", "add.Tensor(mul_1, primals_1)"));
  const auto failing = record("aot_forward_graph",
                              changed(forward, "mul.Tensor(primals_1, primals_2)", "mm.default(primals_1, primals_2)"));
  const auto unread = record("aot_forward_graph", "class GraphModule(torch.nn.Module):\n    def forward(self, (((\n");
  for (const std::string& text : {failing, unread}) {
    const auto good = verify(start + text + record("aot_backward_graph", backward)).front();
    EXPECT_FALSE(good.good());
    ASSERT_NE(pairWith(good, "aot_backward_graph"), nullptr);
    EXPECT_EQ(pairWith(good, "aot_backward_graph")->kind, Kind::Same) << pairWith(good, "aot_backward_graph")->why;
    const auto bad = verify(start + text + wrong).front();
    ASSERT_NE(pairWith(bad, "aot_backward_graph"), nullptr);
    EXPECT_EQ(pairWith(bad, "aot_backward_graph")->changed.node, "mul_3");
  }
}

TEST_F(VerifyMadeStages, AStageThatCannotBeReadHasFailed) {
  const auto verdict =
      verify(record("dynamo_output_graph", dynamo) +
             record("aot_joint_graph", "class joint_fn(torch.nn.Module):\n    def forward(self, (((\n") +
             record("aot_forward_graph", forward) + record("aot_backward_graph", backward))
          .front();
  EXPECT_FALSE(verdict.good());
  ASSERT_EQ(verdict.pairs.size(), 2u);
  EXPECT_EQ(verdict.pairs[0].changedIn, "aot_joint_graph");
  EXPECT_THAT(verdict.pairs[0].why, ::testing::HasSubstr("aot_joint_graph cannot be read"));
  EXPECT_EQ(verdict.pairs[1].kind, Kind::Same) << verdict.pairs[1].why;
  ASSERT_TRUE(verdict.pairs[1].gradients);  // of forward and backward graph, by differences of Dynamo's
  EXPECT_TRUE(verdict.pairs[1].gradients->done) << verdict.pairs[1].gradients->why;
}

/// The joint graph alone is wrong, and the backward graph by a fault of its own.
TEST_F(VerifyMadeStages, WhatFollowsAWrongStageIsHeldAgainstTheLastGoodOne) {
  const auto wrongJoint = changed(joint, "relu.default(mul)", "tanh.default(mul)");
  const auto one = verify(trainingLog(wrongJoint, backward)).front();
  EXPECT_EQ(one.pairs[0].changed.node, "relu");
  EXPECT_EQ(one.pairs[1].kind, Kind::Same) << one.pairs[1].why;
  EXPECT_EQ(one.pairs[1].before, "dynamo_output_graph");
  EXPECT_EQ(one.odd, "aot_joint_graph");
  const auto two =
      verify(trainingLog(wrongJoint, changed(backward, "mul.Tensor(mul_1, primals_1)", "add.Tensor(mul_1, primals_1)")))
          .front();
  EXPECT_EQ(two.pairs[0].changedIn, "aot_joint_graph");
  EXPECT_EQ(two.pairs[1].kind, Kind::Different);
  EXPECT_EQ(two.pairs[1].changedIn, "aot_backward_graph");
}

/// The first two stages fail by their own faults: the third shows that.
TEST_F(VerifyMadeStages, StagesThatFailBeforeAnyRanAreBothNamed) {
  const std::string broken = changed(dynamo, "L_x_ * L_w_", "torch.mm(L_x_, L_w_)");
  const auto verdict = verify(record("dynamo_output_graph", broken) + record("after_pre_grad_graph", broken + "\n") +
                              record("aot_joint_graph", changed(joint, "mul.Tensor(primals_1, primals_2)",
                                                                "mul.Tensor(primals_1, primals_2)")))
                           .front();
  EXPECT_FALSE(verdict.good());
}

/// relu and max_pool2d of many values: steps cross kinks, and a correct compile is not called different.
TEST_F(VerifyMadeStages, ManyKinksAreNoDifference) {
  const std::string dynamoText =
      "class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: \"f32[8, 16, 32, 32]\", L_w_: \"f32[16, 16, 3, "
      "3]\"):\n"
      "        c: \"f32[8, 16, 32, 32]\" = torch.conv2d(L_x_, L_w_, None, (1, 1), (1, 1), (1, 1), 1)\n"
      "        r: \"f32[8, 16, 32, 32]\" = torch.nn.functional.relu(c, inplace = False);  c = None\n"
      "        p: \"f32[8, 16, 16, 16]\" = torch.nn.functional.max_pool2d(r, 3, 2, 1, 1, ceil_mode = False, "
      "return_indices = False);  r = None\n"
      "        return (p,)\n";
  const auto jointText = [](const char* grad) {
    return fmt::format(
        "class joint(torch.nn.Module):\n    def forward(self, primals_1: \"f32[8, 16, 32, 32]\", primals_2: \"f32[16, "
        "16, 3, 3]\", "
        "tangents_1: \"f32[8, 16, 16, 16]\"):\n"
        "        c: \"f32[8, 16, 32, 32]\" = torch.ops.aten.convolution.default(primals_1, primals_2, None, [1, 1], "
        "[1, 1], [1, 1], "
        "False, [0, 0], 1)\n"
        "        relu: \"f32[8, 16, 32, 32]\" = torch.ops.aten.relu.default(c);  c = None\n"
        "        pool = torch.ops.aten.max_pool2d_with_indices.default(relu, [3, 3], [2, 2], [1, 1])\n"
        "        getitem: \"f32[8, 16, 16, 16]\" = pool[0]\n"
        "        getitem_1: \"i64[8, 16, 16, 16]\" = pool[1];  pool = None\n"
        "        back: \"f32[8, 16, 32, 32]\" = torch.ops.aten.max_pool2d_with_indices_backward.default(tangents_1, "
        "relu, [3, 3], [2, 2], "
        "[1, 1], [1, 1], False, getitem_1)\n"
        "        le: \"b8[8, 16, 32, 32]\" = torch.ops.aten.le.Scalar(relu, 0)\n"
        "        full: \"f32[]\" = torch.ops.aten.full.default([], 0.0)\n"
        "        where: \"f32[8, 16, 32, 32]\" = torch.ops.aten.where.self(le, full, {})\n"
        "        conv = torch.ops.aten.convolution_backward.default(where, primals_1, primals_2, [0], [1, 1], [1, 1], "
        "[1, 1], False, "
        "[0, 0], 1, [True, True, False])\n"
        "        gx: \"f32[8, 16, 32, 32]\" = conv[0]\n"
        "        gw: \"f32[16, 16, 3, 3]\" = conv[1]\n"
        "        return (getitem, gx, gw)\n",
        grad);
  };
  const auto good = verdictOf(stagesOf({{"dynamo_output_graph", dynamoText}, {"aot_joint_graph", jointText("back")}}));
  EXPECT_TRUE(good.good()) << good.pairs[0].why;
  const auto bad =
      verdictOf(stagesOf({{"dynamo_output_graph", dynamoText}, {"aot_joint_graph", jointText("tangents_1")}}));
  EXPECT_FALSE(bad.good());
}

}  // namespace
}  // namespace kerf
