// What PyTorch's functions written in Python ask of their arguments, and what the parser makes of some: in the interpreter and
// in compiled code. Refusals and values are PyTorch 2.11's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::callforms {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `r` of x: f32[3, 4] = 0, 1, …, 11, v: f32[4] = 0, 1, 2, 3 and i: i64[] = 1, in both engines.
std::vector<Result<Value>> ranBoth(std::string_view body) {
  const auto numbers = [](DType dtype, const Sizes& sizes, double first) {
    Tensor wide = *Tensor::zeros(DType::Float64, sizes);
    for (std::int64_t k = 0; k < wide.numel(); ++k) wide.data<double>()[k] = first + double(k);
    return Value(*wide.to(dtype));
  };
  const auto module = parseReadable(fmt::format(
      "def forward(self, x: \"f32[3, 4]\", v: \"f32[4]\", i: \"i64[]\"):\n    {}\n    return (r,)\n", body));
  EXPECT_TRUE(module) << body << ": " << module.error().text();
  std::vector<Result<Value>> results;
  if (!module) return results;
  for (const bool compiled : {false, true}) {
    const ValueList inputs{numbers(DType::Float32, {3, 4}, 0), numbers(DType::Float32, {4}, 0),
                           numbers(DType::Int64, {}, 1)};
    if (!compiled) {
      results.push_back(Interpreter(*module, referenceOps()).run(inputs));
      continue;
    }
    const auto graph = compileFx(*module, {});
    results.push_back(graph ? (*graph)->run(inputs) : Result<Value>(fail(graph.error())));
  }
  return results;
}

void expectRefused(std::string_view call, std::string_view words) {
  for (const auto& result : ranBoth("r = " + std::string(call))) {
    ASSERT_FALSE(result) << call;
    EXPECT_THAT(result.error().message, HasSubstr(words)) << call;
  }
}

TEST(PythonRules, OutIsNotWhatIsReadAfterIt) {
  for (const char* call : {"torch.mean(x, 1, out=x)", "torch.var(x, 1, out=x)", "torch.histc(x, out=x)"})
    expectRefused(call, "written before it is read");
  // PyTorch runs these: the graph is not wrong, Kerf does not know what the loop has overwritten.
  for (const char* call : {"torch.sum(x, 0, out=x)", "torch.mean(x, 1, out=x)"})
    for (const auto& result : ranBoth("r = " + std::string(call))) {
      ASSERT_FALSE(result) << call;
      EXPECT_EQ(result.error().code, ErrorCode::UnsupportedOp) << call;
    }
}

TEST(PythonRules, FlagsAreBools) {
  expectRefused("torch.unique(x, 1)", "argument 'sorted' must be a bool");
  expectRefused("torch.norm(x, 3, 0, 1)", "argument 'keepdim' must be a bool");
  expectRefused("torch.nn.functional.poisson_nll_loss(x, x, 1)", "argument 'log_input' must be a bool");
  expectRefused("torch.nn.functional.interpolate(x.reshape(1, 1, 3, 4), (2, 2), mode='bilinear', align_corners=1)",
                "argument 'align_corners' must be a bool");
  expectRefused("torch.split(x, True)", "must be an int");
}

TEST(PythonRules, OperandsAreTensors) {
  expectRefused("torch.nn.functional.mse_loss(x, 2.5)", "argument 'target' must be a tensor");
  expectRefused("torch.meshgrid((v, 1), indexing='ij')", "must be a tensor");
  expectRefused("torch.nn.functional.instance_norm(x.reshape(1, 3, 4), running_var=1)",
                "argument 'running_var' must be a tensor");
  expectRefused("torch.nn.functional.binary_cross_entropy_with_logits(x, v)", "target of shape [4]");
}

TEST(PythonRules, SizesThatDoNotFit) {
  expectRefused("torch.trapezoid(v, x)", "do not broadcast");
  expectRefused("torch.nn.functional.unfold(x.reshape(1, 1, 3, 4), (2,))", "'kernel_size' must have 2 numbers");
  expectRefused("torch.nn.functional.max_pool1d_with_indices(x, (1, 1))", "'kernel_size' must have 1 number, has 2");
  expectRefused("torch.max_pool1d(x, (2, 2))", "'kernel_size' must have 1 items, has 2");
  expectRefused("torch.corrcoef(x > 1)", "not implemented for torch.bool");
  expectRefused("torch.linalg.norm(x, 1, [])", "'dim' must name one or two dimensions");
  expectRefused("torch.eye(2, dtype=torch.int64, requires_grad=True)", "only floating point and complex");
}

std::vector<double> valuesOf(const Value& result) {
  const Tensor& tensor = result.list()[0].tensor();
  std::vector<double> values;
  for (std::int64_t k = 0; k < tensor.numel(); ++k) values.push_back(tensor.itemAsDouble(k));
  return values;
}

/// Whatever is neither a mean nor a sum is no reduction.
TEST(PythonRules, AnotherReductionIsNone) {
  for (const auto& result : ranBoth("t = v * 0 - 1\n    r = torch.hinge_embedding_loss(v, t, 2, -1)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(2, 1, 0, 0));
  }
}

TEST(PythonRules, AbsOfATensor) {
  for (const auto& result : ranBoth("n = v - 2\n    r = abs(n)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(2, 1, 0, 1));
  }
}

/// The parser takes a number for a tensor of its kind.
TEST(PythonRules, ToTrueIsToBool) {
  for (const auto& result : ranBoth("r = v.to(True)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->list()[0].tensor().dtype(), DType::Bool);
    EXPECT_THAT(valuesOf(*result), ElementsAre(0, 1, 1, 1));
  }
}

/// An index tensor without dimensions names a place: what is written there is converted.
TEST(PythonRules, ANumberIsWrittenAtATensorsPlace) {
  for (const auto& result : ranBoth("r = v + 0\n    s = operator.setitem(r, i, i * 7)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(0, 7, 2, 3));
  }
}

}  // namespace
}  // namespace kerf::callforms
