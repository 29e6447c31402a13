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

std::vector<double> valuesOf(const Value& result) {
  const Tensor& tensor = result.list()[0].tensor();
  std::vector<double> values;
  for (std::int64_t k = 0; k < tensor.numel(); ++k) values.push_back(tensor.itemAsDouble(k));
  return values;
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

/// Where out= looks at the memory of an argument, PyTorch 2.11 runs the call as if it did not, refuses it, or gives what its
/// loop has overwritten (unknown). Measured; y is a square.
enum class OutAnswer : std::uint8_t { Runs, Refused, Unknown };
struct OutCase {
  const char* call;
  OutAnswer answer;
};
constexpr OutCase outCases[] = {
    {"torch.sum(y, 0, out=y[0])", OutAnswer::Unknown},
    {"torch.sum(y, 1, out=y[:, 0])", OutAnswer::Unknown},
    {"torch.sum(y[1:], 0, out=y[0])", OutAnswer::Runs},
    {"torch.sum(y[:, 1:], 1, out=z[:, 0])", OutAnswer::Runs},
    {"torch.sum(y[:, 1:2], 1, out=y[:, 0])", OutAnswer::Runs},
    {"torch.sum(y[:, :2], 1, out=y[:, 2])", OutAnswer::Runs},
    {"torch.mean(y[:, ::2], 1, out=y[:, 1])", OutAnswer::Runs},
    {"torch.mean(y, 0, out=y[0])", OutAnswer::Unknown},
    {"torch.prod(y, 0, out=y.t()[0])", OutAnswer::Unknown},
    {"torch.amax(y, 0, out=y[0])", OutAnswer::Unknown},
    {"torch.amin(y, 1, out=y[:, 0])", OutAnswer::Unknown},
    {"torch.nansum(y, 0, out=y[1])", OutAnswer::Unknown},
    {"torch.var(y, 0, out=y[2])", OutAnswer::Unknown},
    {"torch.norm(y, 2, 0, out=y[2])", OutAnswer::Unknown},
    {"torch.logsumexp(y, 0, out=y[2])", OutAnswer::Runs},
    {"torch.cumsum(y, 0, out=y)", OutAnswer::Runs},
    {"torch.cumsum(y, 1, out=y.t())", OutAnswer::Refused},
    {"torch.cumsum(y[1:], 0, out=y[:2])", OutAnswer::Refused},
    {"torch.cumprod(y, 0, out=y.t())", OutAnswer::Refused},
    {"torch.softmax(y, 0, out=y)", OutAnswer::Runs},
    {"torch.softmax(y, 0, out=y.t())", OutAnswer::Unknown},
    {"torch.mm(y, y, out=y)", OutAnswer::Runs},
    {"torch.matmul(y, y, out=y.t())", OutAnswer::Runs},
    {"torch.mv(y, y[0], out=y[0])", OutAnswer::Unknown},
    {"torch.matmul(y, y[0], out=y[1])", OutAnswer::Unknown},
    {"torch.addmm(y, z, z, out=y)", OutAnswer::Runs},
    {"torch.addmm(y, z, z, out=y.t())", OutAnswer::Refused},
    {"torch.addmm(z, y, z, out=y)", OutAnswer::Unknown},
    {"torch.bmm(y[None], z[None], out=y[None])", OutAnswer::Unknown},
    {"torch.tril(y, out=y)", OutAnswer::Runs},
    {"torch.tril(y, out=y.t())", OutAnswer::Unknown},
    {"torch.add(y[:-1], 1, out=y[1:])", OutAnswer::Refused},
    {"torch.add(y, y.t(), out=y)", OutAnswer::Refused},
    {"torch.add(y, z, out=y)", OutAnswer::Runs},
    {"torch.add(y[0:1], 1, out=y[1:2])", OutAnswer::Runs},
    {"torch.exp(y.t(), out=y)", OutAnswer::Refused},
    {"torch.exp(y.t(), out=y.t())", OutAnswer::Runs},
    {"torch.where(y > 2, y.t(), z, out=y)", OutAnswer::Refused},
    {"torch.cat([y[:1], y[1:2]], out=y[1:])", OutAnswer::Refused},
    {"torch.cat([y[:1], y[:1]], out=y[1:])", OutAnswer::Runs},
    {"torch.stack([y[0], z[0]], out=y[:2])", OutAnswer::Refused},
    {"torch.index_select(y, 0, j, out=y)", OutAnswer::Refused},
    {"torch.index_add(y, 0, j, y.t(), out=y)", OutAnswer::Refused},
    {"torch.index_add(y, 0, j, z, out=y)", OutAnswer::Runs},
    {"torch.outer(y[0], z[1], out=y)", OutAnswer::Refused},
};

TEST(PythonRules, OutInTheMemoryOfAnArgument) {
  for (const auto& [call, answer] : outCases) {
    const std::string body =
        fmt::format("y = x[:, :3] + 1\n    z = x[:, 1:] + 2\n    j = v[:3].long()\n    r = {}", call);
    const auto plain = std::string(call).substr(0, std::string(call).find(", out=")) + ")";
    const auto expected = ranBoth(body.substr(0, body.find("    r = ")) + "    r = " + plain);
    const auto both = ranBoth(body);
    ASSERT_EQ(both.size(), expected.size()) << call;
    for (std::size_t k = 0; k < both.size(); ++k) {
      ASSERT_TRUE(expected[k]) << plain << ": " << expected[k].error().text();
      ASSERT_EQ(both[k].has_value(), answer == OutAnswer::Runs) << call << (both[k] ? "" : both[k].error().text());
      if (both[k]) {
        EXPECT_EQ(valuesOf(*both[k]), valuesOf(*expected[k])) << call;
        continue;
      }
      const bool isRefused = answer == OutAnswer::Refused;
      EXPECT_EQ(both[k].error().code, isRefused ? ErrorCode::ShapeMismatch : ErrorCode::UnsupportedOp)
          << call << ": " << both[k].error().text();
    }
    if (both[0] || both[1]) continue;
    EXPECT_EQ(both[0].error().message, both[1].error().message) << call;
  }
}

/// A call that updates statistics gives tensors of its own beside them, and a part of a tensor is not the whole one.
TEST(PythonRules, NewResultsLieApart) {
  const std::string normed =
      "y = x[:, :3] + 1\n    m = y[0] * 0\n    s = m + 1\n"
      "    o = torch.ops.aten.native_batch_norm.default(y, None, None, m, s, True, 0.1, 1e-05)\n    t = o[0]\n";
  const auto written = ranBoth(normed + "    r = t.sub_(o[1])"), apart = ranBoth(normed + "    r = t - o[1]");
  const std::string attention =
      "y = x[:, :3] + 1\n    q = {}\n    w = torch.cat([y, y, y])\n"
      "    m = torch.nn.functional.multi_head_attention_forward(q, y, y, 3, 1, w, None, None, None, False, 0.0, y, "
      "None, "
      "training=False, need_weights=True)\n    r = m[1]";
  const auto part = ranBoth(fmt::format(fmt::runtime(attention), "y[:2]")),
             copied = ranBoth(fmt::format(fmt::runtime(attention), "y[:2] * 1"));
  for (std::size_t k = 0; k < written.size(); ++k) {
    ASSERT_TRUE(written[k] && apart[k] && part[k] && copied[k]);
    EXPECT_EQ(valuesOf(*written[k]), valuesOf(*apart[k]));
    EXPECT_EQ(valuesOf(*part[k]), valuesOf(*copied[k]));
    EXPECT_EQ(valuesOf(*part[k]).size(), 6U);
  }
}

/// What PyTorch 2.11 refuses to write: elements that the same call reads elsewhere.
TEST(PythonRules, WhatIsWrittenIsNotReadInPart) {
  for (const char* call : {
           "y[1:].add_(y[:-1])",
           "y.add_(y.t())",
           "y.mul_(y[0])",
           "y[:2].copy_(y[1:3])",
           "y.copy_(y.t())",
           "y[1:].clamp_(y[:-1])",
           "y.addcmul_(y.t(), z)",
           "y.lerp_(y.t(), 0.5)",
           "y.index_copy_(0, j, y.t())",
           "y.index_add_(0, j, y)",
           "y.scatter_(0, k, y)",
           "y.scatter_add_(0, k, y.t())",
           "y.index_put_((j,), y)",
           "y.put_(k, y)",
           "operator.setitem(y, slice(1, None), y[:-1])",
       }) {
    const auto results = ranBoth(fmt::format(
        "y = x[:, :3] + 1\n    z = x[:, 1:] + 2\n    j = v[:3].long()\n    k = (z * 0).long()\n    r = {}", call));
    for (const auto& result : results) {
      ASSERT_FALSE(result) << call;
      EXPECT_THAT(result.error().message, HasSubstr("is written to, but elements of")) << call;
    }
    EXPECT_EQ(results[0].error().message, results[1].error().message) << call;
  }
}

/// Two views with holes: PyTorch looks no further, though they be the same elements. ldexp_ makes its factor first.
TEST(PythonRules, ViewsWithHolesAndFactorsAreTaken) {
  struct Written {
    const char* call;
    std::vector<double> values;  // of y = 0, 1, …, 11 in three columns
  };
  for (const auto& [call, values] : std::vector<Written>{
           {"y[::2].index_add_(0, j, y[::2])", {0, 2, 4, 3, 4, 5, 12, 14, 16, 9, 10, 11}},
           {"y[::2].index_copy_(0, j, y[::2])", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
           {"y[:, ::2].scatter_add_(0, k, y[:, ::2])", {18, 1, 28, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
           {"y[1:3].ldexp_(y[0:2])", {0, 1, 2, 3, 8, 20, 48, 112, 256, 9, 10, 11}},
       })
    for (const auto& result : ranBoth(
             fmt::format("y = x.reshape(4, 3) + 0\n    j = v[:2].long()\n    k = (y[:, 1:] * 0).long()\n    q = {}\n"
                         "    r = y + 0",
                         call))) {
      ASSERT_TRUE(result) << call << ": " << result.error().text();
      EXPECT_EQ(valuesOf(*result), values) << call;
    }
}

/// PyTorch reads each byte but 0 as True.
TEST(PythonRules, BytesSeenAsBoolsAreTrueWhereTheyAreNotZero) {
  struct Read {
    const char* call;
    std::vector<double> values;  // of the bytes 0, 1, 2, 255
  };
  for (const auto& [call, values] : std::vector<Read>{
           {"b.sum()", {3}},
           {"b.to(torch.int32)", {0, 1, 1, 1}},
           {"torch.where(b, 3.0, 4.0)", {4, 3, 3, 3}},
           {"b == True", {0, 1, 1, 1}},
           {"torch.logical_xor(b, b[2])", {1, 0, 0, 0}},
           {"b.clone().view(torch.uint8)", {0, 1, 1, 1}},
           {"b.cumsum(0)", {0, 1, 2, 3}},
           {"b[:2].view(torch.uint8)", {0, 1}},
       })
    for (const auto& result : ranBoth(fmt::format(
             "u = torch.tensor([0, 1, 2, 255], dtype=torch.uint8)\n    b = u.view(torch.bool)\n    r = {}", call))) {
      ASSERT_TRUE(result) << call << ": " << result.error().text();
      EXPECT_EQ(valuesOf(*result), values) << call;
    }
  const auto written = ranBoth(
      "u = torch.tensor([0, 1, 2, 255], dtype=torch.uint8)\n    b = u.view(torch.bool)\n"
      "    b.copy_(torch.logical_not(b))\n    r = u + 0");
  ASSERT_FALSE(written[0]);
  EXPECT_THAT(written[0].error().message, HasSubstr("view as torch.bool"));
  const auto plain = ranBoth(
      "u = torch.tensor([0, 1, 1, 0], dtype=torch.uint8)\n    b = u.view(torch.bool)\n"
      "    b.copy_(torch.logical_not(b))\n    r = u + 0");
  ASSERT_TRUE(plain[0] && plain[1]);
  EXPECT_EQ(valuesOf(*plain[0]), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(valuesOf(*plain[1]), (std::vector<double>{1, 0, 0, 1}));
}

TEST(PythonRules, WhatIsWrittenIsReadWhole) {
  struct Written {
    const char* call;
    std::vector<double> values;  // of y = 0, 1, …, 8
  };
  for (const auto& [call, values] : std::vector<Written>{
           {"y.add_(y)", {0, 2, 4, 6, 8, 10, 12, 14, 16}},
           {"y[0].copy_(y[:, 0])", {0, 3, 6, 3, 4, 5, 6, 7, 8}},
           {"y[:1].add_(y[1:2])", {3, 5, 7, 3, 4, 5, 6, 7, 8}},
           {"y[::2].mul_(y[::2])", {0, 1, 4, 3, 4, 5, 36, 49, 64}},
           {"y.masked_fill_(y.t() > 4, 1)", {0, 1, 1, 3, 4, 1, 6, 1, 1}},
           {"y.index_put_((y > 6,), y[0, 0])", {0, 1, 2, 3, 4, 5, 6, 0, 0}},
       })
    for (const auto& result :
         ranBoth(fmt::format("y = x.reshape(-1)[:9].reshape(3, 3) + 0\n    q = {}\n    r = y + 0", call))) {
      ASSERT_TRUE(result) << call << ": " << result.error().text();
      EXPECT_EQ(valuesOf(*result), values) << call;
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

/// Norms of a smallest or a largest number of nothing are not defined; of other numbers they are 0.
TEST(PythonRules, NormsOfNothing) {
  for (const char* order : {"-1", "float('inf')", "-float('inf')"}) {
    expectRefused(fmt::format("torch.linalg.vector_norm(x[:0], {})", order), "is not defined");
    expectRefused(fmt::format("torch.linalg.vector_norm(x[:, :0], {}, 1)", order), "is not defined");
  }
  expectRefused("torch.norm(x[:0], -1)", "is not defined");
  expectRefused("torch.linalg.norm(v[:0], float('inf'))", "is not defined");
  expectRefused("torch.linalg.norm(x.reshape(1, 3, 4), 1)", "needs an input of one or two dimensions");
  struct Norm {
    const char* call;
    std::vector<double> values;
  };
  for (const auto& [call, values] : std::vector<Norm>{{"torch.linalg.vector_norm(x[:0], 3)", {0}},
                                                      {"torch.linalg.vector_norm(x[:0], float('inf'), 1)", {}},
                                                      {"torch.linalg.matrix_norm(x[:0], float('inf'))", {0}},
                                                      {"torch.linalg.matrix_norm(x[:, :0], 1)", {0}},
                                                      {"torch.linalg.norm(x[:, :0], 1, keepdim=True)", {0}}})
    for (const auto& result : ranBoth("r = " + std::string(call))) {
      ASSERT_TRUE(result) << call << ": " << result.error().text();
      EXPECT_EQ(valuesOf(*result), values) << call;
    }
}

TEST(PythonRules, OperandsThatPyTorchRefuses) {
  expectRefused("torch.meshgrid(x, indexing='ij')", "at most one dimension");
  expectRefused("torch.nn.functional.kl_div(x, i, reduction='none')", "must be of a floating dtype");
  expectRefused("torch.searchsorted(v, x, side='fro')", "side must be 'left' or 'right'");
  expectRefused("torch.searchsorted(v, x, side='left', right=True)", "opposites");
  expectRefused("torch.nn.functional.cosine_embedding_loss(x, x, i)", "needs inputs of one dimension");
  expectRefused("torch.nn.functional.soft_margin_loss(v[:1], x)", "does not broadcast");
  expectRefused("torch.gradient(i.float(), dim=0)", "dimension");
  expectRefused("torch.nn.functional.batch_norm(x, None, v[:2], training=True)", "running_var has 2 elements");
}

/// A zero point is an integer.
TEST(PythonRules, ZeroPointsAreTruncated) {
  for (const auto& result :
       ranBoth("z = v[1] * 0.7\n    r = torch.fake_quantize_per_tensor_affine(v, v[1], z, 0, 2)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(0, 1, 2, 2));
  }
}

/// The parser reads its default, "at::Reduction::Mean", as a number, which gives 0: no reduction.
TEST(PythonRules, LossesOfTorchDoNotReduceByDefault) {
  for (const auto& result : ranBoth("t = v * 0 - 1\n    r = torch.hinge_embedding_loss(v, t)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(1, 0, 0, 0));
  }
  for (const auto& result : ranBoth("r = torch.margin_ranking_loss(v, v + 1, v * 0 + 1)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(1, 1, 1, 1));
  }
  for (const auto& result : ranBoth("r = torch.margin_ranking_loss(v, v + 1, v * 0 + 1, 0.0, 2)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(4));
  }
  for (const auto& result : ranBoth("r = torch.nn.functional.margin_ranking_loss(v, v + 1, v * 0 + 1)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(1));
  }
}

TEST(PythonRules, BatchMeanDividesWhateverSizeAverageSays) {
  const char* mean = "torch.nn.functional.kl_div(x, x * 0 + 1, reduction='batchmean', size_average=True)";
  for (const auto& result : ranBoth("r = " + std::string(mean))) {  // the mean of -x is -5.5, of 3 rows
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_NEAR(valuesOf(*result)[0], -5.5 / 3, 1e-6);
  }
}

/// A tensor of one integer, or of one flag, is a size or a dimension.
TEST(PythonRules, ATensorOfOneNumberIsASize) {
  struct Sized {
    const char* call;
    std::vector<double> values;
  };
  for (const auto& [call, values] : std::vector<Sized>{{"x.amin(i > 0)", {0, 4, 8}},
                                                       {"x.amin(i)", {0, 4, 8}},
                                                       {"torch.mean(x, i > 0)", {1.5, 5.5, 9.5}},
                                                       {"torch.eye(i)", {1}},
                                                       {"x.amax(None, True)", {11}}}) {
    const auto results = ranBoth("r = " + std::string(call));
    ASSERT_TRUE(results[0]) << call << ": " << results[0].error().text();
    EXPECT_EQ(valuesOf(*results[0]), values) << call;
  }
  expectRefused("x.amin(v)", "has no form for these arguments");
  expectRefused("torch.nn.functional.max_pool2d(x.reshape(1, 1, 3, 4), 2, dilation=True)", "must be ints");
}

TEST(PythonRules, NoNamesAreNone) {
  for (const auto& result : ranBoth("r = torch.full((2,), 3.0, names=None)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(3, 3));
  }
}

TEST(PythonRules, PowersAndPolygammasAreWritten) {
  for (const auto& result : ranBoth("r = v.double()\n    s = r.float_power_(2)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(valuesOf(*result), ElementsAre(0, 1, 4, 9));
  }
  expectRefused("(v + 1).float_power_(2)", "torch.float64");
  for (const auto& result : ranBoth("r = v + 1\n    s = r.polygamma_(1)")) {
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_NEAR(valuesOf(*result)[0], 1.6449340668, 1e-5);
  }
  expectRefused("v.long().polygamma_(1)", "cannot hold");
}

/// Where the places are a tensor's, only a run knows them.
TEST(PythonRules, ATensorIsSplitAtATensorsPlaces) {
  const auto results = ranBoth("p = torch.tensor_split(v, torch.tensor([1, 3]))\n    r = p[1]");
  ASSERT_TRUE(results[0]) << results[0].error().text();
  EXPECT_THAT(valuesOf(*results[0]), ElementsAre(1, 2));
}

TEST(PythonRules, OperandsWithTooFewDimensionsAreRefused) {
  expectRefused("torch.nn.functional.conv2d(x.reshape(1, 1, 3, 4), i.float(), padding='same')",
                "must have 4 dimensions");
  expectRefused("torch.nn.functional.embedding(i, i.float(), -1)", "must have 2 dimensions");
  expectRefused("i.float().flatten(1, 2)", "flatten");
  expectRefused("torch.nn.functional.kl_div(i.float(), i.float(), reduction='batchmean')", "has no batch");
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
