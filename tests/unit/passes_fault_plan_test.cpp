// `--plant` values: what they mean, which targets they hit, and what a wrong one is told.
#include <gtest/gtest.h>

#include "engine/passes/fault_plan.h"

namespace kerf {
namespace {

TEST(FaultPlan, ParsesEveryKind) {
  const std::pair<const char*, FaultKind> kinds[] = {{"relu=accuracy", FaultKind::Accuracy},
                                                     {"relu=compile_error", FaultKind::CompileError},
                                                     {"relu=runtime_error", FaultKind::RuntimeError},
                                                     {"relu=crash", FaultKind::Crash},
                                                     {"relu=hang", FaultKind::Hang},
                                                     {"relu=flaky:0.25", FaultKind::Flaky}};
  for (const auto& [text, kind] : kinds) {
    const auto fault = parseFault(text);
    ASSERT_TRUE(fault.has_value()) << text;
    EXPECT_EQ(fault->kind, kind) << text;
    EXPECT_EQ(fault->subject, "relu");
    EXPECT_FALSE(fault->onPass);
    EXPECT_EQ(FaultPlan{{*fault}}.text(), text);
  }
  EXPECT_DOUBLE_EQ(parseFault("relu=flaky:0.25")->probability, 0.25);
}

TEST(FaultPlan, ParsesPassFaults) {
  const auto fault = parseFault("pass:cse=accuracy");
  ASSERT_TRUE(fault.has_value());
  const FaultPlan plan{{*fault}};
  EXPECT_EQ(plan.text(), "pass:cse=accuracy");
  ASSERT_NE(plan.forPass("cse"), nullptr);
  EXPECT_EQ(plan.forPass("dce"), nullptr);
  EXPECT_EQ(plan.forTarget("torch.ops.aten.cse.default"), nullptr);
}

TEST(FaultPlan, MatchesBaseNamesExactly) {
  const Fault relu{.subject = "relu"};
  EXPECT_TRUE(relu.hits("torch.ops.aten.relu.default"));
  EXPECT_TRUE(relu.hits("aten.relu.default"));
  EXPECT_FALSE(relu.hits("torch.ops.aten.relu_.default"));
  EXPECT_FALSE(relu.hits("torch.ops.aten.prelu.default"));
  const Fault exact{.subject = "aten.add.Tensor"};
  EXPECT_TRUE(exact.hits("torch.ops.aten.add.Tensor"));
  EXPECT_FALSE(exact.hits("torch.ops.aten.add.Scalar"));
  EXPECT_TRUE(Fault{.subject = "aten.add"}.hits("torch.ops.aten.add.Scalar"));
  EXPECT_FALSE(Fault{.subject = "Tensor"}.hits("torch.ops.aten.add.Tensor"));
  EXPECT_TRUE(Fault{.subject = "getitem"}.hits("operator.getitem"));
  EXPECT_FALSE(Fault{.subject = "aten"}.hits("torch.ops.aten.relu.default"));
}

TEST(FaultPlan, OpsThatFailOnlyTogether) {
  const auto fault = parseFault("relu+aten.sigmoid=crash");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->subject, "relu");
  EXPECT_EQ(fault->others, std::vector<std::string>{"aten.sigmoid"});
  EXPECT_EQ(FaultPlan{{*fault}}.text(), "relu+aten.sigmoid=crash");
  EXPECT_TRUE(fault->hits("torch.ops.aten.relu.default"));
  EXPECT_FALSE(fault->hits("torch.ops.aten.sigmoid.default"));
  for (const char* text : {"relu+=crash", "+relu=crash", "relu++exp=crash", "pass:cse+dce=crash"})
    EXPECT_FALSE(parseFault(text).has_value()) << text;
}

TEST(FaultPlan, RefusesWithKindsAndAnExample) {
  for (const char* text : {"relu", "relu=", "=accuracy", "relu=wrong", "relu=flaky", "relu=flaky:0", "relu=flaky:2",
                           "relu=flaky:x", "relu=crash:1", "re lu=crash", "pass:=crash", ""}) {
    const auto fault = parseFault(text);
    ASSERT_FALSE(fault.has_value()) << text;
    EXPECT_EQ(fault.error().code, ErrorCode::BadUsage) << text;
    EXPECT_NE(fault.error().message.find("compile_error"), std::string::npos);
    EXPECT_NE(fault.error().message.find("relu=accuracy"), std::string::npos);
  }
}

}  // namespace
}  // namespace kerf
