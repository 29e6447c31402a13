// Ops that few graphs use: values computed by hand, edge cases, and errors that name op and argument.
#include <bit>
#include <cmath>

#include "engine/ops/core/op_row.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;
using Numbers = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(RareOps, AdaptivePoolingSplitsUnevenly) {
  const Tensor x = tensorOf({1, 1, 5}, {1, 2, 3, 4, 5});
  // windows of 3 outputs over 5 inputs: [0,2) [1,4) [3,5)
  EXPECT_EQ(valuesOf(callTensor("aten._adaptive_avg_pool2d.default", {x, ints({1, 3})})), (Numbers{1.5, 3, 4.5}));
  const ValueList most = call("aten.adaptive_max_pool2d.default", {x, ints({1, 3})}).list();
  EXPECT_EQ(valuesOf(most[0].tensor()), (Numbers{2, 4, 5}));
  EXPECT_EQ(valuesOf(most[1].tensor()), (Numbers{1, 3, 4}));
  EXPECT_EQ(valuesOf(callTensor("aten.adaptive_max_pool2d_backward.default",
                                {tensorOf({1, 1, 3}, {1, 10, 100}), x, most[1]})),
            (Numbers{0, 1, 0, 10, 100}));
  EXPECT_EQ(valuesOf(callTensor("aten.adaptive_avg_pool1d.default", {x.viewAs({1, 5}, {5, 1}, 0), ints({2})})),
            (Numbers{2, 4}));
  const ValueList withNan =
      call("aten.adaptive_max_pool2d.default", {tensorOf({1, 1, 3}, {7, nan, 9}), ints({1, 1})}).list();
  EXPECT_TRUE(std::isnan(valuesOf(withNan[0].tensor())[0]));
  EXPECT_EQ(valuesOf(withNan[1].tensor())[0], 1);
}

TEST(RareOps, PoolingKeepsChannelsLast) {
  const Tensor last = counting({1, 2, 4, 4}).viewAs({1, 2, 4, 4}, {32, 1, 8, 2}, 0);
  EXPECT_EQ(callTensor("aten._adaptive_avg_pool2d.default", {last, ints({2, 2})}).strides(), (Sizes{8, 1, 4, 2}));
}

TEST(RareOps, FractionalPoolingAndUnpooling) {
  // one window of 2 at the start (sample 0) and one at the end
  const Tensor x = tensorOf({1, 1, 4}, {3, 1, 4, 2}), samples = tensorOf({1, 1, 2}, {0, 0});
  const ValueList outs = call("aten.fractional_max_pool2d.default", {x, ints({1, 2}), ints({1, 2}), samples}).list();
  EXPECT_EQ(valuesOf(outs[0].tensor()), (Numbers{3, 4}));
  EXPECT_EQ(valuesOf(outs[1].tensor()), (Numbers{0, 2}));
  EXPECT_EQ(valuesOf(callTensor("aten.max_unpool2d.default", {outs[0], outs[1], ints({1, 4})})), (Numbers{3, 0, 4, 0}));
  EXPECT_EQ(errorOf("aten.max_unpool2d.default", {outs[0], outs[1], ints({1, 2})}).code, ErrorCode::RuntimeFailed);
}

TEST(RareOps, ProductWithActivation) {
  const Tensor bias = tensorOf({2}, {1, -4}), a = tensorOf({1, 2}, {1, 2}), b = tensorOf({2, 2}, {1, 0, 0, 1});
  EXPECT_EQ(valuesOf(callTensor("aten._addmm_activation.default", {bias, a, b})), (Numbers{2, 0}));
  const Numbers gelu =
      valuesOf(callTensor("aten._addmm_activation.default", {bias, a, b}, {{"use_gelu", true}, {"beta", 0.0}}));
  EXPECT_NEAR(gelu[0], 0.8413447, 1e-6);
  EXPECT_NEAR(gelu[1], 1.9544997, 1e-6);
}

