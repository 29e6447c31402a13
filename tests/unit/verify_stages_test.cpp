// Verifying recorded compilations: real logs are the same in all stages, and a change in one stage is named.
#include <regex>

#include "tests/unit/verify_testing.h"

namespace kerf {
namespace {

using namespace testing;
using Kind = PairVerdict::Kind;

TEST_F(VerifyStages, RecordedCompilationsAreTheSame) {
  KERF_NEEDS("dropout_rng");
  for (const char* name : {"dropout_rng", "dynamic_mlp", "inplace_alias", "complex_fft", "int8_quant", "graph_breaks",
                           "cond_hop", "compiled_autograd"}) {
    const auto log = logOf(name);
    if (log.empty()) continue;
    for (const auto& verdict : verify(textOf(log))) {
      EXPECT_TRUE(verdict.good()) << name;
      for (const auto& pair : verdict.pairs) {
        {
          EXPECT_NE(pair.kind, Kind::NotCompared) << name << " " << pair.before << " " << pair.why;
        }
        for (const auto& value : pair.values)
          EXPECT_LT(value.relativeError, 1e-12) << name << " " << pair.after << " " << value.slot;
        if (pair.gradients) {
          EXPECT_LT(pair.gradients->relativeError, 1e-6) << name;
        }
      }
    }
  }
}

/// The order of stages, what the values are called, and which pairs there are.
TEST_F(VerifyStages, PlanOfATrainingStep) {
  KERF_NEEDS("dropout_rng");
  auto capture = importCapture(logOf("dropout_rng"));
  ASSERT_TRUE(capture);
  const auto plans = planStages(*capture, "0/0");
  ASSERT_TRUE(plans);
  ASSERT_EQ(plans->size(), 1u);
  const auto& stages = plans->front().stages;
  ASSERT_EQ(stages.size(), 12u);
  EXPECT_EQ(stages[3].part, StagePart::Joint);
  EXPECT_THAT(stages[3].inputs, ::testing::ElementsAre("in:0", "in:1", "in:2", "tangent:0"));
  EXPECT_THAT(stages[3].outputs, ::testing::ElementsAre("out:0", "grad:0", "grad:1", ""));
  EXPECT_THAT(stages[4].outputs, ::testing::ElementsAre("out:0", "saved:primals_3", "saved:gt", "saved:le"));
  EXPECT_THAT(stages[5].inputs, ::testing::ElementsAre("saved:primals_3", "saved:gt", "saved:le", "tangent:0"));
  EXPECT_EQ(stages[11].part, StagePart::Backward);
  ASSERT_EQ(plans->front().pairs.size(), 10u);
  EXPECT_EQ(plans->front().pairs[3].before, 3u);
  EXPECT_THAT(plans->front().pairs[3].after, ::testing::ElementsAre(4u, 5u));
  const auto none = planStages(*capture, "7/7");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
}

struct Edit {
  const char* log;
  const char* stage;  ///< of the record that is edited
  int nth;
  const char *from, *to;
  const char* node;  ///< that must be named
};

/// A constant, an op, operands, an op left out and a cast, in logs of inference and of training.
const Edit edits[] = {
    {"dropout_rng", "dynamo_output_graph", 0, "dropout(input_1, 0.3", "dropout(input_1, 0.35", "input_2"},
    {"dropout_rng", "aot_joint_graph", 0, "mul.Tensor(mul, 1.4285714285714286)", "mul.Tensor(mul, 1.4285724285714286)",
     "mul_1"},
    {"dropout_rng", "aot_joint_graph", 0, "mul.Tensor(where, mul_2)", "mul.Tensor(where, where)", "mul_3"},
    {"dropout_rng", "aot_joint_graph", 0, "permute.default(mm, [1, 0])", "permute.default(mm, [0, 1])", "permute_2"},
    {"dropout_rng", "aot_joint_graph", 0, "le.Scalar(alias_1, 0)", "ge.Scalar(alias_1, 0)", "le"},
    {"dropout_rng", "aot_forward_graph", 0, "relu.default(mul_1)", "neg.default(mul_1)", "relu"},
    {"dropout_rng", "aot_backward_graph", 0, "where.self(le, full_default, tangents_1)",
     "where.self(le, tangents_1, full_default)", "where"},
    {"dropout_rng", "inductor_post_grad_graph", 0, "gt.Scalar(inductor_random_default, 0.3)",
     "gt.Scalar(inductor_random_default, 0.6)", "gt"},
    {"dropout_rng", "inductor_post_grad_graph", 1, "mul.Tensor(where, mul_2)", "sub.Tensor(where, mul_2)", "mul_3"},
    {"dropout_rng", "inductor_post_grad_graph", 1, "convert_element_type.default(gt, torch.float32)",
     "convert_element_type.default(gt, torch.bfloat16)", "convert_element_type"},
    {"dynamic_mlp", "aot_joint_graph", 0, "relu.default(addmm)", "tanh.default(addmm)", "relu"},
    {"dynamic_mlp", "aot_forward_graph", 0, "relu.default(addmm)", "alias.default(addmm)", "relu"},
    {"dynamic_mlp", "inductor_post_grad_graph", 0, "addmm.default(primals_2, primals_4, permute)",
     "addmm.default(primals_2, primals_4, permute, beta = 0.5)", "addmm"},
    {"inplace_alias", "aot_inference_graph", 0, "mul.Tensor(slice_1, 3)", "mul.Tensor(slice_1, 3.25)", "mul"},
    {"inplace_alias", "aot_inference_graph", 0, "copy_.default(arg0_1, view_2)", "copy_.default(arg0_1, arg0_1)",
     "copy_"},
    {"inplace_alias", "inductor_post_grad_graph", 0, "permute.default(arg1_1, [1, 0])",
     "permute.default(arg1_1, [0, 1])", "permute_1"},
    {"cond_hop", "inductor_post_grad_graph", 0, "mul.Tensor(cos, 2)", "mul.Tensor(cos, 3)", "false_graph_0/mul"},
    {"inplace_alias", "after_joint_graph", 0, "add.Tensor(select, select_5)", "sub.Tensor(select, select_5)", "add"},
};

TEST_F(VerifyStages, AnEditIsNamedToTheNode) {
  KERF_NEEDS("dropout_rng");
  for (const Edit& edit : edits) {
    const auto log = logOf(edit.log);
    if (log.empty()) continue;
    SCOPED_TRACE(fmt::format("{}: {} {} → {}", edit.log, edit.stage, edit.from, edit.to));
    const auto verdicts = verify(edited(textOf(log), edit.stage, edit.from, edit.to, edit.nth));
    const PairVerdict* pair = firstDifferent(verdicts.front());
    EXPECT_NE(pair, nullptr);
    if (pair == nullptr) continue;
    EXPECT_EQ(pair->changed.node, edit.node) << pair->changedIn << ": " << pair->changed.call << " " << pair->why;
  }
}

TEST_F(VerifyStages, ABranchThatDoesNotRunIsSaid) {
  KERF_NEEDS("cond_hop");
  const auto verdicts = verify(textOf(logOf("cond_hop")));
  EXPECT_THAT(verdicts.front().notes,
              ::testing::Contains("inductor_post_grad_graph: true_graph_0 does not run with these inputs and is not "
                                  "compared"));
  EXPECT_THAT(verdicts.front().notes, ::testing::Not(::testing::Contains(::testing::HasSubstr("false_graph_0"))));
}

TEST_F(VerifyStages, AStageThatFailsByItsOwnFaultIsDifferent) {
  KERF_NEEDS("dynamic_mlp");
  const std::string text = textOf(logOf("dynamic_mlp"));
  const std::string broken = edited(text, "aot_joint_graph", "torch.ops.aten.mm.default(permute_3, relu)",
                                    "torch.ops.aten.mm.default(relu, permute_3)");
  bool found = false;
  for (const auto& verdict : verify(broken))
    if (const PairVerdict* pair = firstDifferent(verdict)) {
      found = true;
      EXPECT_EQ(verdict.good(), false);
      EXPECT_NE(pair->changedIn.find("aot_joint_graph"), std::string::npos);
      EXPECT_NE(pair->why.find("does not run"), std::string::npos) << pair->why;
      EXPECT_NE(pair->changed.call.find("mm"), std::string::npos) << pair->changed.call;
    }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace kerf
