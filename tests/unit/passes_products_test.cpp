// Passes of the post_grad stage on products of matrices: fused with sums, taken apart, scaled.
#include "engine/ir/value_meta.h"
#include "tests/support/pass_fixture.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Calls = std::vector<std::string>;

/// relu(product + c), or that twice.
PassGraph productSum(const char* op, const Sizes& a, const Sizes& b, const Sizes& c, bool second = false) {
  PassGraph g;
  const NodeId x = g.input("a", a), y = g.input("b", b), z = g.input("c", c);
  const NodeId product = g.call(op, {x, y});
  ArgumentList outputs{g.call("aten.sum.default", {g.call("aten.add.Tensor", {z, product})})};
  if (second) outputs.emplace_back(g.call("aten.exp.default", {product}));
  g.finish(std::move(outputs));
  return g;
}

TEST(AddmmFusion, MakesOneCallOfProductAndSum) {
  EXPECT_EQ(calls(afterPass(productSum("aten.mm.default", {2, 3}, {3, 4}, {4}), "addmm_fusion", {}, 1e-6).graph),
            (Calls{"aten.addmm.default", "aten.sum.default"}));
  const auto batches = productSum("aten.bmm.default", {2, 2, 3}, {2, 3, 4}, {2, 2, 4});
  EXPECT_EQ(calls(afterPass(batches, "addmm_fusion").graph).size(), 3u);
  EXPECT_EQ(calls(afterPass(batches, "addmm_fusion", {"addmm_fusion.batches=true"}, 1e-6).graph),
            (Calls{"aten.baddbmm.default", "aten.sum.default"}));
}

TEST(AddmmFusion, KeepsProductsThatOthersReadAndTermsThatAreLarger) {
  const auto read = productSum("aten.mm.default", {2, 3}, {3, 4}, {4}, true);
  const auto larger = productSum("aten.mm.default", {2, 3}, {3, 4}, {5, 2, 4});
  EXPECT_EQ(calls(afterPass(read, "addmm_fusion").graph).size(), 4u);
  EXPECT_EQ(calls(afterPass(larger, "addmm_fusion").graph).size(), 3u);
}

TEST(AddmmFusion, AddsOneProductToAnother) {
  PassGraph g;
  const NodeId a = g.input("a", {2, 3}), b = g.input("b", {3, 4}), c = g.input("c", {2, 5}), d = g.input("d", {5, 4});
  const NodeId sum = g.call("aten.add.Tensor", {g.call("aten.mm.default", {a, b}), g.call("aten.mm.default", {c, d})});
  g.finish({g.call("aten.sum.default", {sum})});
  EXPECT_EQ(calls(afterPass(g, "addmm_fusion", {}, 1e-6).graph),
            (Calls{"aten.mm.default", "aten.addmm.default", "aten.sum.default"}));
}

PassGraph biased(const char* reader, double beta = 1) {
  PassGraph g;
  const NodeId bias = g.input("bias", {4}), x = g.input("x", {2, 3}), w = g.input("w", {3, 4});
  KeywordArguments kwargs;
  if (beta != 1) kwargs.emplace_back("beta", beta);
  const NodeId sum = g.call("aten.addmm.default", {bias, x, w}, std::move(kwargs));
  g.finish({g.call(reader, {g.call("aten.view.default", {sum, numbers({8})})})}, "cuda");
  return g;
}

TEST(UnfuseBiasAddToPointwise, AddsTheBiasWithPointwiseReaders) {
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default"), "unfuse_bias_add_to_pointwise", {}, 1e-6).graph),
            (Calls{"aten.mm.default", "aten.add.Tensor", "aten.view.default", "aten.gelu.default"}));
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default", 0.5), "unfuse_bias_add_to_pointwise", {}, 1e-6).graph),
            (Calls{"aten.mm.default", "aten.mul.Tensor", "aten.add.Tensor", "aten.view.default", "aten.gelu.default"}));
}

TEST(UnfuseBiasAddToPointwise, KeepsItForReductionsAndOtherDevices) {
  EXPECT_EQ(calls(afterPass(biased("aten.sum.default"), "unfuse_bias_add_to_pointwise").graph).front(),
            "aten.addmm.default");
  const std::vector<std::string> elsewhere{"unfuse_bias_add_to_pointwise.devices=xpu"};
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default"), "unfuse_bias_add_to_pointwise", elsewhere).graph).front(),
            "aten.addmm.default");
}