TEST(RareOps, ColumnsOfAnImage) {
  const Tensor x = counting({1, 1, 3, 3});
  const Tensor columns = callTensor("aten.im2col.default", {x, ints({2, 2}), ints({1, 1}), ints({0, 0}), ints({1, 1})});
  EXPECT_EQ(columns.sizes(), (Sizes{1, 4, 4}));
  EXPECT_EQ(valuesOf(columns), (Numbers{0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 7, 8}));
  const Tensor back = callTensor("aten.col2im.default",
                                 {columns, ints({3, 3}), ints({2, 2}), ints({1, 1}), ints({0, 0}), ints({1, 1})});
  EXPECT_EQ(valuesOf(back), (Numbers{0, 2, 2, 6, 16, 10, 6, 14, 8}));
}

TEST(RareOps, GridSampleOutsideOfTheImage) {
  const Tensor image = tensorOf({1, 1, 1, 2}, {10, 20});
  const Tensor grid = tensorOf({1, 1, 4, 2}, {-1, 0, 0, 0, 1, 0, 3, 0});
  const auto sample = [&](std::int64_t padding) {
    return valuesOf(callTensor("aten.grid_sampler_2d.default", {image, grid, std::int64_t{0}, padding, true}));
  };
  EXPECT_EQ(sample(0), (Numbers{10, 15, 20, 0}));
  EXPECT_EQ(sample(1), (Numbers{10, 15, 20, 20}));
  EXPECT_EQ(sample(2), (Numbers{10, 15, 20, 10}));
}

