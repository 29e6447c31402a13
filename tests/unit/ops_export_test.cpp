// Ops that torch.export keeps whole, against straight loops, known answers and the ops they stand for.
#include <cmath>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

/// Values that differ from each other and cancel nowhere.
Tensor wave(const Sizes& sizes, double phase = 0, DType dtype = DType::Float64) {
  std::vector<double> values(std::size_t(*checkedNumel(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.7 * double(i) + phase);
  return tensorOf(sizes, values, dtype);
}

void expectNear(const Tensor& actual, const Sizes& sizes, const std::vector<double>& expected, double limit = 1e-12) {
  ASSERT_EQ(actual.sizes(), sizes);
  const std::vector<double> values = valuesOf(actual);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(values[i], expected[i], limit) << i;
}

/// The shape rule says what the kernel gave.
void expectShapeRule(std::string_view op, const ValueList& args, const Value& result,
                     const KeywordValues& kwargs = {}) {
  const auto shape = inferShapes(op, args, kwargs);
  ASSERT_TRUE(shape.has_value()) << op << shape.error().text();
  if (!result.isTensor()) {
    ASSERT_EQ(shape->list().size(), result.list().size());
    return;
  }
  EXPECT_EQ(shape->tensor().sizes(), result.tensor().sizes()) << op;
  EXPECT_EQ(shape->tensor().strides(), result.tensor().strides()) << op;
  EXPECT_EQ(shape->tensor().dtype(), result.tensor().dtype()) << op;
}

TEST(ExportOps, MatmulOfEveryRank) {
  const std::pair<Sizes, Sizes> cases[] = {
      {{3}, {3}},          {{2, 3}, {3}},      {{3}, {3, 4}},          {{2, 3}, {3, 4}},
      {{5, 2, 3}, {3, 4}}, {{5, 2, 3}, {3}},   {{5, 2, 3}, {5, 3, 4}}, {{2, 1, 2, 3}, {5, 3, 4}},
      {{3}, {5, 3, 4}},    {{2, 3}, {5, 3, 4}}};
  for (const auto& [a, b] : cases) {
    const Tensor x = wave(a), y = wave(b, 1);
    const Value out = call("aten.matmul.default", {x, y});
    ASSERT_TRUE(out.isTensor());
    expectShapeRule("aten.matmul.default", {x, y}, out);
    // The last element by hand: the last row of x times the last column of y.
    const std::int64_t k = a.back(), columns = b.size() == 1 ? 1 : b.back();
    double last = 0;
    for (std::int64_t i = 0; i < k; ++i)
      last += x.itemAsDouble(x.numel() - k + i) * y.itemAsDouble(y.numel() - (k - i) * columns + columns - 1);
    EXPECT_NEAR(out.tensor().itemAsDouble(out.tensor().numel() - 1), last, 1e-12) << a.size() << " " << b.size();
  }
  EXPECT_EQ(errorOf("aten.matmul.default", {wave({2, 3}), wave({4, 5})}).code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.matmul.default", {wave({}), wave({4})}).code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.matmul.default", {wave({2, 2, 3}), wave({3, 3, 4})}).code, ErrorCode::ShapeMismatch);
}

TEST(ExportOps, LinearIsAProductWithTheTransposedWeight) {
  const Tensor weight = wave({4, 3}, 1), bias = wave({4}, 2);
  for (const Sizes& sizes : {Sizes{3}, Sizes{2, 3}, Sizes{5, 2, 3}}) {
    const Tensor x = wave(sizes);
    const Value out = call("aten.linear.default", {x, weight, bias});
    expectShapeRule("aten.linear.default", {x, weight, bias}, out);
    double first = bias.itemAsDouble(0);
    for (std::int64_t i = 0; i < 3; ++i) first += x.itemAsDouble(i) * weight.itemAsDouble(i);
    EXPECT_NEAR(out.tensor().itemAsDouble(0), first, 1e-12);
    EXPECT_EQ(out.tensor().sizes().back(), 4);
  }
  EXPECT_EQ(errorOf("aten.linear.default", {wave({2, 5}), weight, bias}).code, ErrorCode::ShapeMismatch);
}

TEST(ExportOps, ConvolutionsPadAsTheirModeSays) {
  const Tensor x = tensorOf({1, 1, 4}, {1, 2, 3, 4}), kernel = tensorOf({1, 1, 2}, {1, 10});
  expectNear(callTensor("aten.conv1d.default", {x, kernel}), {1, 1, 3}, {21, 32, 43}, 1e-5);
  expectNear(callTensor("aten.conv1d.padding", {x, kernel, Value(), ints({1}), "valid"}), {1, 1, 3}, {21, 32, 43},
             1e-5);
  // an even kernel pads the right side by one more
  expectNear(callTensor("aten.conv1d.padding", {x, kernel, Value(), ints({1}), "same"}), {1, 1, 4}, {21, 32, 43, 4},
             1e-5);
  expectNear(callTensor("aten.conv1d.default", {tensorOf({1, 4}, {1, 2, 3, 4}), kernel}), {1, 3}, {21, 32, 43}, 1e-5);
  expectNear(callTensor("aten.conv_transpose1d.default", {x, kernel}), {1, 1, 5}, {1, 12, 23, 34, 40}, 1e-5);
  EXPECT_EQ(errorOf("aten.conv2d.default", {x.viewAs({4}, {1}, 0), kernel}).code, ErrorCode::ShapeMismatch);
}

TEST(ExportOps, AttentionMasksAndScales) {
  const Tensor q = wave({1, 2, 3, 4}), k = wave({1, 2, 5, 4}, 1), v = wave({1, 2, 5, 6}, 2);
  const Value plain = call("aten.scaled_dot_product_attention.default", {q, k, v});
  expectShapeRule("aten.scaled_dot_product_attention.default", {q, k, v}, plain);
  double weights[5], total = 0, expected = 0;
  for (std::int64_t j = 0; j < 5; ++j) {
    double score = 0;
    for (std::int64_t d = 0; d < 4; ++d) score += q.itemAsDouble(d) * k.itemAsDouble(j * 4 + d);
    total += weights[j] = std::exp(score / 2);
  }
  for (std::int64_t j = 0; j < 5; ++j) expected += weights[j] / total * v.itemAsDouble(j * 6);
  EXPECT_NEAR(plain.tensor().itemAsDouble(0), expected, 1e-12);
  // causal: the first query sees the first key only
  const Tensor causal = callTensor("aten.scaled_dot_product_attention.default", {q, k, v, Value(), 0.0, true});
  for (std::int64_t d = 0; d < 6; ++d) EXPECT_NEAR(causal.itemAsDouble(d), v.itemAsDouble(d), 1e-12);
  // a row that sees nothing gives zeros
  const Tensor mask = tensorOf({3, 5}, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0}, DType::Bool);
  const Tensor masked = callTensor("aten.scaled_dot_product_attention.default", {q, k, v, mask});
  for (std::int64_t d = 0; d < 6; ++d) {
    EXPECT_EQ(masked.itemAsDouble(d), 0.0);
    EXPECT_NEAR(masked.itemAsDouble(6 + d), plain.tensor().itemAsDouble(6 + d), 1e-12);
    EXPECT_NEAR(masked.itemAsDouble(12 + d), v.itemAsDouble(6 + d), 1e-12);
  }
  const KeywordValues grouped{{"enable_gqa", true}};
  EXPECT_EQ(callTensor("aten.scaled_dot_product_attention.default", {wave({1, 4, 3, 4}), k, v}, grouped).size(1), 4);
  EXPECT_EQ(errorOf("aten.scaled_dot_product_attention.default", {wave({1, 3, 3, 4}), k, v}, grouped).code,
            ErrorCode::ShapeMismatch);
}

