// torch.autocast in the reference: which ops change dtype, and where a region ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/autocast.h"

namespace kerf {
namespace {

using ::testing::ElementsAre;

std::vector<DType> dtypesOf(const std::string& body, DType input = DType::Float32) {
  auto module = parseReadable("class GraphModule(torch.nn.Module):\n" + body);
  EXPECT_TRUE(module.has_value()) << module.error().text();
  if (!module) return {};
  const auto result = Interpreter(*module, referenceOps()).run({Value(Tensor::zeros(input, {4, 4}).value())});
  EXPECT_TRUE(result.has_value()) << result.error().text();
  if (!result) return {};
  std::vector<DType> dtypes;
  for (const Value& value : result->list()) dtypes.push_back(value.tensor().dtype());
  return dtypes;
}

std::string region(const std::string& device, const std::string& dtype, const std::string& enabled) {
  return fmt::format(R"(
    def forward(self, x: "f32[4, 4]"):
        enter = torch.amp.autocast_mode._enter_autocast('{}', {}, {}, None)
        linear: "f32[4, 4]" = torch._C._nn.linear(x, x)
        add: "f32[4, 4]" = torch.ops.aten.add.Tensor(linear, linear)
        exp: "f32[4, 4]" = torch.ops.aten.exp.default(linear)
        sum_1: "f32[]" = torch.ops.aten.sum.default(linear)
        cat: "f32[8, 4]" = torch.ops.aten.cat.default([linear, x])
        exit_1 = torch.amp.autocast_mode._exit_autocast(enter)
        mm: "f32[4, 4]" = torch.ops.aten.mm.default(x, x)
        return (linear, add, exp, sum_1, cat, mm)
)",
                     device, dtype, enabled);
}

TEST(Autocast, FollowsTheListsOfACpu) {
  const DType b = DType::BFloat16, f = DType::Float32;
  EXPECT_THAT(dtypesOf(region("cpu", "torch.bfloat16", "True")), ElementsAre(b, b, b, b, f, f));
  EXPECT_THAT(dtypesOf(region("cpu", "None", "True")), ElementsAre(b, b, b, b, f, f));
  EXPECT_THAT(dtypesOf(region("cpu", "torch.float16", "True"))[0], DType::Float16);
}

TEST(Autocast, LeavesDoublesOtherDevicesAndDisabledRegions) {
  const DType d = DType::Float64, f = DType::Float32;
  EXPECT_THAT(dtypesOf(region("cpu", "torch.bfloat16", "True"), d), ElementsAre(d, d, d, d, d, d));
  EXPECT_THAT(dtypesOf(region("cuda", "torch.float16", "True")), ElementsAre(f, f, f, f, f, f));
  EXPECT_THAT(dtypesOf(region("cpu", "torch.bfloat16", "False")), ElementsAre(f, f, f, f, f, f));
}

TEST(Autocast, FollowsTheListsOfCuda) {
  const AutocastScope scope({true, "cuda", DType::Float16});
  Tensor half = Tensor::zeros(DType::Float16, {4, 4}).value(), single = Tensor::zeros(DType::Float32, {4, 4}).value();
  half.setDevice({"cuda", 0});
  single.setDevice({"cuda", 0});
  const auto dtypeOf = [](const char* op, const ValueList& args) {
    const auto result = referenceOps().call(op, args, {});
    EXPECT_TRUE(result.has_value()) << op << ": " << result.error().text();
    return result ? result->tensor().dtype() : DType::Bool;
  };
  EXPECT_EQ(dtypeOf("torch.ops.aten.mm.default", {single, single}), DType::Float16);
  EXPECT_EQ(dtypeOf("torch.ops.aten.exp.default", {half}), DType::Float32);
  EXPECT_EQ(dtypeOf("torch.ops.aten.sum.default", {half}), DType::Float32);
  EXPECT_EQ(dtypeOf("torch.ops.aten.softmax.int", {half, Value(std::int64_t(1))}), DType::Float32);
  EXPECT_EQ(dtypeOf("torch.ops.aten.atan2.default", {half, single}), DType::Float32);
  EXPECT_EQ(dtypeOf("torch.ops.aten.atan2.default", {half, half}), DType::Float16);
  EXPECT_EQ(dtypeOf("torch.ops.aten.relu.default", {half}), DType::Float16);
}

TEST(Autocast, ScopesEndWhatTheyEnter) {
  {
    const AutocastScope scope;
    ASSERT_TRUE(enterAutocast({Value("cpu"), Value(), Value(true)}));
    EXPECT_TRUE(currentAutocast().enabled);
  }
  EXPECT_FALSE(currentAutocast().enabled);
  exitAutocast();  // nothing is open any more
  EXPECT_FALSE(currentAutocast().enabled);
}

}  // namespace
}  // namespace kerf
