// Where PyTorch's CPU kernels round 16-bit floats and bytes, and complex values moved by index: values recorded from
// stock PyTorch 2.11, and sums of 256 and ones, which bfloat16 drops one by one.
#include <cmath>

#include "tests/unit/ops_testing.h"

namespace kerf::testing {
namespace {

using Values = std::vector<double>;

/// A vector or column whose elements lie two apart, the first one at offset 1.
Tensor apart(const Sizes& sizes, const Values& values, DType dtype) {
  Values spread(2 * values.size() + 1, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) spread[2 * i + 1] = values[i];
  const Tensor storage = tensorOf({std::int64_t(spread.size())}, spread, dtype);
  Sizes strides = contiguousStrides(sizes);
  for (std::int64_t& stride : strides) stride *= 2;
  return storage.viewAs(sizes, strides, 1);
}

Tensor complexOf(const Sizes& sizes, const Values& parts) {
  Sizes wide = sizes;
  wide.push_back(2);
  return callTensor("aten.view_as_complex.default", {tensorOf(wide, parts)});
}
Values partsOf(const Tensor& tensor) {
  const Tensor parts = callTensor("aten.view_as_real.default", {tensor});
  return valuesOf(*parts.contiguous());
}

using Make = Tensor (*)(const Sizes&, const Values&, DType);

struct NormCase {
  Make make;
  DType dtype;
  Values x;
  double weight, bias;
  Values out;
  double mean, inverse;
};

TEST(RecordedRounding, BatchNormInFusedAndStridedKernels) {
  const Make dense = [](const Sizes& sizes, const Values& values, DType dtype) {
    return tensorOf(sizes, values, dtype);
  };
  const NormCase cases[] = {
      {apart, DType::BFloat16, {5.34375, -0.84375}, -5.6875, 5.84375, {0.1875, 11.5}, 2.25, 0.322265625},
      {apart, DType::BFloat16, {-5.6875, 5.84375}, -6.3125, -5.28125, {1.03125, -11.625}, 0.078125, 0.173828125},
      {dense,
       DType::BFloat16,
       {5.34375, -0.84375, 1.6875},
       -5.6875,
       5.84375,
       {-1.484375, 12.3125, 6.6875},
       2.0625,
       0.392578125},
      {dense,
       DType::Float16,
       {1.79296875, 3.26953125, -3.1640625},
       -1.8369140625,
       -2.64453125,
       {-3.419921875, -4.40625, -0.109130859375},
       0.6328125,
       0.363525390625},
  };
  for (const NormCase& given : cases) {
    const auto one = [&](double value) { return given.make({1}, {value}, given.dtype); };
    const Value x = given.make({std::int64_t(given.x.size()), 1}, given.x, given.dtype);
    const Value result = call("aten.native_batch_norm.default",
                              {x, one(given.weight), one(given.bias), one(1), one(2), true, 0.5, 1e-5});
    ASSERT_TRUE(result.isList());
    EXPECT_EQ(valuesOf(result.list()[0].tensor()), given.out);
    EXPECT_EQ(valuesOf(result.list()[1].tensor()), Values{given.mean});
    EXPECT_EQ(valuesOf(result.list()[2].tensor()), Values{given.inverse});
  }
}

TEST(RecordedRounding, LayerNormGradientsOfTheParameters) {
  const auto half = [](const Sizes& sizes, const Values& values) { return tensorOf(sizes, values, DType::Float16); };
  const Value grads = call(
      "aten.native_layer_norm_backward.default",
      {half({2, 6}, {0.23095703125, 0.69287109375, -0.266845703125, 2.177734375, 0.10211181640625, -0.259033203125,
                     -0.1549072265625, -1.3701171875, -0.1319580078125, 0.884765625, -0.260986328125, 0.6103515625}),
       half({2, 6}, {1.353515625, -8.734375, 6.00390625, 1.388671875, 6.57421875, 7.83984375, 6.9765625, 3.287109375,
                     -5.1171875, -7.9453125, 7.734375, 4.18359375}),
       ints({6}), half({2, 1}, {2.404296875, 1.51953125}), half({2, 1}, {0.1810302734375, 0.1693115234375}),
       half({6}, {-1.8369140625, -2.64453125, 2.583984375, 0.4658203125, 1.79296875, 3.26953125}),
       half({6}, {0, 0, 0, 0, 0, 0}), ValueList{false, true, false}});
  ASSERT_TRUE(grads.isList());
  EXPECT_EQ(valuesOf(grads.list()[1].tensor()), (Values{-0.18701171875, -1.8076171875, -0.025543212890625, -1.818359375,
                                                        -0.197509765625, 0.020416259765625}));
}

TEST(RecordedRounding, LikelihoodSumsInTheTensorsType) {
  const Tensor x =
      tensorOf({2, 3, 2, 2},
               {-1.8369140625, -2.64453125, 2.583984375, 0.4658203125, 1.79296875,  3.26953125, -3.1640625, 8.9375,
                5.7578125,     -2.9453125,  -6.546875,   2.046875,     1.353515625, -8.734375,  6.00390625, 1.388671875,
                6.57421875,    7.83984375,  6.9765625,   3.287109375,  -5.1171875,  -7.9453125, 7.734375,   4.18359375},
               DType::Float16);
  const Tensor target = tensorOf({2, 2, 2}, {2, 0, 1, 0, 0, 0, 2, 2}, DType::Int64);
  const Tensor weight = tensorOf({3}, {6.609375, 6.70703125, 0.66796875}, DType::Float16);
  const Value result =
      call("aten.nll_loss2d_forward.default", {x, target, weight, std::int64_t{1}, std::int64_t{-100}});
  ASSERT_TRUE(result.isList());
  EXPECT_EQ(valuesOf(result.list()[0].tensor()), Values{2.06640625});
  EXPECT_EQ(valuesOf(result.list()[1].tensor()), Values{35.09375});
}

TEST(RecordedRounding, OneSampleHasAWeightWithoutReduction) {
  const Value result =
      call("aten.nll_loss_forward.default",
           {tensorOf({3}, {-5.6875, 5.84375, -6.3125}, DType::BFloat16), tensorOf({}, {2}, DType::Int64),
            tensorOf({3}, {5.34375, -0.84375, 1.6875}, DType::BFloat16), std::int64_t{0}, std::int64_t{-100}});
  ASSERT_TRUE(result.isList());
  EXPECT_EQ(valuesOf(result.list()[0].tensor()), Values{10.625});
  EXPECT_EQ(valuesOf(result.list()[1].tensor()), Values{1.6875});
}

TEST(RecordedRounding, SoftMarginSlopeOverflowsToNan) {
  const auto half = [](const Values& values) { return tensorOf({2}, values, DType::Float16); };
  const Tensor slopes = callTensor(
      "aten.soft_margin_loss_backward.default",
      {half({0.046142578125, 0.046142578125}), half({-1.8369140625, -4}), half({-2.64453125, 4}), std::int64_t{0}});
  EXPECT_EQ(slopes.itemAsDouble(0), 0.0009393692016601562);
  EXPECT_TRUE(std::isnan(slopes.itemAsDouble(1)));  // exp(16) is infinite in float16
}

TEST(RecordedRounding, ScaledSumsRoundTheProduct) {
  const auto narrow = [](const Values& values) { return tensorOf({5}, values, DType::BFloat16); };
  const Tensor result =
      callTensor("aten.rsub.Tensor",
                 {narrow({-0.84375, 1.6875, 8.5, 1.0546875, 3.4375}), narrow({3.3125, -5.5, 7.875, 8.625, -3.65625})},
                 {{"alpha", -3.125}});
  EXPECT_EQ(valuesOf(result), (Values{0.671875, -0.21875, 34.5, 11.9375, 7.09375}));
}

TEST(RecordedRounding, IndexAddOfAMatrixRoundsOnceOfAVectorEveryTime) {
  const Tensor index = tensorOf({5}, {2, 1, 4, 2, 2}, DType::Int64);
  const Tensor source =
      tensorOf({1, 5}, {-1.205078125, 1.505859375, 0.4443359375, -2.98046875, 1.2275390625}, DType::Float16);
  const Tensor matrix = callTensor("aten.index_add.default",
                                   {tensorOf({1, 5}, Values(5, 0.0), DType::Float16), std::int64_t{1}, index, source});
  EXPECT_EQ(valuesOf(matrix), (Values{0, 1.505859375, -2.95703125, 0, 0.4443359375}));
  const Tensor vector = callTensor("aten.index_add.default",
                                   {tensorOf({1}, {256}, DType::BFloat16), std::int64_t{0},
                                    tensorOf({2}, {0, 0}, DType::Int64), tensorOf({2}, {1, 1}, DType::BFloat16)});
  EXPECT_EQ(valuesOf(vector), Values{256});
}

TEST(RecordedRounding, BilinearFormsSumTheUnrolledDimensionInTheirType) {
  const Tensor weight = tensorOf(
      {5, 3, 4},
      {1.890625,  0.234375,  0.765625, -1.640625, 1.640625,  0.40625,   -1.53125,  0.671875,  0.46875,   1.6875,
       -0.0625,   -1.59375,  -0.15625, 0.90625,   -0.125,    -0.25,     1.4375,    -0.921875, -0.75,     1.140625,
       -0.015625, 1.84375,   1.96875,  0.734375,  -1.21875,  1.75,      1.921875,  -0.8125,   -1.421875, -1.46875,
       0.59375,   1.90625,   1.046875, 1.609375,  0.171875,  0.0,       1.640625,  -0.828125, -0.75,     -1.953125,
       -1.96875,  -1.703125, 0.1875,   1.015625,  1.171875,  -0.203125, -0.328125, 1.90625,   1.265625,  -1.78125,
       1.796875,  1.109375,  -1.0625,  1.65625,   -0.328125, 0.71875,   0.4375,    -0.734375, -0.640625, -1.796875},
      DType::BFloat16);
  const Tensor result =
      callTensor("aten._trilinear.default",
                 {tensorOf({1, 3}, {-1.265625, 1.296875, -1.40625}, DType::BFloat16), weight,
                  tensorOf({1, 5}, {0.046142578125, 0.40234375, -1.0078125, 0.216796875, -0.61328125}, DType::BFloat16),
                  ints({1, 3}), ints({0}), ints({2, 3}), ints({1, 2})});
  EXPECT_EQ(valuesOf(result), (Values{3.421875, 0.859375, 1.8125, -4.0}));
}

TEST(RecordedRounding, LinearUpsamplingGradientsRoundOnce) {
  const Tensor grad =
      tensorOf({1, 1, 5}, {-0.498046875, 0.93359375, -1.3671875, -0.6015625, -1.28125}, DType::BFloat16);
  const Tensor result =
      callTensor("aten.upsample_linear1d_backward.default", {grad, ints({5}), ints({1, 1, 4}), false});
  EXPECT_EQ(valuesOf(result), (Values{-0.2177734375, -0.030029296875, -1.1015625, -1.4609375}));
}

TEST(RecordedRounding, BytesAreResampledOneDimensionAfterTheOther) {
  const Tensor image = tensorOf({1, 1, 4, 4}, {5, 1, 6, 5, 6, 4, 2, 5, 5, 9, 3, 1, 4, 2, 3, 2}, DType::UInt8);
  const Tensor result = callTensor("aten.upsample_bilinear2d.default", {image, ints({3, 3}), true});
  EXPECT_EQ(valuesOf(result), (Values{5, 4, 5, 6, 5, 3, 4, 3, 2}));
}

TEST(RecordedRounding, ScatteringBackwardsKeepSumsInTheTensorsType) {
  const auto narrow = [](const Sizes& sizes, const Values& values) { return tensorOf(sizes, values, DType::BFloat16); };
  const Tensor padded = callTensor("aten.replication_pad1d_backward.default",
                                   {narrow({1, 1, 3}, {256, 1, 1}), narrow({1, 1, 1}, {0}), ints({0, 2})});
  EXPECT_EQ(valuesOf(padded), Values{256});
  const Tensor rows = callTensor(
      "aten.embedding_dense_backward.default",
      {narrow({3, 1}, {256, 1, 1}), tensorOf({3}, {0, 0, 0}, DType::Int64), std::int64_t{1}, std::int64_t{-1}, false});
  EXPECT_EQ(valuesOf(rows), Values{256});
  const Tensor windows = callTensor(
      "aten.unfold_backward.default",
      {narrow({3, 3}, {0, 0, 256, 0, 1, 0, 1, 0, 0}), ints({5}), std::int64_t{0}, std::int64_t{3}, std::int64_t{1}});
  EXPECT_EQ(valuesOf(windows), (Values{0, 0, 256, 0, 0}));
  const Tensor pooled = callTensor("aten.avg_pool2d_backward.default",
                                   {narrow({1, 1, 3}, {256, 1, 1}), narrow({1, 1, 5}, {0, 0, 0, 0, 0}), ints({1, 3}),
                                    ints({1, 1}), ints({0, 0}), false, true, std::int64_t{1}});
  EXPECT_EQ(valuesOf(pooled), (Values{256, 256, 256, 2, 1}));
  const Value sampled =
      call("aten.grid_sampler_2d_backward.default",
           {narrow({1, 1, 1, 3}, {256, 1, 1}), narrow({1, 1, 1, 1}, {1}), narrow({1, 1, 3, 2}, Values(6, 0.0)),
            std::int64_t{0}, std::int64_t{0}, true, ValueList{true, true}});
  ASSERT_TRUE(sampled.isList());
  EXPECT_EQ(valuesOf(sampled.list()[0].tensor()), Values{256});
}

TEST(RecordedRounding, OnlyVectorsOfRemaindersOverflow) {
  const Values x(32, -8.4375), y(32, 1.1754943508222875e-38);
  for (const char* op : {"aten.fmod.Tensor", "aten.remainder.Tensor"}) {
    const Tensor dense = callTensor(op, {tensorOf({32}, x, DType::BFloat16), tensorOf({32}, y, DType::BFloat16)});
    EXPECT_TRUE(std::isnan(dense.itemAsDouble(31))) << op;
    const Tensor strided = callTensor(op, {apart({32}, x, DType::BFloat16), apart({32}, y, DType::BFloat16)});
    EXPECT_EQ(strided.itemAsDouble(31), 0) << op;
  }
}

TEST(GroupNorm, OfNothingTakesAnyNumberOfChannels) {
  const std::int64_t many = std::int64_t{1} << 61;
  const Value result = call("aten.native_group_norm.default", {tensorOf({0, 3}, {}), Value(), Value(), std::int64_t{0},
                                                               many, std::int64_t{3}, std::int64_t{1}, 1e-5});
  ASSERT_TRUE(result.isList());
  EXPECT_EQ(result.list()[0].tensor().numel(), 0);
}

TEST(ComplexMoves, KeepBothParts) {
  const Tensor self = complexOf({2}, {1, 2, 3, 4}), source = complexOf({2}, {5, 6, 7, 8});
  const Tensor index = tensorOf({2}, {1, 0}, DType::Int64), mask = tensorOf({2}, {0, 1}, DType::Bool);
  EXPECT_EQ(partsOf(callTensor("aten.index_copy.default", {self, std::int64_t{0}, index, source})),
            (Values{7, 8, 5, 6}));
  EXPECT_EQ(partsOf(callTensor("aten.masked_scatter.default", {self, mask, source})), (Values{1, 2, 5, 6}));
  EXPECT_EQ(partsOf(callTensor("aten.index_add.default", {complexOf({}, {1, 2}), std::int64_t{0},
                                                          tensorOf({1}, {0}, DType::Int64), complexOf({}, {3, 5})})),
            (Values{4, 7}));
  EXPECT_EQ(partsOf(callTensor("aten._unsafe_index_put.default", {self, ValueList{index}, source, true})),
            (Values{8, 10, 8, 10}));
  EXPECT_EQ(partsOf(callTensor("aten.replication_pad1d_backward.default",
                               {complexOf({1, 1, 2}, {1, 2, 3, 4}), complexOf({1, 1, 1}, {0, 0}), ints({0, 1})})),
            (Values{4, 6}));
  EXPECT_EQ(
      partsOf(callTensor("aten.addr.default", {complexOf({}, {1, 1}), complexOf({1}, {1, 2}), complexOf({1}, {3, 4})})),
      (Values{-4, 11}));
  EXPECT_EQ(partsOf(callTensor("aten.renorm.default",
                               {complexOf({2, 1}, {3, 4, 0.5, 0}), std::int64_t{2}, std::int64_t{0}, 5.5})),
            (Values{3, 4, 0.5, 0}));
}

TEST(ComplexMoves, RefuseWhatWouldLoseTheImaginaryPart) {
  const Error error = errorOf("aten.put.default",
                              {complexOf({2}, {1, 2, 3, 4}), tensorOf({1}, {0}, DType::Int64), complexOf({1}, {5, 6})});
  EXPECT_EQ(error.code, ErrorCode::UnsupportedOp);
}

}  // namespace
}  // namespace kerf::testing