TEST(ExportOps, EinsumContractsByLabels) {
  const Tensor a = wave({2, 3}), b = wave({3, 4}, 1), c = wave({2, 2}), batch = wave({5, 2, 3}, 2);
  const auto einsum = [](const char* equation, const std::vector<Tensor>& operands) {
    ValueList list(operands.begin(), operands.end());
    const Value out = call("aten.einsum.default", {equation, Value(list)});
    expectShapeRule("aten.einsum.default", {equation, Value(list)}, out);
    return out.isTensor() ? out.tensor() : Tensor::scalar(0, DType::Float64);
  };
  expectNear(einsum("ij,jk->ik", {a, b}), {2, 4}, valuesOf(callTensor("aten.mm.default", {a, b})));
  expectNear(einsum("ij,jk", {a, b}), {2, 4}, valuesOf(callTensor("aten.mm.default", {a, b})));
  const Tensor turned =
      callTensor("aten.mm.default", {callTensor("aten.t.default", {b}), callTensor("aten.t.default", {a})});
  expectNear(einsum("ij, jk -> ki", {a, b}), {4, 2}, valuesOf(turned));
  expectNear(einsum("ij->", {a}), {}, {callTensor("aten.sum.default", {a}).itemAsDouble()});
  expectNear(einsum("ii->i", {c}), {2}, {c.itemAsDouble(0), c.itemAsDouble(3)});
  expectNear(einsum("ii", {c}), {}, {c.itemAsDouble(0) + c.itemAsDouble(3)});
  expectNear(einsum("...ij,jk->...ik", {batch, b}), {5, 2, 4}, valuesOf(callTensor("aten.matmul.default", {batch, b})));
  expectNear(einsum("i,j->ij", {wave({2}), wave({3}, 1)}), {2, 3},
             valuesOf(callTensor("aten.outer.default", {wave({2}), wave({3}, 1)})));
  expectNear(einsum("ij,ij->ij", {a, a}), {2, 3}, valuesOf(callTensor("aten.mul.Tensor", {a, a})));
  expectNear(einsum("bij,jk,bi->bk", {batch, b, wave({5, 2}, 3)}), {5, 4}, {});
  for (const char* bad : {"ij,jk->iz", "ij", "i,j,k->i", "ij,jk->ii", "i1,jk->i", "ij,jk->ik->k", "ijk,jk->i"})
    EXPECT_EQ(errorOf("aten.einsum.default", {bad, Value(ValueList{a, b})}).code, ErrorCode::ShapeMismatch) << bad;
  EXPECT_EQ(errorOf("aten.einsum.default", {"ij,jk->ik", Value(ValueList{a, a})}).code, ErrorCode::ShapeMismatch);
  expectNear(callTensor("aten.tensordot.default", {a, b, ints({1}), ints({0})}), {2, 4},
             valuesOf(callTensor("aten.mm.default", {a, b})));
}

