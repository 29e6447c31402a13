// Attention of grouped heads and the fused ops of nn.TransformerEncoderLayer, beside what PyTorch 2.11 computes on the
// CPU in float64: the first and the last element of each result, and the sum of its elements times cos(their number).
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "engine/ops/core/op_call.h"

namespace kerf {
namespace {

/// sin(0.7 i + k)
Tensor waves(double k, const Sizes& sizes, double factor = 1) {
  Tensor t = Tensor::zeros(DType::Float64, sizes).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<double>()[i] = factor * std::sin(0.7 * double(i) + k);
  return t;
}
Tensor flags(const Sizes& sizes, const std::vector<int>& values) {
  Tensor t = Tensor::zeros(DType::Bool, sizes).value();
  for (std::size_t i = 0; i < values.size(); ++i) t.data<bool>()[i] = values[i] != 0;
  return t;
}

struct Recorded {
  Sizes sizes;
  double first, last;
  std::optional<double> check;  ///< none: there are NaN
  int nans = 0;
};

void expectLike(const Value& given, const Recorded& recorded) {
  ASSERT_TRUE(given.isTensor());
  ASSERT_EQ(given.tensor().sizes(), recorded.sizes);
  const Tensor t = given.tensor().contiguous().value();
  const double* x = t.data<double>();
  double check = 0;
  int nans = 0;
  for (std::int64_t i = 0; i < t.numel(); ++i) check += x[i] * std::cos(double(i)), nans += std::isnan(x[i]) ? 1 : 0;
  EXPECT_NEAR(x[0], recorded.first, 1e-9);
  EXPECT_EQ(nans, recorded.nans);
  if (!recorded.check) return;
  EXPECT_NEAR(x[t.numel() - 1], recorded.last, 1e-9);
  EXPECT_NEAR(check, *recorded.check, 1e-8);
}

ValueList results(const char* op, const ValueList& args) {
  const auto result = referenceOps().call(op, args, {});
  EXPECT_TRUE(result) << result.error().text();
  if (!result) return {};
  return result->isList() ? result->list() : ValueList{*result};
}

TEST(GroupedHeads, OfTheCpuKernelAreAttendedToTogether) {
  const Tensor q = waves(1, {2, 6, 5, 4}), k = waves(2, {2, 2, 7, 4}), v = waves(3, {2, 2, 7, 4}),
               g = waves(4, {2, 6, 5, 4});
  const Sizes wide{2, 6, 5, 4}, narrow{2, 2, 7, 4};
  const Recorded forward[2][2] = {
      {{wide, 0.55036725772, -0.0648790531822, 2.38781140447}, {{2, 6, 5}, 2.3258890127, 2.27231228867, 1.54013305751}},
      {{wide, 0.14112000806, 0.115559203221, 3.84713566107},
       {{2, 6, 5}, 0.491165939644, 1.98038900933, -0.00368946417328}}};
  const Recorded backward[2][3] = {{{wide, 0.0942885235524, 0.224907325679, 0.480941176435},
                                    {narrow, 0.20572394709, 0.656139965433, -1.63108493173},
                                    {narrow, -0.745253571967, 0.649868915705, -2.78958871447}},
                                   {{wide, 0, 0.136033432893, 0.877565468231},
                                    {narrow, 0.371222775736, 0, -3.92206055816},
                                    {narrow, -1.6298245796, 0, -1.04891688298}}};
  for (const bool causal : {false, true}) {
    SCOPED_TRACE(causal);
    const ValueList out = results("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default",
                                  {Value(q), Value(k), Value(v), 0.0, causal});
    ASSERT_EQ(out.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) expectLike(out[i], forward[causal][i]);
    const ValueList grads = results("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
                                    {Value(g), Value(q), Value(k), Value(v), out[0], out[1], 0.0, causal});
    ASSERT_EQ(grads.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) expectLike(grads[i], backward[causal][i]);
    EXPECT_EQ(grads[1].tensor().strides(), (Sizes{56, 4, 8, 1}));
  }
}

TEST(GroupedHeads, ThatDoNotDivideAreRefused) {
  const Tensor q = waves(1, {1, 5, 3, 4}), k = waves(2, {1, 2, 3, 4});
  const auto out = referenceOps().call("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default",
                                       {Value(q), Value(k), Value(k)}, {});
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().message.find("5 query heads do not divide into 2 key heads"), std::string::npos)
      << out.error().message;
}

constexpr std::int64_t batch = 2, length = 3, width = 8, heads = 2;

struct Masks {
  Tensor source = flags({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0}), padding = flags({2, 3}, {0, 0, 1, 1, 1, 1}), full;
  Masks() : full(Tensor::zeros(DType::Bool, {batch, heads, length, length}).value()) {
    const Tensor number = waves(9, full.sizes());
    for (std::int64_t i = 0; i < full.numel(); ++i) full.data<bool>()[i] = number.data<double>()[i] > 0.2;
  }
};

TEST(GroupedHeads, WithoutHeadsAreRefused) {
  for (const auto& [queries, keys] : {std::pair{0, 2}, std::pair{2, 0}}) {
    const Tensor q = waves(1, {1, queries, 3, 4}), k = waves(2, {1, keys, 3, 4});
    EXPECT_FALSE(referenceOps().call("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default",
                                     {Value(q), Value(k), Value(k)}, {}));
  }
}

TEST(FusedTransformer, AttentionOfAllMasks) {
  const Masks masks;
  const Value x(waves(0, {batch, length, width})), none;
  const Value w(waves(5, {3 * width, width}, 0.3)), b(waves(6, {3 * width})), pw(waves(7, {width, width}, 0.3)),
      pb(waves(8, {width}));
  struct Case {
    Value mask, type;
    Recorded out, mean, each;
  };
  const Sizes rows{2, 3, 8}, square{2, 3, 3}, all{2, 2, 3, 3};
  const Case cases[] = {{none,
                         none,
                         {rows, 1.27948963913, -1.63820851548, -4.1231040842},
                         {square, 0.400781022841, 0.116616011319, -0.474053879809},
                         {all, 0.408742693162, 0.126402216236, -0.0435470783999}},
                        {Value(masks.source),
                         std::int64_t{0},
                         {rows, 1.45057699245, -1.63820851548, -1.45756333984},
                         {square, 1, 0.116616011319, -0.360443221155},
                         {all, 1, 0.126402216236, 0.140571167567}},
                        {Value(masks.padding),
                         std::int64_t{1},
                         {rows, 1.45297078805, 0, {}, 24},
                         {square, 0.552732012811, 0, {}, 9},
                         {all, 0.559738560358, 0, {}, 18}},
                        {Value(masks.full),
                         std::int64_t{2},
                         {rows, 1.16674917691, 0, {}, 16},
                         {square, 0, 0, {}, 6},
                         {all, 0, 0, {}, 12}}};
  for (const Case& c : cases)
    for (const bool averages : {false, true})
      for (const bool needs : {false, true}) {
        const ValueList out = results("torch.ops.aten._native_multi_head_attention.default",
                                      {x, x, x, width, heads, w, b, pw, pb, c.mask, needs, averages, c.type});
        ASSERT_EQ(out.size(), 2u);
        expectLike(out[0], c.out);
        if (needs)
          expectLike(out[1], averages ? c.mean : c.each);
        else
          EXPECT_TRUE(out[1].isNone());
      }
  const Value scores(waves(1, all));
  expectLike(results("torch.ops.aten._masked_softmax.default",
                     {scores, Value(masks.source), std::int64_t{3}, std::int64_t{0}})[0],
             {all, 1, 0.555669340292, -0.130284109421});
  expectLike(results("torch.ops.aten._masked_softmax.default",
                     {scores, Value(masks.padding), std::int64_t{3}, std::int64_t{1}})[0],
             {all, 0.462521970143, 0, {}, 18});
}

TEST(FusedTransformer, EncoderLayersNormaliseBeforeOrAfter) {
  const Masks masks;
  const Value x(waves(0, {batch, length, width}));
  const ValueList weights{Value(waves(5, {3 * width, width}, 0.3)), Value(waves(6, {3 * width})),
                          Value(waves(7, {width, width}, 0.3)), Value(waves(8, {width}))};
  struct Case {
    bool gelu, first;
    Recorded plain;
    double masked;
  };
  const Sizes rows{2, 3, 8};
  const Case cases[] = {{false, false, {rows, 0.832927829083, 0.104324119753, -2.0880479005}, 0.865237370998},
                        {false, true, {rows, -1.44452864948, -0.921394717872, -5.39106892337}, -1.44706845239},
                        {true, false, {rows, 0.796103945898, 0.114120584679, -2.14105388918}, 0.828350639002},
                        {true, true, {rows, -1.33840989828, -0.959810423134, -5.29421368806}, -1.34096655014}};
  for (const Case& c : cases) {
    ValueList args{x, width, heads};
    args.insert(args.end(), weights.begin(), weights.end());
    args.insert(args.end(), {c.gelu, c.first, 1e-5});
    for (const double k : {10, 11, 12, 13}) args.emplace_back(waves(k, {width}));
    args.insert(args.end(), {Value(waves(14, {12, width}, 0.3)), Value(waves(15, {12})),
                             Value(waves(16, {width, 12}, 0.3)), Value(waves(17, {width}))});
    const char* op = "torch.ops.aten._transformer_encoder_layer_fwd.default";
    expectLike(results(op, args)[0], c.plain);
    args.insert(args.end(), {Value(masks.padding), std::int64_t{1}});
    expectLike(results(op, args)[0], {rows, c.masked, 0, {}, 24});
  }
}

}  // namespace
}  // namespace kerf