TEST(RareOps, EmbeddingBagsByModeWithAndWithoutTheLastOffset) {
  const Tensor weight = tensorOf({3, 2}, {1, 2, 10, 20, 100, 50});
  const Tensor indices = tensorOf({4}, {0, 2, 1, 2}, DType::Int64), offsets = tensorOf({3}, {0, 2, 4}, DType::Int64);
  const auto bags = [&](std::int64_t mode, bool last) {
    return call("aten._embedding_bag.default", {weight, indices, offsets, false, mode, false, Value(), last}).list();
  };
  EXPECT_EQ(valuesOf(bags(0, true)[0].tensor()), (Numbers{101, 52, 110, 70}));
  EXPECT_EQ(valuesOf(bags(1, false)[0].tensor()), (Numbers{50.5, 26, 55, 35, 0, 0}));
  EXPECT_EQ(valuesOf(bags(1, false)[2].tensor()), (Numbers{2, 2, 0}));
  const ValueList most = bags(2, true);
  EXPECT_EQ(valuesOf(most[0].tensor()), (Numbers{100, 50, 100, 50}));
  EXPECT_EQ(valuesOf(most[3].tensor()), (Numbers{2, 2, 2, 2}));
  EXPECT_EQ(bags(0, true)[1].tensor().numel(), 0);
  EXPECT_EQ(valuesOf(bags(1, true)[1].tensor()), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(errorOf("aten._embedding_bag.default",
                    {weight, tensorOf({1}, {7}, DType::Int64), tensorOf({1}, {0}, DType::Int64)})
                .code,
            ErrorCode::RuntimeFailed);
}

TEST(RareOps, EmbeddingRenormShrinksLongRows) {
  const Tensor weight = tensorOf({2, 2}, {3, 4, 0.3, 0.4}, DType::Float64);
  call("aten.embedding_renorm_.default", {weight, tensorOf({2}, {0, 1}, DType::Int64), 1.0, 2.0});
  EXPECT_NEAR(weight.itemAsDouble(0), 0.6, 1e-6);
  EXPECT_EQ(weight.itemAsDouble(2), 0.3);
}

TEST(RareOps, Histograms) {
  const Tensor x = tensorOf({6}, {0, 1, 1, 2, 4, 9});
  const ValueList byEdges = call("aten.histogram.bins_tensor", {x, tensorOf({4}, {0, 1, 2, 4})}).list();
  EXPECT_EQ(valuesOf(byEdges[0].tensor()), (Numbers{1, 2, 2}));
  const ValueList even = call("aten.histogram.bin_ct", {x, std::int64_t{3}}).list();
  EXPECT_EQ(valuesOf(even[0].tensor()), (Numbers{4, 1, 1}));
  EXPECT_EQ(valuesOf(even[1].tensor()), (Numbers{0, 3, 6, 9}));
  const ValueList dense = call("aten.histogram.bin_ct", {x, std::int64_t{3}}, {{"density", true}}).list();
  EXPECT_NEAR(valuesOf(dense[0].tensor())[0], 4.0 / 6 / 3, 1e-7);
  const Tensor points = tensorOf({3, 2}, {0, 0, 1, 1, 1, 0});
  EXPECT_EQ(valuesOf(callTensor("aten._histogramdd_from_bin_cts.default", {points, ints({2, 2})})),
            (Numbers{1, 0, 1, 1}));
  EXPECT_EQ(errorOf("aten.histogram.bin_ct", {counting({2}, DType::Int64)}).code, ErrorCode::ShapeMismatch);
}

TEST(RareOps, Distances) {
  const Tensor a = tensorOf({2, 2}, {0, 0, 3, 4}), b = tensorOf({1, 2}, {0, 0});
  const auto distances = [&](double p) {
    return valuesOf(callTensor("aten._cdist_forward.default", {a, b, p, Value()}));
  };
  EXPECT_EQ(distances(0), (Numbers{0, 2}));
  EXPECT_EQ(distances(1), (Numbers{0, 7}));
  EXPECT_EQ(distances(2), (Numbers{0, 5}));
  EXPECT_EQ(distances(std::numeric_limits<double>::infinity()), (Numbers{0, 4}));
  EXPECT_EQ(valuesOf(callTensor("aten._euclidean_dist.default", {a, b})), (Numbers{0, 5}));
  EXPECT_EQ(valuesOf(callTensor("aten._pdist_forward.default", {a, 2.0})), (Numbers{5}));
  EXPECT_EQ(callTensor("aten._cdist_forward.default", {counting({0, 2}), b, 2.0, Value()}).sizes(), (Sizes{0, 1}));
}

TEST(RareOps, SegmentsByLengthsAndOffsets) {
  const Tensor x = tensorOf({5}, {1, 2, 3, nan, 5});
  const KeywordValues lengths{{"lengths", tensorOf({3}, {2, 0, 3}, DType::Int64)}};
  const auto most = valuesOf(callTensor("aten.segment_reduce.default", {x, std::string("max")}, lengths));
  EXPECT_EQ(most[0], 2);
  EXPECT_EQ(most[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(most[2]));
  const KeywordValues offsets{{"offsets", tensorOf({3}, {0, 1, 3}, DType::Int64)}, {"initial", 10.0}};
  EXPECT_EQ(
      valuesOf(callTensor("aten.segment_reduce.default", {tensorOf({3}, {1, 2, 4}), std::string("sum")}, offsets)),
      (Numbers{11, 16}));
  EXPECT_NE(errorOf("aten.segment_reduce.default", {x, std::string("median")}, lengths).message.find("'median'"),
            std::string::npos);
}

TEST(RareOps, TurnsHashesAndChunks) {
  const Tensor x = counting({2, 2});
  EXPECT_EQ(valuesOf(callTensor("aten.rot90.default", {x})), (Numbers{1, 3, 0, 2}));
  EXPECT_EQ(valuesOf(callTensor("aten.rot90.default", {x, std::int64_t{-6}})), (Numbers{3, 2, 1, 0}));
  const Tensor bits = callTensor("aten.hash_tensor.default", {tensorOf({2}, {1.5, 1.5})});
  EXPECT_EQ(bits.dtype(), DType::UInt64);
  EXPECT_EQ(bits.data<std::uint64_t>()[0], 0u);
  EXPECT_EQ(callTensor("aten.hash_tensor.default", {tensorOf({}, {1.5})}).data<std::uint64_t>()[0],
            std::bit_cast<std::uint64_t>(1.5));
  const Tensor chunks = callTensor("aten._chunk_cat.default",
                                   {ValueList{counting({3}), counting({2})}, std::int64_t{0}, std::int64_t{2}});
  EXPECT_EQ(chunks.sizes(), (Sizes{2, 3}));
  EXPECT_EQ(valuesOf(chunks), (Numbers{0, 1, 0, 2, 0, 1}));
}

TEST(RareOps, RenormTrilinearAndMaskedIndex) {
  const Tensor rows = tensorOf({2, 2}, {3, 4, 0.3, 0.4}, DType::Float64);
  const auto shrunk = valuesOf(callTensor("aten.renorm.default", {rows, 2.0, std::int64_t{0}, 1.0}));
  EXPECT_NEAR(shrunk[1], 0.8, 1e-6);
  EXPECT_EQ(shrunk[2], 0.3);
  // out[b, o] = sum over i, j of x[b, i] w[o, i, j] y[b, j]
  const Tensor x = tensorOf({1, 2}, {1, 2}), y = tensorOf({1, 2}, {3, 5}), w = tensorOf({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(
      valuesOf(callTensor("aten._trilinear.default", {x, w, y, ints({1, 3}), ints({0}), ints({1, 2}), ints({2, 3})})),
      (Numbers{1 * 3 + 2 * 5 + 2 * (3 * 3 + 4 * 5)}));
  const Tensor index = tensorOf({3}, {0, 9, 1}, DType::Int64), mask = tensorOf({3}, {1, 0, 1}, DType::Bool);
  EXPECT_EQ(
      valuesOf(callTensor("aten._unsafe_masked_index.default", {tensorOf({2}, {5, 6}), mask, ValueList{index}, -1.0})),
      (Numbers{5, -1, 6}));
  EXPECT_EQ(valuesOf(callTensor("aten._unsafe_masked_index_put_accumulate.default",
                                {tensorOf({2}, {5, 6}), mask, ValueList{index}, tensorOf({3}, {1, 10, 100})})),
            (Numbers{6, 106}));
}

TEST(RareOps, ResizeKeepsBytesAndViewsKeepStorage) {
  const Tensor x = counting({2, 3});
  const Tensor smaller = callTensor("aten.resize_.default", {x, ints({2, 2})});
  EXPECT_EQ(valuesOf(smaller), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(smaller.storage(), x.storage());
  const Tensor larger = callTensor("aten.resize_.default", {x, ints({8})});
  EXPECT_EQ(valuesOf(larger), (Numbers{0, 1, 2, 3, 4, 5, 0, 0}));
  EXPECT_EQ(callTensor("aten.squeeze_.dim", {counting({1, 3}), std::int64_t{0}}).sizes(), (Sizes{3}));
  EXPECT_EQ(callTensor("aten.unsqueeze_.default", {x, std::int64_t{-1}}).sizes(), (Sizes{2, 3, 1}));
  EXPECT_NE(errorOf("aten.squeeze_.dim", {x, std::int64_t{5}}).message.find("aten.squeeze_.dim"), std::string::npos);
}

TEST(RareOps, BitsOfSixteenBitFloatsRoundStepByStep) {
  const auto bf16 = [](double value) { return tensorOf({1}, {value}, DType::BFloat16); };
  EXPECT_EQ(valuesOf(callTensor("aten.nextafter.default", {bf16(1), bf16(2)})), (Numbers{1.0078125}));
  EXPECT_EQ(valuesOf(callTensor("aten.nextafter.default", {bf16(1), bf16(0)})), (Numbers{0.99609375}));
  // the quotient -121.8 rounds to -122 before it is truncated
  EXPECT_EQ(valuesOf(callTensor("aten.div.Tensor_mode", {bf16(8.5625), bf16(-0.0703125)},
                                {{"rounding_mode", std::string("trunc")}})),
            (Numbers{-122}));
  EXPECT_EQ(valuesOf(callTensor("aten.sub.Scalar", {bf16(0.396484375), 0.9329070713842775})), (Numbers{-0.5390625}));
  const Tensor bools = tensorOf({2}, {1, 0}, DType::Bool);
  EXPECT_EQ(valuesOf(callTensor("aten.addr.default", {tensorOf({}, {0}, DType::Bool), bools, bools})),
            (Numbers{1, 0, 0, 0}));
}

TEST(RareOps, ForeachRunsOnEveryTensor) {
  const Tensor a = counting({2}), b = counting({3});
  const ValueList sums = call("aten._foreach_add.Scalar", {ValueList{a, b}, 1.0}).list();
  EXPECT_EQ(valuesOf(sums[0].tensor()), (Numbers{1, 2}));
  EXPECT_EQ(valuesOf(sums[1].tensor()), (Numbers{1, 2, 3}));
  call("aten._foreach_mul_.ScalarList", {ValueList{a, b}, ValueList{2.0, 10.0}});
  EXPECT_EQ(valuesOf(a), (Numbers{0, 2}));
  EXPECT_EQ(valuesOf(b), (Numbers{0, 10, 20}));
  EXPECT_NE(errorOf("aten._foreach_add.List", {ValueList{a, b}, ValueList{a}}).message.find("'other' has 1 entries"),
            std::string::npos);
}

TEST(RareOps, InplaceComparisonsAndAliases) {
  const Tensor x = tensorOf({3}, {1, 2, 3});
  call("aten.ge_.Scalar", {x, 2.0});
  EXPECT_EQ(valuesOf(x), (Numbers{0, 1, 1}));
  const Tensor bits = tensorOf({2}, {6, 5}, DType::Int64);
  call("aten.__ior__.Tensor", {bits, tensorOf({2}, {1, 8}, DType::Int64)});
  EXPECT_EQ(valuesOf(bits), (Numbers{7, 13}));
  EXPECT_EQ(valuesOf(callTensor("aten.bitwise_left_shift.Tensor_Scalar", {bits, std::int64_t{1}})), (Numbers{14, 26}));
  EXPECT_EQ(callTensor("aten.trace.default", {counting({3, 3}, DType::Int64)}).itemAsInt(), 12);
  EXPECT_EQ(callTensor("aten.upsample_nearest1d.vec", {counting({1, 1, 2}), Value(), ValueList{2.0}}).sizes(),
            (Sizes{1, 1, 4}));
}

TEST(RareOps, UniqueSlicesAlongADimension) {
  const Tensor x = tensorOf({3, 2}, {2, 1, 0, 5, 2, 1}, DType::Int64);
  const ValueList sorted = call("aten.unique_dim.default", {x, std::int64_t{0}}).list();
  EXPECT_EQ(valuesOf(sorted[0].tensor()), (Numbers{0, 5, 2, 1}));
  EXPECT_EQ(valuesOf(sorted[1].tensor()), (Numbers{1, 0, 1}));
  EXPECT_EQ(valuesOf(sorted[2].tensor()), (Numbers{1, 2}));
  const ValueList runs = call("aten.unique_consecutive.default", {x, true, true, std::int64_t{0}}).list();
  EXPECT_EQ(runs[0].tensor().sizes(), (Sizes{3, 2}));
  const Tensor columns = tensorOf({2, 3}, {1, 1, 0, 4, 4, 7});
  const ValueList byColumn = call("aten.unique_dim.default", {columns, std::int64_t{-1}}).list();
  EXPECT_EQ(valuesOf(byColumn[0].tensor()), (Numbers{0, 1, 7, 4}));
  EXPECT_EQ(byColumn[0].tensor().strides(), (Sizes{1, 2}));
  const Tensor large = *Tensor::zeros(DType::Int64, {2});
  large.data<std::int64_t>()[0] = (1LL << 53) + 1;
  large.data<std::int64_t>()[1] = 1LL << 53;
  EXPECT_EQ(call("aten._unique2.default", {large}).list()[0].tensor().numel(), 2);
}

TEST(RareOps, NumbersForTensorsWindowsAndDiagonals) {
  const Tensor edges = counting({4});
  EXPECT_EQ(callTensor("aten.bucketize.Scalar", {1.5, edges}).itemAsInt(), 2);
  EXPECT_EQ(callTensor("aten.searchsorted.Scalar", {edges, 1.0}, {{"right", true}}).itemAsInt(), 2);
  EXPECT_EQ(valuesOf(callTensor("aten.isin.Tensor_Scalar", {edges, std::int64_t{2}})), (Numbers{0, 0, 1, 0}));
  EXPECT_EQ(valuesOf(callTensor("aten.repeat_interleave.self_int", {counting({2}), std::int64_t{2}})),
            (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(valuesOf(callTensor("prims.xor_sum.default", {tensorOf({3}, {5, 3, 8}, DType::Int64), ints({0})})),
            (Numbers{14}));
  const auto hann = valuesOf(callTensor("aten.hann_window.default", {std::int64_t{4}}));
  EXPECT_NEAR(hann[1], 0.5, 1e-7);
  EXPECT_NEAR(hann[2], 1, 1e-7);
  const Tensor tall = counting({5, 2});
  call("aten.fill_diagonal_.default", {tall, 9.0, true});
  EXPECT_EQ(valuesOf(tall), (Numbers{9, 1, 2, 9, 4, 5, 9, 7, 8, 9}));
}

TEST(RareOps, WeightNormIsUndoneByItsBackward) {
  const Tensor v = tensorOf({2, 2}, {3, 4, 6, 8}, DType::Float64), g = tensorOf({2, 1}, {10, 1}, DType::Float64);
  const ValueList outs = call("aten._weight_norm_interface.default", {v, g, std::int64_t{0}}).list();
  EXPECT_EQ(valuesOf(outs[1].tensor()), (Numbers{5, 10}));
  EXPECT_EQ(valuesOf(outs[0].tensor())[0], 6);
  const ValueList grads = call("aten._weight_norm_interface_backward.default",
                               {tensorOf({2, 2}, {1, 0, 0, 1}, DType::Float64), v, g, outs[1], std::int64_t{0}})
                              .list();
  EXPECT_NEAR(valuesOf(grads[0].tensor())[0], 2 * (1 - 3 * 0.6 / 5), 1e-12);
  EXPECT_NEAR(valuesOf(grads[1].tensor())[1], 0.8, 1e-12);
}

/// Rows that lean on another row name one that exists.
TEST(RareOps, BasesExist) {
  for (const OpRows& family : opFamilies())
    for (const OpRow& row : family) EXPECT_TRUE(!row.base || findOp(row.base)) << row.schema;
}

struct BadCall {
  const char* op;
  ValueList args;
  const char* says;
};

TEST(RareOps, ErrorsNameTheOpAndWhatIsWrong) {
  const Tensor x = counting({2, 3}), image = counting({1, 1, 4, 4}), whole = tensorOf({2}, {0, 1}, DType::Int64);
  const BadCall calls[] = {
      {"aten._adaptive_avg_pool2d.default", {x, ints({1, 1})}, "expects 3 or 4 dimensions"},
      {"aten.adaptive_max_pool2d.default", {image, ints({1, -1})}, "out of range"},
      {"aten.im2col.default", {image, ints({5, 5}), ints({1, 1}), ints({0, 0}), ints({1, 1})}, "no window of kernel 5"},
      {"aten.im2col.default", {image, ints({2, 2}), ints({1, 1}), ints({0, 0}), ints({0, 1})}, "'stride'"},
      {"aten.col2im.default",
       {x, ints({3, 3}), ints({2, 2}), ints({1, 1}), ints({0, 0}), ints({1, 1})},
       "not a multiple"},
      {"aten.grid_sampler_2d.default", {image, x, std::int64_t{0}, std::int64_t{0}, true}, "4 dimensions"},
      {"aten._cdist_forward.default", {x, counting({2, 2}), 2.0, Value()}, "columns"},
      {"aten._cdist_forward.default", {x, x, -1.0, Value()}, "'p'"},
      {"aten._embedding_bag.default", {x, whole, tensorOf({1}, {1}, DType::Int64)}, "must start with 0"},
      {"aten.rot90.default", {counting({2})}, "at least 2 dimensions"},
      {"aten.renorm.default", {x, 2.0, std::int64_t{3}, 1.0}, "out of range"},
      {"aten._chunk_cat.default", {ValueList{x}, std::int64_t{0}, std::int64_t{0}}, "'num_chunks'"},
      {"aten.resize_.default", {x, ints({-1})}, "negative"},
      {"aten.hash_tensor.default", {x, ints({7})}, "out of range"},
      {"aten.multi_margin_loss.default", {x, whole, 3.0}, "'p' must be 1 or 2"},
      {"aten._ctc_loss.default",
       {counting({2, 1, 2}), counting({1, 1}, DType::Int64), ints({9}), ints({1})},
       "input length 9"},
  };
  for (const BadCall& bad : calls) {
    const Error error = errorOf(bad.op, bad.args);
    EXPECT_NE(error.message.find(bad.says), std::string::npos) << bad.op << ": " << error.message;
    EXPECT_NE(error.message.find(bad.op), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace kerf
