// Inputs made up after what a graph does with them: values, and that they keep from one graph to the next.
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "engine/capture/common/capture.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

CapturedGraph graphOf(const std::string& signature, const std::string& body) {
  const std::string text =
      "class GraphModule(torch.nn.Module):\n    def forward(self, " + signature + "):\n" + body + "\n";
  auto graph = capturedFromReadable(text, {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().text());
  return graph ? std::move(*graph) : CapturedGraph();
}

std::string line(const std::string& text) { return "        " + text + "\n"; }

struct Made {
  std::vector<Tensor> tensors;
  std::vector<InputOrigin> origins;
};

Made made(const CapturedGraph& graph, LoadOptions options = {}) {
  Made result;
  options.origins = &result.origins;
  const auto inputs = graph.loadInputs(options, nullptr);
  EXPECT_TRUE(inputs) << (inputs ? "" : inputs.error().text());
  if (!inputs) return result;
  for (const Value& value : *inputs) result.tensors.push_back(value.isTensor() ? value.tensor() : Tensor());
  return result;
}

std::vector<double> valuesOf(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.itemAsDouble(i));
  return values;
}

void expectRange(const Tensor& tensor, double lower, double upper) {
  for (const double value : valuesOf(tensor)) {
    EXPECT_GE(value, lower);
    EXPECT_LE(value, upper);
  }
}

double deviation(const Tensor& tensor) {
  double squares = 0;
  for (const double value : valuesOf(tensor)) squares += value * value;
  return std::sqrt(squares / double(tensor.numel()));
}

TEST(PlausibleInputs, VarianceIsPositiveThroughEpsilonViewsAndCasts) {
  const auto graph =
      graphOf("x: \"f32[2, 3, 4]\", var: \"f16[3]\"",
              line("c: \"f32[3]\" = torch.ops.prims.convert_element_type.default(var, torch.float32)") +
                  line("add: \"f32[3]\" = torch.ops.aten.add.Tensor(c, 1e-05)") +
                  line("u: \"f32[3, 1]\" = torch.ops.aten.unsqueeze.default(add, -1)") +
                  line("rsqrt_3: \"f32[3, 1]\" = torch.ops.aten.rsqrt.default(u)") +
                  line("mul: \"f32[2, 3, 4]\" = torch.ops.aten.mul.Tensor(x, rsqrt_3)") + line("return (mul,)"));
  const Made inputs = made(graph);
  expectRange(inputs.tensors[1], 0.49, 1.51);
  EXPECT_EQ(inputs.origins[1].why, "positive (rsqrt at rsqrt_3)");
  EXPECT_EQ(inputs.origins[1].source, InputOrigin::Source::Generated);
}

TEST(PlausibleInputs, BoundsGoBackThroughArithmetic) {
  // log(1 - 2 * p) and log(p): p between 0 and 1/2
  const auto graph =
      graphOf("p: \"f32[500]\"", line("m: \"f32[500]\" = torch.ops.aten.mul.Tensor(p, 2)") +
                                     line("s: \"f32[500]\" = torch.ops.aten.sub.Tensor(1, m)") +
                                     line("a: \"f32[500]\" = torch.ops.aten.log.default(s)") +
                                     line("b: \"f32[500]\" = torch.ops.aten.log.default(p)") + line("return (a, b)"));
  expectRange(made(graph).tensors[0], 0.04, 0.476);
}

TEST(PlausibleInputs, RsubAndNeg) {
  const auto graph =
      graphOf("p: \"f32[500]\"", line("s: \"f32[500]\" = torch.ops.aten.rsub.Scalar(p, 3)") +
                                     line("a: \"f32[500]\" = torch.ops.aten.sqrt.default(s)") +
                                     line("n: \"f32[500]\" = torch.ops.aten.neg.default(p)") +
                                     line("c: \"f32[500]\" = torch.ops.aten.sqrt.default(n)") + line("return (a, c)"));
  expectRange(made(graph).tensors[0], -16, -0.05);
}