TEST(ExportOps, ReturnsTheInputWhereNothingChanges) {
  const Tensor x = wave({2, 3}, 0, DType::Float32);
  for (const char* op : {"aten.contiguous.default", "aten.flatten.using_ints"}) {
    const Tensor line = wave({6}, 0, DType::Float32);
    EXPECT_EQ(callTensor(op, {line}).storage(), line.storage()) << op;
  }
  EXPECT_EQ(callTensor("aten.to.dtype", {x, DType::Float32}).storage(), x.storage());
  EXPECT_NE(callTensor("aten.to.dtype", {x, DType::Float32, false, true}).storage(), x.storage());
  EXPECT_EQ(callTensor("aten.to.dtype", {x, DType::Float64}).dtype(), DType::Float64);
  EXPECT_EQ(callTensor("aten.to.dtype_layout", {x}, {{"dtype", DType::Int32}}).dtype(), DType::Int32);
  EXPECT_EQ(callTensor("aten.dropout.default", {x, 0.5, false}).storage(), x.storage());
  const Tensor turned = callTensor("aten.t.default", {x});
  EXPECT_TRUE(callTensor("aten.contiguous.default", {turned}).isContiguous());
}

TEST(ExportOps, SplitsStacksAndMoves) {
  const Tensor x = counting({7});
  const Value parts = call("aten.tensor_split.sections", {x, std::int64_t{3}});
  ASSERT_EQ(parts.list().size(), 3u);
  EXPECT_EQ(parts.list()[0].tensor().numel(), 3);
  EXPECT_EQ(valuesOf(parts.list()[2].tensor()), (std::vector<double>{5, 6}));
  const Value cut = call("aten.tensor_split.indices", {x, ints({2, -1})});
  ASSERT_EQ(cut.list().size(), 3u);
  EXPECT_EQ(valuesOf(cut.list()[1].tensor()), (std::vector<double>{2, 3, 4, 5}));
  const Value grids =
      call("aten.meshgrid.indexing", {Value(ValueList{counting({2}), counting({3})})}, {{"indexing", "xy"}});
  EXPECT_EQ(grids.list()[0].tensor().sizes(), (Sizes{3, 2}));
  EXPECT_EQ(valuesOf(grids.list()[0].tensor()), (std::vector<double>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(valuesOf(callTensor("aten.diff.default", {tensorOf({4}, {1, 4, 9, 16}), std::int64_t{2}})),
            (std::vector<double>{2, 2}));
  EXPECT_EQ(callTensor("aten.movedim.int", {counting({2, 3, 4}), std::int64_t{0}, std::int64_t{-1}}).sizes(),
            (Sizes{3, 4, 2}));
  EXPECT_EQ(callTensor("aten.unflatten.int", {counting({6}), std::int64_t{0}, ints({2, -1})}).sizes(), (Sizes{2, 3}));
  EXPECT_EQ(errorOf("aten.unflatten.int", {counting({6}), std::int64_t{0}, ints({4, -1})}).code,
            ErrorCode::ShapeMismatch);
  EXPECT_EQ(callTensor("aten.hstack.default", {Value(ValueList{counting({2}), counting({3})})}).sizes(), (Sizes{5}));
  EXPECT_EQ(callTensor("aten.vstack.default", {Value(ValueList{counting({2}), counting({2})})}).sizes(), (Sizes{2, 2}));
  EXPECT_EQ(callTensor("aten.tile.default", {counting({2}), ints({2, 2})}).sizes(), (Sizes{2, 4}));
  EXPECT_EQ(valuesOf(callTensor("aten.one_hot.default", {tensorOf({2}, {2, 0}, DType::Int64), std::int64_t{3}})),
            (std::vector<double>{0, 0, 1, 1, 0, 0}));
}

TEST(ExportOps, PadsByEveryMode) {
  const Tensor x = tensorOf({1, 1, 3}, {1, 2, 3});
  EXPECT_EQ(valuesOf(callTensor("aten.pad.default", {x, ints({1, 2}), "constant", 9.0})),
            (std::vector<double>{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(valuesOf(callTensor("aten.pad.default", {x, ints({1, 2}), "reflect"})),
            (std::vector<double>{2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(valuesOf(callTensor("aten.pad.default", {x, ints({1, 2}), "replicate"})),
            (std::vector<double>{1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(valuesOf(callTensor("aten.pad.default", {x, ints({1, 2}), "circular"})),
            (std::vector<double>{3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(errorOf("aten.pad.default", {x, ints({1, 9}), "circular"}).code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.pad.default", {x, ints({1, 1}), "mirror"}).code, ErrorCode::ShapeMismatch);
}

TEST(ExportOps, LossesAgreeWithTheirFormulas) {
  const Tensor logits = wave({3, 4}), target = tensorOf({3}, {0, 3, 2}, DType::Int64);
  double expected = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    double total = 0;
    for (std::int64_t c = 0; c < 4; ++c) total += std::exp(logits.itemAsDouble(i * 4 + c));
    expected += (std::log(total) - logits.itemAsDouble(i * 4 + target.itemAsInt(i))) / 3;
  }
  EXPECT_NEAR(callTensor("aten.cross_entropy_loss.default", {logits, target}).itemAsDouble(), expected, 1e-12);
  Tensor hot = *Tensor::zeros(DType::Float64, {3, 4});
  for (std::int64_t i = 0; i < 3; ++i) hot.data<double>()[i * 4 + target.itemAsInt(i)] = 1;
  EXPECT_NEAR(callTensor("aten.cross_entropy_loss.default", {logits, hot}).itemAsDouble(), expected, 1e-12);
  const Tensor p = tensorOf({2}, {0.25, 0.75}, DType::Float64),
               logq = tensorOf({2}, {std::log(0.5), std::log(0.5)}, DType::Float64);
  EXPECT_NEAR(callTensor("aten.kl_div.default", {logq, p, std::int64_t{2}}).itemAsDouble(),
              0.25 * std::log(0.5) + 0.75 * std::log(1.5), 1e-12);
  EXPECT_NEAR(
      callTensor("aten.cosine_similarity.default", {tensorOf({1, 2}, {3, 4}), tensorOf({1, 2}, {4, 3})}).itemAsDouble(),
      0.96, 1e-6);
}

/// The norms are over what both are together: three equal numbers and one of them repeated point the same way.
TEST(ExportOps, CosineSimilarityExpandsBeforeItsNorms) {
  const Tensor many = tensorOf({3, 4}, std::vector<double>(12, 1)), one = tensorOf({1, 4}, {1, 1, 1, 1});
  for (const auto& [x, y] : {std::pair(many, one), std::pair(one, many)}) {
    const Tensor similar = callTensor("aten.cosine_similarity.default", {x, y, std::int64_t{0}});
    ASSERT_EQ(similar.numel(), 4);
    for (const double value : valuesOf(similar)) EXPECT_NEAR(value, 1, 1e-6);
  }
}

TEST(ExportOps, AdjointOfATensorWithoutDimensionsIsItsConjugate) {
  const Tensor number = callTensor("aten.complex.default", {tensorOf({}, {1}), tensorOf({}, {2})});
  const Tensor turned = callTensor("aten.adjoint.default", {number});
  EXPECT_EQ(turned.dim(), 0);
  EXPECT_EQ(callTensor("aten.imag.default", {turned}).itemAsDouble(), -2);
  EXPECT_EQ(callTensor("aten.adjoint.default", {tensorOf({}, {3})}).itemAsDouble(), 3);
}

TEST(ExportOps, NormalisesAsTheNativeOpsDo) {
  const Tensor x = wave({2, 4, 3}), weight = wave({4}, 1), bias = wave({4}, 2);
  const Value group = call("aten.group_norm.default", {x, std::int64_t{2}, weight, bias});
  const Value native = call("aten.native_group_norm.default", {x, weight, bias, std::int64_t{2}, std::int64_t{4},
                                                               std::int64_t{3}, std::int64_t{2}, 1e-5});
  EXPECT_EQ(valuesOf(group.tensor()), valuesOf(native.list()[0].tensor()));
  const Tensor rms =
      callTensor("aten.rms_norm.default", {tensorOf({2}, {3, 4}, DType::Float64), ints({2}), Value(), 0.0});
  expectNear(rms, {2}, {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)});
  const Tensor instance =
      callTensor("aten.instance_norm.default", {x, Value(), Value(), Value(), Value(), true, 0.1, 0.0, false});
  double mean = 0;
  for (std::int64_t i = 0; i < 3; ++i) mean += instance.itemAsDouble(i) / 3;
  EXPECT_NEAR(mean, 0, 1e-12);
}

TEST(ExportOps, MutatesInPlace) {
  const Tensor x = tensorOf({2}, {-1, 7});
  EXPECT_EQ(callTensor("aten.relu6_.default", {x}).storage(), x.storage());
  EXPECT_EQ(valuesOf(x), (std::vector<double>{0, 6}));
}

}  // namespace
}  // namespace kerf