PassGraph biasedBatch(const char* reader, double beta) {
  PassGraph g;
  const NodeId bias = g.input("bias", {2, 3, 5}), a = g.input("a", {2, 3, 4}), b = g.input("b", {2, 4, 5});
  const NodeId product = g.call("aten.baddbmm.default", {bias, a, b}, {{"beta", beta}, {"alpha", 2}});
  g.finish({g.call(reader, {product})}, "cuda");
  return g;
}

TEST(UnfuseBiasAddToPointwise, TakesABatchOfProductsApartToo) {
  EXPECT_EQ(calls(afterPass(biasedBatch("aten.gelu.default", 1), "unfuse_bias_add_to_pointwise", {}, 1e-6).graph),
            (Calls{"aten.bmm.default", "aten.mul.Tensor", "aten.add.Tensor", "aten.gelu.default"}));
  EXPECT_EQ(calls(afterPass(biasedBatch("aten.sum.default", 1), "unfuse_bias_add_to_pointwise").graph).front(),
            "aten.baddbmm.default");
}

/// The bias is not read then: what it holds does not matter, NaN too.
TEST(UnfuseBiasAddToPointwise, KeepsABiasOfNoWeight) {
  EXPECT_EQ(calls(afterPass(biasedBatch("aten.gelu.default", 0), "unfuse_bias_add_to_pointwise").graph).front(),
            "aten.baddbmm.default");
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default", 0.0), "unfuse_bias_add_to_pointwise").graph).front(),
            "aten.addmm.default");
}

TEST(DecomposeMm, MultipliesAndSums) {
  const std::vector<std::string> on{"decompose_mm_pass.enabled=true", "decompose_mm_pass.min_rows=8",
                                    "decompose_mm_pass.max_columns=5"};
  PassGraph g;
  const NodeId c = g.input("c", {4}), a = g.input("a", {9, 3}), b = g.input("b", {3, 4}), d = g.input("d", {7, 3});
  const NodeId batch = g.input("batch", {8, 2, 3}), other = g.input("other", {8, 3, 4});
  g.finish({g.call("aten.mm.default", {a, b}), g.call("aten.addmm.default", {c, a, b}),
            g.call("aten.bmm.default", {batch, other}), g.call("aten.mm.default", {d, b})});
  EXPECT_EQ(calls(afterPass(g, "decompose_mm_pass").graph), calls(g.module.graph));
  const auto names = calls(afterPass(g, "decompose_mm_pass", on, 1e-6).graph);
  EXPECT_EQ(std::ranges::count(names, "aten.sum.dim_IntList"), 3);
  EXPECT_EQ(std::ranges::count(names, "aten.mm.default"), 1);  // of seven rows
}

/// As a product does: not once more for each term.
TEST(DecomposeMm, RoundsOnce) {
  const std::vector<std::string> on{"decompose_mm_pass.enabled=true", "decompose_mm_pass.min_rows=8",
                                    "decompose_mm_pass.max_columns=5"};
  for (const DType dtype : {DType::BFloat16, DType::Float16}) {
    PassGraph g;
    const NodeId c = g.input("c", {4}, dtype), a = g.input("a", {9, 3}, dtype), b = g.input("b", {3, 4}, dtype);
    g.finish({g.call("aten.mm.default", {a, b}), g.call("aten.addmm.default", {c, a, b})});
    const GraphModule after = afterPass(g, "decompose_mm_pass", on, 0);
    EXPECT_EQ(std::ranges::count(calls(after.graph), "aten.sum.dim_IntList"), 2);
    for (const NodeId id : after.graph.order()) {
      if (!after.graph.node(id).isCall("aten.mul.Tensor"_op)) continue;
      EXPECT_EQ(valueOf(after.graph.node(id).meta().value)->tensor().dtype(), DType::Float32);
    }
  }
}

/// x @ w.t() * scales of int8 weights that are made from numbers.
PassGraph weightProduct(Argument turn, std::int64_t scales) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 4}), w = g.input("w", {5, 4}, DType::Int64), s = g.input("s", {scales});
  const NodeId narrow = g.call("prims.convert_element_type.default", {w, DType::Int8});
  const NodeId wide = g.call("prims.convert_element_type.default", {narrow, DType::Float32});
  const NodeId turned = g.call("aten.permute.default", {wide, std::move(turn)});
  const NodeId product = g.call("aten.mm.default", {x, turned});
  g.finish({g.call("aten.mul.Tensor", {product, s})});
  return g;
}

TEST(WoqInt8, TakesWeightsAndScalesInOneCall) {
  const PassGraph g = weightProduct(Argument::list({1, 0}), 5);
  EXPECT_EQ(calls(afterPass(g, "woq_int8", {"woq_int8.enabled=true"}, 1e-6).graph),
            (std::vector<std::string>{"prims.convert_element_type.default", "aten._weight_int8pack_mm.default"}));
}