TEST(PlausibleInputs, AdamsSecondMomentAndStep) {
  const auto graph = graphOf("grad: \"f32[9]\", sq: \"f32[9]\", step: \"f32[]\"",
                             line("mul: \"f32[9]\" = torch.ops.aten.mul.Tensor(sq, 0.999)") +
                                 line("g2: \"f32[9]\" = torch.ops.aten.mul.Tensor(grad, grad)") +
                                 line("new: \"f32[9]\" = torch.ops.aten.add.Tensor(mul, g2)") +
                                 line("root: \"f32[9]\" = torch.ops.aten.sqrt.default(new)") +
                                 line("next: \"f32[]\" = torch.ops.aten.add.Tensor(step, 1)") +
                                 line("pow_1: \"f32[]\" = torch.ops.aten.pow.Scalar(0.9, next)") +
                                 line("c: \"f32[]\" = torch.ops.aten.sub.Tensor(1, pow_1)") +
                                 line("out: \"f32[9]\" = torch.ops.aten.div.Tensor(root, c)") + line("return (out,)"));
  const Made inputs = made(graph);
  expectRange(inputs.tensors[1], 0.05, 16);
  const double step = inputs.tensors[2].itemAsDouble(0);
  EXPECT_EQ(step, std::floor(step));
  EXPECT_GE(step, 0);
  EXPECT_LE(step, 9);
}

TEST(PlausibleInputs, ForeachItemsKeepApart) {
  const auto graph =
      graphOf("a: \"f32[50]\", b: \"f32[50]\"",
              line("f = torch.ops.aten._foreach_add.Scalar([a, b], 0.5)") + line("g: \"f32[50]\" = f[1]") +
                  line("root: \"f32[50]\" = torch.ops.aten.sqrt.default(g)") + line("return (root, f)"));
  const Made inputs = made(graph);
  expectRange(inputs.tensors[1], -0.5, 1.01);
  EXPECT_TRUE(inputs.origins[0].why.starts_with("no use asks")) << inputs.origins[0].why;
}

TEST(PlausibleInputs, IndicesAreWithinBoundsAlsoShifted) {
  const auto graph =
      graphOf("w: \"f32[11, 3]\", ids: \"i64[40]\"",
              line("add: \"i64[40]\" = torch.ops.aten.add.Tensor(ids, 2)") +
                  line("e: \"f32[40, 3]\" = torch.ops.aten.embedding.default(w, add)") + line("return (e,)"));
  const Tensor ids = made(graph).tensors[1];
  expectRange(ids, -2, 8);
  const auto values = valuesOf(ids);
  EXPECT_GT(std::set<double>(values.begin(), values.end()).size(), 5u);
}

TEST(PlausibleInputs, AnIndexThatNobodyCanFollowIsZero) {
  const auto graph = graphOf("x: \"f32[11]\", i: \"i64[4]\", j: \"i64[4]\"",
                             line("m: \"i64[4]\" = torch.ops.aten.mul.Tensor(i, j)") +
                                 line("e: \"f32[4]\" = torch.ops.aten.index.Tensor(x, [m])") + line("return (e,)"));
  expectRange(made(graph).tensors[1], 0, 0);
}

TEST(PlausibleInputs, PlanesOfAPooling) {
  const auto graph = graphOf(
      "g: \"f32[1, 2, 3, 3]\", x: \"f32[1, 2, 6, 6]\", i: \"i64[1, 2, 3, 3]\"",
      line("b: \"f32[1, 2, 6, 6]\" = torch.ops.aten.max_pool2d_with_indices_backward.default(g, x, [2, 2], [2, 2], [0, "
           "0], [1, 1], False, i)") +
          line("return (b,)"));
  expectRange(made(graph).tensors[2], 0, 35);
}

