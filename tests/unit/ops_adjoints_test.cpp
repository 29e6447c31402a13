// Backward ops against their forwards in float64: as transposed matrices where the op is linear, by differences where
// not.
#include <cmath>
#include <functional>
#include <random>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

Tensor randomTensor(const Sizes& sizes, unsigned seed, double low = -1, double high = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> values(std::size_t(*checkedNumel(sizes)));
  for (double& value : values) value = draw(random);
  return tensorOf(sizes, values, DType::Float64);
}

double dot(const Tensor& a, const Tensor& b) {
  const auto x = valuesOf(a), y = valuesOf(b);
  EXPECT_EQ(x.size(), y.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

struct LinearPair {
  const char* forward;
  Sizes input;
  ValueList more;  ///< arguments after the input
  const char* backward;
  /// Arguments of the backward op from the gradient and the input.
  ValueList (*backwardArgs)(const Tensor& grad, const Tensor& input, const ValueList& more);
};

ValueList gradAndInput(const Tensor& grad, const Tensor& input, const ValueList&) { return {grad, input}; }
ValueList gradInputMore(const Tensor& grad, const Tensor& input, const ValueList& more) {
  ValueList args{grad, input};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}
ValueList gradSizeInputSize(const Tensor& grad, const Tensor& input, const ValueList& more) {
  ValueList sizes;
  for (std::int64_t size : input.sizes()) sizes.emplace_back(size);
  ValueList args{grad, more[0], sizes};
  args.insert(args.end(), more.begin() + 1, more.end());
  return args;
}
ValueList columnsBack(const Tensor& grad, const Tensor& input, const ValueList& more) {
  ValueList args{grad, ints({input.size(input.dim() - 2), input.size(input.dim() - 1)})};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

/// <grad, A input> = <Aᵀ grad, input>.
TEST(OpAdjoints, LinearOpsAreTransposedByTheirBackwards) {
  const LinearPair pairs[] = {
      {"aten._adaptive_avg_pool2d.default",
       {2, 3, 7, 5},
       {ints({3, 4})},
       "aten._adaptive_avg_pool2d_backward.default",
       gradAndInput},
      {"aten._adaptive_avg_pool2d.default",
       {3, 5, 5},
       {ints({8, 2})},
       "aten._adaptive_avg_pool2d_backward.default",
       gradAndInput},
      {"aten._adaptive_avg_pool3d.default",
       {2, 2, 4, 5, 6},
       {ints({3, 2, 4})},
       "aten._adaptive_avg_pool3d_backward.default",
       gradAndInput},
      {"aten.im2col.default",
       {2, 3, 6, 5},
       {ints({3, 2}), ints({1, 2}), ints({1, 0}), ints({2, 1})},
       "aten.col2im.default",
       columnsBack},
      {"aten.im2col.default",
       {3, 6, 5},
       {ints({2, 2}), ints({2, 1}), ints({0, 1}), ints({1, 2})},
       "aten.col2im.default",
       columnsBack},
      {"aten.upsample_nearest1d.default",
       {2, 3, 5},
       {ints({8})},
       "aten.upsample_nearest1d_backward.default",
       gradSizeInputSize},
      {"aten.upsample_linear1d.default",
       {2, 3, 5},
       {ints({8}), false},
       "aten.upsample_linear1d_backward.default",
       gradSizeInputSize},
      {"aten.upsample_bilinear2d.default",
       {1, 2, 4, 5},
       {ints({7, 3}), true},
       "aten.upsample_bilinear2d_backward.default",
       gradSizeInputSize},
      {"aten.upsample_bicubic2d.default",
       {1, 2, 4, 5},
       {ints({7, 3}), false},
       "aten.upsample_bicubic2d_backward.default",
       gradSizeInputSize},
      {"aten._upsample_bilinear2d_aa.default",
       {1, 2, 8, 9},
       {ints({3, 12}), false},
       "aten._upsample_bilinear2d_aa_backward.default",
       gradSizeInputSize},
      {"aten._upsample_bicubic2d_aa.default",
       {1, 2, 8, 9},
       {ints({3, 12}), false},
       "aten._upsample_bicubic2d_aa_backward.default",
       gradSizeInputSize},
      {"aten.upsample_trilinear3d.default",
       {1, 2, 3, 4, 5},
       {ints({5, 3, 6}), false},
       "aten.upsample_trilinear3d_backward.default",
       gradSizeInputSize},
      {"aten.reflection_pad3d.default",
       {2, 3, 4, 5},
       {ints({1, 2, 0, 3, 1, 1})},
       "aten.reflection_pad3d_backward.default",
       gradInputMore},
      {"aten.replication_pad2d.default",
       {2, 3, 4},
       {ints({1, 2, 3, 0})},
       "aten.replication_pad2d_backward.default",
       gradInputMore},
      {"aten.avg_pool3d.default",
       {1, 2, 5, 6, 5},
       {ints({2, 3, 2}), ints({2, 2, 1}), ints({1, 1, 0}), true, false},
       "aten.avg_pool3d_backward.default",
       [](const Tensor& grad, const Tensor& input, const ValueList& more) {
         ValueList args = gradInputMore(grad, input, more);
         args.emplace_back();
         return args;
       }},
  };
  for (const LinearPair& pair : pairs) {
    const Tensor input = randomTensor(pair.input, 1);
    ValueList args{input};
    args.insert(args.end(), pair.more.begin(), pair.more.end());
    const Tensor output = callTensor(pair.forward, args);
    const Tensor grad = randomTensor(output.sizes(), 2);
    const Tensor back = callTensor(pair.backward, pair.backwardArgs(grad, input, pair.more));
    ASSERT_EQ(back.sizes(), input.sizes()) << pair.backward;
    EXPECT_NEAR(dot(grad, output), dot(back, input), 1e-10) << pair.backward;
  }
}

/// d/dx of <grad, f(x)> by central differences.
std::vector<double> slopes(const Tensor& x, const std::function<double(const Tensor&)>& f) {
  std::vector<double> values = valuesOf(x), result;
  constexpr double step = 1e-6;
  for (double& value : values) {
    const double middle = value;
    value = middle + step;
    const double above = f(tensorOf(x.sizes(), values, DType::Float64));
    value = middle - step;
    const double below = f(tensorOf(x.sizes(), values, DType::Float64));
    value = middle;
    result.push_back((above - below) / (2 * step));
  }
  return result;
}

void expectSlopes(const char* what, const Tensor& gradient, const std::vector<double>& expected) {
  const auto values = valuesOf(gradient);
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-6) << what << " at " << i;
}

TEST(OpAdjoints, DistancesFollowDifferences) {
  const Tensor a = randomTensor({2, 3, 4}, 3), b = randomTensor({2, 5, 4}, 4);
  const Tensor grad = randomTensor({2, 3, 5}, 5), pairs = randomTensor({10}, 7), points = randomTensor({5, 3}, 6);
  for (double p : {0.7, 1.0, 1.5, 2.0, 3.0, std::numeric_limits<double>::infinity()}) {
    const auto distances = [&](const Tensor& x) {
      return callTensor("aten._cdist_forward.default", {x, b, p, std::int64_t{2}});
    };
    expectSlopes("cdist", callTensor("aten._cdist_backward.default", {grad, a, b, p, distances(a)}),
                 slopes(a, [&](const Tensor& x) { return dot(grad, distances(x)); }));
    const auto own = [&](const Tensor& x) { return callTensor("aten._pdist_forward.default", {x, p}); };
    expectSlopes("pdist", callTensor("aten._pdist_backward.default", {pairs, points, p, own(points)}),
                 slopes(points, [&](const Tensor& x) { return dot(pairs, own(x)); }));
  }
}

TEST(OpAdjoints, GridSamplesFollowDifferences) {
  const Tensor image = randomTensor({2, 2, 4, 5}, 8), grid = randomTensor({2, 3, 3, 2}, 9, -1.4, 1.4);
  const Tensor volume = randomTensor({1, 2, 3, 4, 3}, 10), points = randomTensor({1, 2, 2, 2, 3}, 11, -1.3, 1.3);
  for (std::int64_t mode : {0, 2, 1})
    for (std::int64_t padding : {0, 1, 2})
      for (bool align : {false, true}) {
        const Tensor grad = randomTensor({2, 2, 3, 3}, 12);
        const auto sample = [&](const Tensor& x, const Tensor& at) {
          return dot(grad, callTensor("aten.grid_sampler_2d.default", {x, at, mode, padding, align}));
        };
        const Value both = call("aten.grid_sampler_2d_backward.default",
                                {grad, image, grid, mode, padding, align, ValueList{true, true}});
        expectSlopes("image", both.list()[0].tensor(), slopes(image, [&](const Tensor& x) { return sample(x, grid); }));
        expectSlopes("grid", both.list()[1].tensor(), slopes(grid, [&](const Tensor& x) { return sample(image, x); }));
        if (mode == 2) continue;
        const Tensor grad3 = randomTensor({1, 2, 2, 2, 2}, 13);
        const auto sample3 = [&](const Tensor& x, const Tensor& at) {
          return dot(grad3, callTensor("aten.grid_sampler_3d.default", {x, at, mode, padding, align}));
        };
        const Value both3 = call("aten.grid_sampler_3d_backward.default",
                                 {grad3, volume, points, mode, padding, align, ValueList{true, true}});
        expectSlopes("volume", both3.list()[0].tensor(),
                     slopes(volume, [&](const Tensor& x) { return sample3(x, points); }));
        expectSlopes("points", both3.list()[1].tensor(),
                     slopes(points, [&](const Tensor& x) { return sample3(volume, x); }));
      }
}

TEST(OpAdjoints, EmbeddingBagsFollowDifferences) {
  const Tensor weight = randomTensor({6, 3}, 14), scale = randomTensor({7}, 15);
  const Tensor indices = tensorOf({7}, {1, 4, 1, 0, 5, 2, 4}, DType::Int64);
  const Tensor offsets = tensorOf({3}, {0, 3, 3}, DType::Int64);
  const Tensor grad = randomTensor({3, 3}, 16);
  for (std::int64_t mode : {0, 1, 2}) {
    const Value scales = mode == 0 ? Value(scale) : Value();
    const auto forward = [&](const Tensor& w, const Value& s) {
      return call("aten._embedding_bag.default", {w, indices, offsets, false, mode, false, s, false, std::int64_t{2}});
    };
    const ValueList outs = forward(weight, scales).list();
    const Tensor gradient = callTensor("aten._embedding_bag_backward.default",
                                       {grad, indices, offsets, outs[1], outs[2], outs[3], std::int64_t{6}, false, mode,
                                        false, scales, std::int64_t{2}});
    expectSlopes("weight", gradient,
                 slopes(weight, [&](const Tensor& w) { return dot(grad, forward(w, scales).list()[0].tensor()); }));
    if (mode != 0) continue;
    const Tensor byScale = callTensor("aten._embedding_bag_per_sample_weights_backward.default",
                                      {grad, weight, indices, offsets, outs[1], mode, std::int64_t{2}});
    expectSlopes("per_sample_weights", byScale,
                 slopes(scale, [&](const Tensor& s) { return dot(grad, forward(weight, s).list()[0].tensor()); }));
  }
}

/// A start that no element reaches.
Value startOf(std::string_view reduce) {
  if (reduce == "max") return 0.0;
  if (reduce == "min") return 9.0;
  return reduce == "prod" ? 1.5 : 0.0;
}

TEST(OpAdjoints, SegmentsFollowDifferences) {
  const Tensor data = randomTensor({7, 2}, 17, 0.5, 2), lengths = tensorOf({3}, {2, 0, 5}, DType::Int64);
  const Tensor grad = randomTensor({3, 2}, 18, 0.1, 1);
  for (const char* reduce : {"sum", "mean", "prod", "max", "min"}) {
    const KeywordValues options{{"lengths", lengths}, {"initial", startOf(reduce)}};
    const auto forward = [&](const Tensor& x) {
      return callTensor("aten.segment_reduce.default", {x, std::string(reduce)}, options);
    };
    const Tensor gradient =
        callTensor("aten._segment_reduce_backward.default", {grad, forward(data), data, std::string(reduce)}, options);
    expectSlopes(reduce, gradient, slopes(data, [&](const Tensor& x) { return dot(grad, forward(x)); }));
  }
}

TEST(OpAdjoints, GluGroupNormAndCtcFollowDifferences) {
  const Tensor x = randomTensor({3, 4, 2}, 19), gluGrad = randomTensor({3, 2, 2}, 20);
  expectSlopes(
      "glu", callTensor("aten.glu_backward.default", {gluGrad, x, std::int64_t{1}}),
      slopes(x, [&](const Tensor& y) { return dot(gluGrad, callTensor("aten.glu.default", {y, std::int64_t{1}})); }));

  const Tensor input = randomTensor({2, 4, 3}, 21), weight = randomTensor({4}, 22), bias = randomTensor({4}, 23);
  const Tensor grad = randomTensor({2, 4, 3}, 24);
  const auto norm = [&](const Tensor& y, const Tensor& w) {
    return call("aten.native_group_norm.default",
                {y, w, bias, std::int64_t{2}, std::int64_t{4}, std::int64_t{3}, std::int64_t{2}, 1e-5});
  };
  const ValueList outs = norm(input, weight).list();
  const Value all = call("aten.native_group_norm_backward.default",
                         {grad, input, outs[1], outs[2], weight, std::int64_t{2}, std::int64_t{4}, std::int64_t{3},
                          std::int64_t{2}, ValueList{true, true, true}});
  expectSlopes("group norm input", all.list()[0].tensor(),
               slopes(input, [&](const Tensor& y) { return dot(grad, norm(y, weight).list()[0].tensor()); }));
  expectSlopes("group norm weight", all.list()[1].tensor(),
               slopes(weight, [&](const Tensor& w) { return dot(grad, norm(input, w).list()[0].tensor()); }));

  const Tensor logProbs =
      callTensor("aten._log_softmax.default", {randomTensor({5, 2, 4}, 25), std::int64_t{2}, false});
  const Tensor targets = tensorOf({2, 3}, {1, 1, 2, 3, 2, 0}, DType::Int64), lossGrad = randomTensor({2}, 26);
  const Value steps = ints({5, 4}), labels = ints({3, 2});
  const auto loss = [&](const Tensor& y) { return call("aten._ctc_loss.default", {y, targets, steps, labels}); };
  const ValueList forward = loss(logProbs).list();
  const Tensor gradient =
      callTensor("aten._ctc_loss_backward.default",
                 {lossGrad, logProbs, targets, steps, labels, forward[0], forward[1], std::int64_t{0}, false});
  // The backward op gives the gradient before the softmax: subtract what a normalised row adds.
  const auto direct = slopes(logProbs, [&](const Tensor& y) { return dot(lossGrad, loss(y).list()[0].tensor()); });
  const auto given = valuesOf(gradient), rows = valuesOf(logProbs);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t t = i / 8, n = i / 4 % 2;
    const double own = n == 1 && t == 4 ? 0 : std::exp(rows[i]) * valuesOf(lossGrad)[n];
    EXPECT_NEAR(given[i], direct[i] + own, 1e-6) << i;
  }
}

}  // namespace
}  // namespace kerf