TEST(WoqInt8, TakesProductsWithoutScalesWhereAsked) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 4}), w = g.input("w", {5, 4}, DType::Int8), n = g.input("n", {4, 5}, DType::Int8);
  const auto wide = [&](NodeId id) { return g.call("prims.convert_element_type.default", {id, DType::Float32}); };
  const NodeId turned = g.call("aten.permute.default", {wide(w), numbers({1, 0})});
  g.finish({g.call("aten.mm.default", {x, turned}), g.call("aten.mm.default", {x, wide(n)})});
  const std::string on = "woq_int8.enabled=true";
  EXPECT_EQ(calls(afterPass(g, "woq_int8", {on}).graph), calls(g.module.graph));
  const auto after = afterPass(g, "woq_int8", {on, "woq_int8.unscaled=true"}, 1e-6);
  EXPECT_EQ(calls(after.graph), (Calls{"aten.full.default", "aten._weight_int8pack_mm.default",
                                       "prims.convert_element_type.default", "aten.mm.default"}));
}

/// _int_mm of x [3, 4] and the weight, converted to float32.
NodeId intSums(PassGraph& g, bool turned, bool computed = false) {
  const NodeId x = g.input("x", {3, 4}, DType::Int8);
  NodeId w = turned ? g.input("w", {5, 4}, DType::Int8) : g.input("w", {4, 5}, DType::Int8);
  if (computed) w = g.call("aten.neg.default", {w});
  if (turned) w = g.call("aten.permute.default", {w, numbers({1, 0})});
  return g.call("prims.convert_element_type.default", {g.call("aten._int_mm.default", {x, w}), DType::Float32});
}

const std::vector<std::string> fusedIntMmMul{"fused_int_mm_mul.enabled=true"};

TEST(FusedIntMmMul, TakesANumberIntoTheProduct) {
  PassGraph g;
  g.finish({g.call("aten.mul.Tensor", {intSums(g, false), 0.01})});
  const GraphModule after = afterPass(g, "fused_int_mm_mul", fusedIntMmMul, 1e-6);
  EXPECT_EQ(calls(after.graph), (Calls{"aten.permute.default", "onednn.qlinear_prepack.default", "aten.full.default",
                                       "aten.full.default", "onednn.qlinear_pointwise.default"}));
  EXPECT_EQ(calls(afterPass(g, "fused_int_mm_mul").graph), calls(g.module.graph));
}

TEST(FusedIntMmMul, TakesScalesOfColumnsAndLeavesThoseOfRowsBehindIt) {
  PassGraph g;
  const NodeId rows = g.input("rows", {3, 1}), columns = g.input("columns", {1, 5});
  const NodeId sums = intSums(g, true);
  g.finish({g.call("aten.mul.Tensor", {columns, g.call("aten.mul.Tensor", {sums, rows})})});
  EXPECT_EQ(calls(afterPass(g, "fused_int_mm_mul", fusedIntMmMul, 1e-6).graph),
            (Calls{"onednn.qlinear_prepack.default", "aten.view.default", "aten.full.default",
                   "onednn.qlinear_pointwise.default", "aten.mul.Tensor"}));
}

TEST(FusedIntMmMul, KeepsSumsThatOthersReadComputedWeightsAndScalesOfRows) {
  const auto isKept = [](PassGraph& g, ArgumentList outputs) {
    g.finish(std::move(outputs));
    return calls(afterPass(g, "fused_int_mm_mul", fusedIntMmMul).graph) == calls(g.module.graph);
  };
  PassGraph read, computed, rows;
  const NodeId sums = intSums(read, false);
  EXPECT_TRUE(isKept(read, {read.call("aten.mul.Tensor", {sums, 0.5}), read.call("aten.neg.default", {sums})}));
  EXPECT_TRUE(isKept(computed, {computed.call("aten.mul.Tensor", {intSums(computed, false, true), 0.5})}));
  const NodeId scales = rows.input("rows", {3, 1});
  EXPECT_TRUE(isKept(rows, {rows.call("aten.mul.Tensor", {intSums(rows, false), scales})}));
}

TEST(WoqInt8, KeepsOneScaleForAllAndIsOffByDefault) {
  const PassGraph one = weightProduct(Argument::list({1, 0}), 1);
  EXPECT_EQ(calls(afterPass(one, "woq_int8", {"woq_int8.enabled=true"}).graph).size(), 5u);
  EXPECT_EQ(calls(afterPass(weightProduct(Argument::list({1, 0}), 5), "woq_int8").graph).size(), 5u);
}
}  // namespace
}  // namespace kerf