/// Offsets that a pooling saved: inside of the image also where a window begins in the padding.
TEST(PlausibleInputs, OffsetsOfAPoolingWithPadding) {
  const auto offsets = [](const std::string& shape, const std::string& image, const std::string& lists) {
    return made(graphOf(fmt::format("self, offsets: \"i8[{}]\", grad: \"f32[{}]\", image: \"f32[{}]\"", shape, shape,
                                    image),
                        line(fmt::format("i = torch.ops.prims._low_memory_max_pool_offsets_to_indices.default("
                                         "offsets, {})",
                                         lists)) +
                            line("return (i,)")))
        .tensors[0];
  };
  expectRange(offsets("1, 2, 4, 4", "1, 2, 8, 8", "[3, 3], [8, 8], [2, 2], [1, 1], [1, 1]"), 4, 5);
  expectRange(offsets("1, 2, 4, 4", "1, 2, 7, 7", "[3, 3], [7, 7], [2, 2], [1, 1], [1, 1]"), 4, 4);
  expectRange(offsets("1, 2, 4, 4", "1, 2, 8, 8", "[2, 2], [8, 8], [2, 2], [0, 0], [1, 1]"), 0, 1);
  expectRange(offsets("1, 2, 6, 6", "1, 2, 8, 8", "[3, 3], [8, 8], [1, 1], [1, 1], [2, 2]"), 4, 4);
}

TEST(PlausibleInputs, MasksKeepSomethingInEveryRow) {
  const auto graph = graphOf(
      "s: \"f32[30, 3]\", keep: \"b8[30, 3]\", hide: \"b8[30, 3]\", ones: \"i64[30, 3]\"",
      line("inf: \"f32[]\" = torch.ops.aten.full.default([], -inf)") +
          line("a: \"f32[30, 3]\" = torch.ops.aten.where.self(keep, s, inf)") +
          line("b: \"f32[30, 3]\" = torch.ops.aten.masked_fill.Scalar(a, hide, -1e30)") +
          line("f: \"f32[30, 3]\" = torch.ops.prims.convert_element_type.default(ones, torch.float32)") +
          line("r: \"f32[30, 3]\" = torch.ops.aten.sub.Tensor(1.0, f)") +
          line("m: \"f32[30, 3]\" = torch.ops.aten.mul.Tensor(r, -3.4028234663852886e+38)") + line("return (b, m)"));
  const Made inputs = made(graph);
  for (int row = 0; row < 30; ++row) {
    EXPECT_EQ(inputs.tensors[1].itemAsInt(row * 3), 1);
    EXPECT_EQ(inputs.tensors[2].itemAsInt(row * 3), 0);
    EXPECT_EQ(inputs.tensors[3].itemAsInt(row * 3), 1);
  }
  expectRange(inputs.tensors[3], 0, 1);
  const auto count = valuesOf(inputs.tensors[2]);
  EXPECT_GT(std::accumulate(count.begin(), count.end(), 0.0), 5);
}

TEST(PlausibleInputs, AMaskOfPythonsAssignmentHasAPlaceForEachValue) {
  const auto graph = graphOf("x: \"f32[2, 3]\", m: \"b8[2, 3]\", v: \"f32[2]\"",
                             line("x[m] = v;  setitem = x;  m = v = setitem = None") + line("return (x,)"));
  const Made inputs = made(graph);
  const auto mask = valuesOf(inputs.tensors.at(1));
  EXPECT_EQ(std::accumulate(mask.begin(), mask.end(), 0.0), 2);
}

