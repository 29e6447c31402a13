// Layouts, counts and roundings that PyTorch's CPU kernels settled on, with numbers recorded from them.
#include <cmath>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

/// Elements 1, 3, 5, … of a storage: a view with gaps and an offset.
Tensor everySecond(const std::vector<double>& values) {
  const Tensor base = *Tensor::zeros(DType::Float32, {std::int64_t(values.size()) * 2});
  for (std::size_t i = 0; i < values.size(); ++i) base.data<float>()[2 * i + 1] = float(values[i]);
  return base.viewAs({std::int64_t(values.size())}, {2}, 1);
}

TEST(ScatterIntoCopy, KeepsTheGapsOfSelf) {
  const Tensor self = everySecond({1, 2, 3});
  const Tensor out =
      callTensor("aten.select_scatter.default", {self, tensorOf({}, {9}), std::int64_t{0}, std::int64_t{1}});
  EXPECT_EQ(out.strides(), Sizes{2});
  EXPECT_EQ(valuesOf(out), (std::vector<double>{1, 9, 3}));
  EXPECT_EQ(valuesOf(self), (std::vector<double>{1, 2, 3}));
}

TEST(ScatterIntoCopy, CopiesRepeatedElementsDensely) {
  const Tensor self = tensorOf({1}, {5}).viewAs({3}, {0}, 0);
  const Tensor out = callTensor("aten.slice_scatter.default",
                                {self, tensorOf({1}, {9}), std::int64_t{0}, std::int64_t{0}, std::int64_t{1}});
  EXPECT_EQ(out.strides(), Sizes{1});
  EXPECT_EQ(valuesOf(out), (std::vector<double>{9, 5, 5}));
}

TEST(StridedScatter, CountsFromTheStartOfTheStorage) {
  const Tensor self = everySecond({-8.5, 4});  // storage 0, -8.5, 0, 4
  const Value one = ints({1});
  const auto scatter = [&](std::int64_t offset) {
    return callTensor("aten.as_strided_scatter.default", {self, tensorOf({1}, {-1.75}), one, one, offset});
  };
  EXPECT_EQ(valuesOf(scatter(0)), (std::vector<double>{-8.5, 4}));  // beside self
  EXPECT_EQ(valuesOf(scatter(3)), (std::vector<double>{-8.5, -1.75}));
  EXPECT_EQ(scatter(3).offset(), 1);
}