TEST(PlausibleInputs, SavedSoftmaxIsOne) {
  const auto graph =
      graphOf("g: \"f32[4, 5]\", y: \"f32[4, 5]\", z: \"f32[4, 5]\"",
              line("mul: \"f32[4, 5]\" = torch.ops.aten.mul.Tensor(g, y)") +
                  line("sum_1: \"f32[4, 1]\" = torch.ops.aten.sum.dim_IntList(mul, [-1], True)") +
                  line("mul_1: \"f32[4, 5]\" = torch.ops.aten.mul.Tensor(y, sum_1)") +
                  line("d: \"f32[4, 5]\" = torch.ops.aten.sub.Tensor(mul, mul_1)") +
                  line("e: \"f32[4, 5]\" = torch.ops.aten._softmax_backward_data.default(g, z, 0, torch.float32)") +
                  line("return (d, e)"));
  const Made inputs = made(graph);
  for (int row = 0; row < 4; ++row) {
    double sum = 0;
    for (int i = 0; i < 5; ++i) sum += inputs.tensors[1].itemAsDouble(row * 5 + i);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  for (int column = 0; column < 5; ++column) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += inputs.tensors[2].itemAsDouble(i * 5 + column);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(PlausibleInputs, SortedOffsetsLengthsAndDistinct) {
  const auto graph = graphOf(
      "x: \"f32[7]\", edges: \"f32[9]\", w: \"f32[5, 2]\", ids: \"i64[12]\", offsets: \"i64[4]\", n: \"i64[5]\", at: "
      "\"i64[6]\", v: \"f32[6]\", rows: \"f32[10]\"",
      line("b: \"i64[7]\" = torch.ops.aten.bucketize.Tensor(x, edges)") +
          line("e = torch.ops.aten._embedding_bag.default(w, ids, offsets)") +
          line("r: \"i64[13]\" = torch.ops.aten.repeat_interleave.Tensor(n, output_size = 13)") +
          line("p: \"f32[10]\" = torch.ops.aten.index_put.default(rows, [at], v)") + line("return (b, e, r, p)"));
  const Made inputs = made(graph);
  const auto edges = valuesOf(inputs.tensors[1]), offsets = valuesOf(inputs.tensors[4]);
  EXPECT_TRUE(std::ranges::is_sorted(edges));
  EXPECT_LT(edges.front(), edges.back());
  EXPECT_EQ(offsets.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
  EXPECT_LT(offsets.back(), 12);
  const auto lengths = valuesOf(inputs.tensors[5]), places = valuesOf(inputs.tensors[6]);
  EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), 0.0), 13);
  EXPECT_EQ(std::set<double>(places.begin(), places.end()).size(), 6u);
  expectRange(inputs.tensors[6], 0, 9);
}

TEST(PlausibleInputs, ScalesByFanIn) {
  const auto graph = graphOf(
      "x: \"f32[8, 64]\", w: \"f32[100, 64]\", b: \"f32[100]\", k: \"f32[8, 4, 3, 3]\", img: \"f32[1, 4, 9, 9]\"",
      line("t: \"f32[64, 100]\" = torch.ops.aten.permute.default(w, [1, 0])") +
          line("y: \"f32[8, 100]\" = torch.ops.aten.addmm.default(b, x, t)") +
          line("c: \"f32[1, 8, 7, 7]\" = torch.ops.aten.convolution.default(img, k, None, [1, 1], [0, "
               "0], [1, 1], False, [0, 0], 1)") +
          line("return (y, c)"));
  const Made inputs = made(graph);
  EXPECT_NEAR(deviation(inputs.tensors[0]), 1, 0.1);
  EXPECT_NEAR(deviation(inputs.tensors[1]), 0.125, 0.01);
  EXPECT_LT(deviation(inputs.tensors[2]), 0.15);
  EXPECT_NEAR(deviation(inputs.tensors[3]), 1.0 / 6, 0.02);
}

/// Sixteen blocks of a transformer's MLP in half precision: activations neither vanish nor overflow.
TEST(PlausibleInputs, DeepHalfPrecisionStaysFinite) {
  std::string signature = "x: \"f16[4, 256]\"", body;
  std::string value = "x";
  for (int i = 0; i < 16; ++i) {
    const std::string n = std::to_string(i);
    signature += ", w" + n + ": \"f16[1024, 256]\", v" + n + ": \"f16[256, 1024]\", g" + n + ": \"f16[256]\"";
    body += line("m" + n + ": \"f16[4, 256]\" = torch.ops.aten.mul.Tensor(" + value + ", g" + n + ")") +
            line("t" + n + ": \"f16[256, 1024]\" = torch.ops.aten.permute.default(w" + n + ", [1, 0])") +
            line("a" + n + ": \"f16[4, 1024]\" = torch.ops.aten.mm.default(m" + n + ", t" + n + ")") +
            line("r" + n + ": \"f16[4, 1024]\" = torch.ops.aten.relu.default(a" + n + ")") +
            line("u" + n + ": \"f16[1024, 256]\" = torch.ops.aten.permute.default(v" + n + ", [1, 0])") +
            line("o" + n + ": \"f16[4, 256]\" = torch.ops.aten.mm.default(r" + n + ", u" + n + ")") +
            line("x" + n + ": \"f16[4, 256]\" = torch.ops.aten.add.Tensor(" + value + ", o" + n + ")");
    value = "x" + n;
  }
  const auto graph = graphOf(signature, body + line("return (" + value + ",)"));
  const auto inputs = graph.loadInputs(LoadOptions{}, nullptr);
  ASSERT_TRUE(inputs);
  const auto result = Interpreter(graph.module, referenceOps()).run(*inputs);
  ASSERT_TRUE(result) << result.error().text();
  const double size = deviation(result->list()[0].tensor());
  EXPECT_GT(size, 0.5);
  EXPECT_LT(size, 100);
}

TEST(PlausibleInputs, NestedGraphsAreFollowed) {
  const std::string text = R"py(
class GraphModule(torch.nn.Module):
    def forward(self, c: "b8[]", v: "f32[60]"):
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(c, true_graph_0, false_graph_0, (v,))
        getitem: "f32[60]" = cond[0]
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[60]"):
            log: "f32[60]" = torch.ops.aten.log.default(arg0_1)
            return (log,)

    class false_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[60]"):
            asin: "f32[60]" = torch.ops.aten.asin.default(arg0_1)
            return (asin,)
)py";
  auto graph = capturedFromReadable(text, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const Made inputs = made(*graph);
  expectRange(inputs.tensors[1], 0.05, 0.95);
  EXPECT_EQ(inputs.origins[1].why, "positive (log at true_graph_0/log); between -1 and 1 (asin at false_graph_0/asin)");
}

TEST(PlausibleInputs, SizesInTensorsKeepToWhatTheGraphAsserts) {
  const auto graph = graphOf(
      "n: \"i64[]\"",
      line("u: \"Sym(u0)\" = torch.ops.aten._local_scalar_dense.default(n)") + line("ge: \"Sym(u0 >= 3)\" = u >= 3") +
          line("a = torch.ops.aten._assert_scalar.default(ge, 'u0 >= 3')") + line("le: \"Sym(u0 <= 5)\" = u <= 5") +
          line("b = torch.ops.aten._assert_scalar.default(le, 'u0 <= 5')") +
          line("full: \"f32[u0]\" = torch.ops.aten.full.default([u], 1)") + line("return (full,)"));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    LoadOptions options;
    options.seed = seed;
    expectRange(made(graph, options).tensors[0], 3, 5);
  }
}

TEST(PlausibleInputs, BatchNormsSavedInverseDeviationTimesWeight) {
  const auto graph =
      graphOf("x: \"f32[2, 8, 4, 4]\", invstd: \"f32[8]\", weight: \"f32[8]\"",
              line("mul: \"f32[8]\" = torch.ops.aten.mul.Tensor(invstd, weight)") +
                  line("u: \"f32[1, 8]\" = torch.ops.aten.unsqueeze.default(mul, 0)") +
                  line("v: \"f32[1, 8, 1]\" = torch.ops.aten.unsqueeze.default(u, 2)") +
                  line("w: \"f32[1, 8, 1, 1]\" = torch.ops.aten.unsqueeze.default(v, 3)") +
                  line("y: \"f32[2, 8, 4, 4]\" = torch.ops.aten.mul.Tensor(x, w)") + line("return (y,)"));
  const Made inputs = made(graph);
  expectRange(inputs.tensors[1], 0.6, 1.4);
  expectRange(inputs.tensors[2], 0.6, 1.4);
}

TEST(PlausibleInputs, DynamosFunctions) {
  const auto graph =
      graphOf("x: \"f32[2, 3, 4]\", mean: \"f32[3]\", var: \"f32[3]\", ids: \"i64[9]\", table: \"f32[5, 2]\"",
              line("b = torch.nn.functional.batch_norm(x, mean, var, None, None, False, 0.1, 1e-05)") +
                  line("e = torch.nn.functional.embedding(ids, table)") + line("return (b, e)"));
  const Made inputs = made(graph);
  expectRange(inputs.tensors[2], 0.4, 1.6);
  expectRange(inputs.tensors[3], 0, 4);
}