TEST(Arange, TruncatesFloatsBeforeCountingInInt64) {
  const KeywordValues int64{{"dtype", DType::Int64}}, int32{{"dtype", DType::Int32}};
  EXPECT_EQ(valuesOf(callTensor("aten.arange.default", {3.1}, int64)), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(valuesOf(callTensor("aten.arange.start_step", {0.0, -8.000001, -4.0}, int64)),
            (std::vector<double>{0, -4}));
  EXPECT_EQ(callTensor("aten.arange.default", {3.1}, int32).size(0), 4);
  EXPECT_EQ(callTensor("aten.arange.default", {3.1}).size(0), 4);
  errorOf("aten.arange.start_step", {0.0, 2.0, 0.5}, int64);  // no step is left
}

TEST(Linspace, RoundsEveryStepToTheDtype) {
  const auto points = [](DType dtype) {
    return valuesOf(callTensor("aten.linspace.Scalar_Tensor", {4.3, tensorOf({}, {-3}, DType::Int64), std::int64_t{50}},
                               {{"dtype", dtype}}));
  };
  EXPECT_EQ(points(DType::Int64)[1], 3);  // from 4, not from 4.3
  EXPECT_EQ(points(DType::BFloat16)[25], 0.59375);
  EXPECT_EQ(points(DType::Float16)[21], 1.169921875);
}

TEST(EmptyPermuted, LaysDimensionsOutAsNamed) {
  const Tensor out = callTensor("aten.empty_permuted.default", {ints({2, 3, 4}), ints({0, 2, 1})});
  EXPECT_EQ(out.strides(), (Sizes{12, 1, 3}));
  errorOf("aten.empty_permuted.default", {ints({2, 3}), ints({0, 0})});
  errorOf("aten.empty_permuted.default", {ints({2, 3}), ints({0})});
}

TEST(Sort, KeepsDenseStrides) {
  const Tensor self = counting({1, 5, 3}).viewAs({1, 5, 3}, {1, 1, 5}, 0);
  const Value sorted = call("aten.sort.default", {self, std::int64_t{-1}, true});
  EXPECT_EQ(sorted.list()[0].tensor().strides(), (Sizes{1, 1, 5}));
  EXPECT_EQ(sorted.list()[1].tensor().strides(), (Sizes{1, 1, 5}));
  EXPECT_EQ(sorted.list()[0].tensor().itemAsDouble(0), 10);
}

TEST(UniqueConsecutive, FillsInverseAndCountsWhereTheLastDimensionIsNamed) {
  const auto parts = [](std::int64_t dim) {
    return call("aten.unique_consecutive.default", {tensorOf({3}, {7, 7, 7}), false, false, dim}).list();
  };
  EXPECT_EQ(valuesOf(parts(-1)[1].tensor()), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(valuesOf(parts(-1)[2].tensor()), (std::vector<double>{3}));
  EXPECT_EQ(parts(0)[1].tensor().numel(), 0);
}

TEST(HermitianPinv, ReadsTheLowerTriangleOnly) {
  const Tensor a = tensorOf({2, 2}, {2, 100, 0, 4});
  const Tensor inverse = callTensor("aten.linalg_pinv.atol_rtol_tensor", {a}, {{"hermitian", true}});
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(valuesOf(inverse)[i], (std::vector<double>{0.5, 0, 0, 0.25})[i], 1e-6);
}

TEST(LinalgCheckErrors, FailsWhereLapackSaysSo) {
  const std::string op = "aten._linalg_check_errors.default";
  EXPECT_TRUE(
      call(op, {tensorOf({2}, {0, 0}, DType::Int32), std::string("linalg.inv")}, {{"is_matrix", false}}).isNone());
  const Error error =
      errorOf(op, {tensorOf({2}, {0, 3}, DType::Int32), std::string("linalg.inv")}, {{"is_matrix", false}});
  EXPECT_NE(error.message.find("(Batch element 1): The diagonal element 3 is zero"), std::string::npos)
      << error.message;
}

TEST(Polynomials, RoundInTheTensorsType) {
  const auto at = [](std::string_view op, double x, double n) {
    return callTensor(op, {tensorOf({1}, {x}), tensorOf({1}, {n})}).itemAsDouble();
  };
  EXPECT_EQ(at("aten.special_hermite_polynomial_he.default", 3.7644824981689453, 7.958866119384766),
            43.709285736083984);
  EXPECT_TRUE(std::isnan(at("aten.special_hermite_polynomial_h.default", 0.5, 129)));  // float's own limit
}

/// One head, two keys; 16-bit weights are rounded before the division by their sum.
TEST(CpuFlashAttention, LiesAsTheQueryAndTakesGradientsFromTheSavedOutput) {
  const Tensor q = tensorOf({1, 2, 1, 2}, {1, 0, 0, 1}), k = tensorOf({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const ValueList forward = call("aten._scaled_dot_product_flash_attention_for_cpu.default", {q, k, k}).list();
  EXPECT_EQ(forward[0].tensor().strides(), q.strides());
  const auto gradient = [&](const Tensor& out) {
    return call("aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
                {q, q, k, k, out, forward[1], 0.0, false})
        .list()[0]
        .tensor();
  };
  const Tensor zero = tensorOf({1, 2, 1, 2}, {0, 0, 0, 0});
  EXPECT_NE(valuesOf(gradient(forward[0].tensor())), valuesOf(gradient(zero)));
}

}  // namespace
}  // namespace kerf