TEST(InputSeeds, DependOnTheNameOnly) {
  const std::string body = line("e: \"f32[4]\" = torch.ops.aten.add.Tensor(x, x)") + line("return (e,)");
  const auto small = made(graphOf("x: \"f32[4]\"", body));
  const auto large = made(graphOf("a: \"f32[9]\", b: \"i64[2]\", x: \"f32[4]\"", body));
  EXPECT_EQ(valuesOf(small.tensors[0]), valuesOf(large.tensors[2]));
  EXPECT_NE(valuesOf(large.tensors[0])[0], valuesOf(large.tensors[2])[0]);
  LoadOptions other;
  other.seed = 5;
  EXPECT_NE(valuesOf(small.tensors[0]), valuesOf(made(graphOf("x: \"f32[4]\"", body), other).tensors[0]));
  EXPECT_EQ(valuesOf(made(graphOf("x: \"f32[4]\"", body), other).tensors[0]),
            valuesOf(made(graphOf("x: \"f32[4]\"", body), other).tensors[0]));
}

TEST(InputFills, ZerosOnesAndPyTorchsRule) {
  const auto graph = graphOf("x: \"f32[400]\", v: \"f32[3]\", i: \"i64[3]\", m: \"b8[3]\"",
                             line("e: \"f32[3]\" = torch.ops.aten.sqrt.default(v)") + line("return (e, x, i, m)"));
  LoadOptions options;
  options.fill = InputFill::Zeros;
  for (const Tensor& tensor : made(graph, options).tensors) expectRange(tensor, 0, 0);
  options.fill = InputFill::Ones;
  for (const Tensor& tensor : made(graph, options).tensors) expectRange(tensor, 1, 1);
  options.fill = InputFill::Random;
  const Made random = made(graph, options);
  EXPECT_NEAR(deviation(random.tensors[0]), 1, 0.1);
  expectRange(random.tensors[2], 0, 0);
  expectRange(random.tensors[3], 0, 0);
  EXPECT_EQ(random.origins[0].why, "PyTorch's rule: normal");
  EXPECT_EQ(random.origins[2].why, "PyTorch's rule: zero");
}

constexpr const char* sharedStorage = R"py(
import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, a, var, again):
        sqrt = torch.ops.aten.sqrt.default(var)
        add = torch.ops.aten.add.Tensor(a, again)
        return (sqrt, add)

def load_args(reader):
    buf0 = reader.storage('cccccccccccccccccccccccccccccccccccccccc', 48)
    reader.tensor(buf0, (4,), is_leaf=True)  # a
    reader.tensor(buf0, (4,), storage_offset=4, is_leaf=True)  # var
    reader.tensor(buf0, (2, 2), is_leaf=True)  # again
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
)py";

TEST(PlausibleInputs, ViewsOfOneMissingStorageGetWhatEachNeeds) {
  auto capture = importRepro(sharedStorage, "repro.py");
  ASSERT_TRUE(capture) << capture.error().text();
  const CapturedGraph& graph = capture->graphs.at(0);
  const Made inputs = made(graph);
  EXPECT_EQ(inputs.tensors[0].storage(), inputs.tensors[1].storage());
  expectRange(inputs.tensors[1], 0.05, 16);
  EXPECT_EQ(valuesOf(inputs.tensors[0]), valuesOf(inputs.tensors[2]));
  EXPECT_EQ(inputs.origins[1].source, InputOrigin::Source::Generated);
  const auto planned = graph.inputOrigins({});
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->at(1).why, inputs.origins[1].why);
}

TEST(WithGeneratedData, KeepsTheValuesThatTheGraphRunsOn) {
  auto capture = importRepro(sharedStorage, "repro.py");
  ASSERT_TRUE(capture);
  const CapturedGraph& graph = capture->graphs.at(0);
  const auto whole = withGeneratedData(graph, {});
  ASSERT_TRUE(whole) << whole.error().text();
  ASSERT_TRUE(whole->storages.at(0).data);
  EXPECT_NE(whole->storages.at(0).hash, graph.storages.at(0).hash);
  LoadOptions strict;
  strict.strict = true;
  EXPECT_EQ(valuesOf(made(*whole, strict).tensors[1]), valuesOf(made(graph).tensors[1]));
  EXPECT_EQ(made(*whole, strict).origins[1].source, InputOrigin::Source::Stored);
  LoadOptions random;
  random.fill = InputFill::Random;
  const auto same = withGeneratedData(graph, random);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->storages.at(0).hash, graph.storages.at(0).hash);
}

}  // namespace
}  // namespace kerf
