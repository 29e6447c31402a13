// Ops of exported programs that are programs over others (stft, quantile, tensorsolve, projected LSTMs), and draws by
// rejection.
#include <cmath>

#include "engine/ops/random/state.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

Tensor wave(std::int64_t samples) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < samples; ++i) values.push_back(std::sin(0.7 * double(i)) + 0.1 * double(i));
  return tensorOf({samples}, values);
}

TEST(Stft, TransformsEveryFrame) {
  const Tensor out = callTensor("aten.stft.default", {tensorOf({6}, {1, 2, 3, 4, 5, 6}), std::int64_t{4},
                                                      std::int64_t{2}, std::int64_t{4}, Value(), false, true, false});
  EXPECT_EQ(out.sizes(), (Sizes{3, 2, 2}));  // frequency, frame, part
  EXPECT_EQ(valuesOf(out), (std::vector<double>{10, 0, 18, 0, -2, 2, -2, 2, -2, 0, -2, 0}));
}

TEST(Stft, IsUndoneByIstft) {
  const Tensor signal = wave(40);
  const Tensor window = callTensor("aten.hann_window.default", {std::int64_t{6}});
  const Tensor spectrum =
      callTensor("aten.stft.center", {signal, std::int64_t{8}, std::int64_t{2}, std::int64_t{6}, window},
                 {{"return_complex", true}});
  EXPECT_EQ(spectrum.sizes(), (Sizes{5, 21}));
  const Tensor back =
      callTensor("aten.istft.default", {spectrum, std::int64_t{8}, std::int64_t{2}, std::int64_t{6}, window});
  ASSERT_EQ(back.sizes(), signal.sizes());
  for (std::int64_t i = 0; i < 40; ++i) EXPECT_NEAR(back.itemAsDouble(i), signal.itemAsDouble(i), 1e-5) << i;
}

TEST(Stft, IstftPadsWhereMoreIsWanted) {
  const Tensor spectrum =
      callTensor("aten.stft.center", {wave(40), std::int64_t{8}, std::int64_t{2}}, {{"return_complex", true}});
  const Tensor longer =
      callTensor("aten.istft.default", {spectrum, std::int64_t{8}, std::int64_t{2}}, {{"length", std::int64_t{46}}});
  ASSERT_EQ(longer.sizes(), Sizes{46});
  EXPECT_NEAR(longer.itemAsDouble(39), wave(40).itemAsDouble(39), 1e-5);
  EXPECT_EQ(longer.itemAsDouble(45), 0);
}

TEST(Stft, RefusesWhatDoesNotFit) {
  EXPECT_NE(errorOf("aten.stft.default", {wave(8), std::int64_t{4}}).message.find("return_complex"), std::string::npos);
  errorOf("aten.stft.default", {wave(3), std::int64_t{4}}, {{"return_complex", true}});
  errorOf("aten.istft.default", {wave(8), std::int64_t{4}});
}

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const Tensor x = tensorOf({2, 4}, {4, 1, 3, 2, 10, 40, 20, 30});
  const Tensor q = tensorOf({2}, {0.5, 1});
  const auto at = [&](const std::string& mode) {
    return valuesOf(callTensor("aten.quantile.default", {x, q, std::int64_t{1}, false}, {{"interpolation", mode}}));
  };
  EXPECT_EQ(at("linear"), (std::vector<double>{2.5, 25, 4, 40}));
  EXPECT_EQ(at("lower"), (std::vector<double>{2, 20, 4, 40}));
  EXPECT_EQ(at("higher"), (std::vector<double>{3, 30, 4, 40}));
  EXPECT_EQ(at("nearest"), (std::vector<double>{3, 30, 4, 40}));
  EXPECT_EQ(callTensor("aten.quantile.default", {x, q, std::int64_t{0}, true}).sizes(), (Sizes{2, 1, 4}));
  EXPECT_EQ(callTensor("aten.quantile.scalar", {x, 0.5}).itemAsDouble(), 7);
  EXPECT_EQ(callTensor("aten.quantile.scalar", {x, 0.5, Value(), true}).sizes(), (Sizes{1, 1}));
  errorOf("aten.quantile.scalar", {x, 1.5});
}

TEST(Quantile, SpreadsOrSkipsNan) {
  const Tensor x = tensorOf({2, 3}, {1, NAN, 3, 4, 5, 6});
  const Value dim = std::int64_t{1};
  const std::vector<double> spread = valuesOf(callTensor("aten.quantile.scalar", {x, 0.5, dim}));
  EXPECT_TRUE(std::isnan(spread[0]));
  EXPECT_EQ(spread[1], 5);
  EXPECT_EQ(valuesOf(callTensor("aten.nanquantile.scalar", {x, 0.5, dim})), (std::vector<double>{2, 5}));
}

TEST(TensorSolve, SolvesInTheShapeOfTheUnknown) {
  const Tensor a = tensorOf({2, 2, 1}, {2, 1, 0, 4}).viewAs({2, 2, 1}, {2, 1, 1}, 0);
  const Tensor x = callTensor("aten.linalg_tensorsolve.default", {a, tensorOf({2}, {4, 8})});
  EXPECT_EQ(x.sizes(), (Sizes{2, 1}));
  EXPECT_EQ(valuesOf(x), (std::vector<double>{1, 2}));
  errorOf("aten.linalg_tensorsolve.default", {a, tensorOf({3}, {1, 2, 3})});
}

/// One step with zero gates: c' = c / 2, h' = tanh(c') / 2, projected to one feature.
TEST(Lstm, ProjectsItsHiddenState) {
  const Tensor input = tensorOf({1, 1, 1}, {0}), hidden = tensorOf({1, 1, 1}, {0}), cells = tensorOf({1, 1, 2}, {2, 4});
  const ValueList weights{*Tensor::zeros(DType::Float32, {8, 1}), *Tensor::zeros(DType::Float32, {8, 1}),
                          tensorOf({1, 2}, {2, 10})};
  const ValueList out = call("aten.lstm.input", {input, Value(ValueList{hidden, cells}), Value(weights), false,
                                                 std::int64_t{1}, 0.0, false, false, false})
                            .list();
  EXPECT_EQ(out[0].tensor().sizes(), (Sizes{1, 1, 1}));
  EXPECT_NEAR(out[0].tensor().itemAsDouble(), std::tanh(1.0) + 5 * std::tanh(2.0), 1e-5);
  EXPECT_EQ(valuesOf(out[2].tensor()), (std::vector<double>{1, 2}));
}

/// Mean and variance of 4000 draws.
std::pair<double, double> momentsOf(const std::string& op, const ValueList& args) {
  const RandomScope scope(11);
  const std::vector<double> values = valuesOf(callTensor(op, args));
  double sum = 0, squares = 0;
  for (double value : values) sum += value, squares += value * value;
  const double count = double(values.size()), mean = sum / count;
  return {mean, squares / count - mean * mean};
}
Tensor filled(double value) { return callTensor("aten.full.default", {ints({4000}), value}); }

TEST(Rejection, DrawsHaveTheMomentsOfTheirDistribution) {
  for (double rate : {0.5, 4.0, 30.0}) {
    const auto [mean, variance] = momentsOf("aten.poisson.default", {filled(rate)});
    EXPECT_NEAR(mean, rate, 0.08 * std::sqrt(rate)) << rate;
    EXPECT_NEAR(variance, rate, 0.12 * rate) << rate;
  }
  for (auto [count, odds] : {std::pair(8.0, 0.25), std::pair(100.0, 0.3), std::pair(100.0, 0.8)}) {
    const double expected = count * odds * (1 - odds);
    const auto [mean, variance] = momentsOf("aten.binomial.default", {filled(count), filled(odds)});
    EXPECT_NEAR(mean, count * odds, 0.08 * std::sqrt(expected)) << count;
    EXPECT_NEAR(variance, expected, 0.12 * expected) << count;
  }
  for (double shape : {0.5, 3.0}) {
    const auto [mean, variance] = momentsOf("aten._standard_gamma.default", {filled(shape)});
    EXPECT_NEAR(mean, shape, 0.08 * std::sqrt(shape)) << shape;
    EXPECT_NEAR(variance, shape, 0.2 * shape) << shape;
  }
}

TEST(Rejection, DirichletLinesAddUpToOne) {
  const Tensor out = callTensor("aten._sample_dirichlet.default", {tensorOf({2, 3}, {1, 2, 3, 0.5, 0.5, 9})});
  const std::vector<double> x = valuesOf(out);
  EXPECT_NEAR(x[0] + x[1] + x[2], 1, 1e-6);
  EXPECT_NEAR(x[3] + x[4] + x[5], 1, 1e-6);
}

TEST(Rejection, RefusesWhatHasNoDistribution) {
  errorOf("aten.poisson.default", {tensorOf({1}, {-1})});
  errorOf("aten._standard_gamma.default", {tensorOf({1}, {-1})});
  errorOf("aten.rrelu.default", {tensorOf({1}, {-1}), 0.5, 0.25, true});
}

TEST(Rrelu, WritesItsSlopesIntoTheNoise) {
  const Tensor self = tensorOf({3}, {-2, 5, -4}), noise = tensorOf({3}, {0, 0, 0});
  const std::vector<double> out = valuesOf(callTensor("aten.rrelu_with_noise.default", {self, noise, 0.25, 0.5, true}));
  const std::vector<double> slopes = valuesOf(noise);
  EXPECT_EQ(slopes[1], 1);
  EXPECT_GE(slopes[0], 0.25);
  EXPECT_LE(slopes[2], 0.5);
  EXPECT_EQ(out, (std::vector<double>{-2 * slopes[0], 5, -4 * slopes[2]}));
  EXPECT_EQ(valuesOf(callTensor("aten.rrelu.default", {self, 0.25, 0.75})), (std::vector<double>{-1, 5, -2}));
}

std::vector<double> valuesAt(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) {
  return valuesOf(callTensor(op, args, kwargs));
}
using Values = std::vector<double>;

TEST(CompositeLosses, FollowTheirDefinitions) {
  const Tensor a = tensorOf({2}, {1, 3}), b = tensorOf({2}, {2, 1}), target = tensorOf({2}, {1, -1});
  EXPECT_EQ(valuesAt("aten.margin_ranking_loss.default", {a, b, target, 0.5, std::int64_t{0}}), (Values{1.5, 2.5}));
  EXPECT_EQ(valuesAt("aten.hinge_embedding_loss.default", {a, target, 4.0, std::int64_t{0}}), (Values{1, 1}));
  EXPECT_EQ(valuesAt("aten.hinge_embedding_loss.default", {a, target, 4.0}), (Values{1}));
  const Tensor x = tensorOf({2, 2}, {3, 4, 1, 0}), y = tensorOf({2, 2}, {3, 4, 0, 1}),
               z = tensorOf({2, 2}, {0, 0, 1, 2});
  const Values cosine = valuesAt("aten.cosine_embedding_loss.default", {x, y, target, -0.5, std::int64_t{0}});
  EXPECT_NEAR(cosine[0], 0, 1e-6);
  EXPECT_NEAR(cosine[1], 0.5, 1e-6);
  const Values triplet = valuesAt("aten.triplet_margin_loss.default", {x, y, z, 1.0, 2.0, 0.0, false, std::int64_t{0}});
  EXPECT_EQ(triplet[0], 0);
  EXPECT_NEAR(triplet[1], 1 + std::sqrt(2.0) - 2, 1e-6);
  EXPECT_NEAR(valuesAt("aten.pairwise_distance.default", {x, z, 1.0, 0.0})[0], 7, 1e-6);
  EXPECT_NEAR(valuesAt("aten.cdist.default", {x, z})[0], 5, 1e-6);
  EXPECT_NEAR(valuesAt("aten.pdist.default", {x})[0], std::sqrt(20.0), 1e-6);
  const Values poisson = valuesAt("aten.poisson_nll_loss.default", {a, b, false, true, 0.0, std::int64_t{0}});
  EXPECT_NEAR(poisson[0], 1 + 2 * std::log(2.0) - 2 + 0.5 * std::log(4 * M_PI), 1e-6);
  EXPECT_NEAR(poisson[1], 3 - std::log(3.0), 1e-6);
}

TEST(CompositeLosses, CtcDividesByTargetLengths) {
  const double third = std::log(1.0 / 3);
  const Tensor logs = tensorOf({2, 1, 3}, {third, third, third, third, third, third});
  const Tensor targets = tensorOf({1, 2}, {1, 2}, DType::Int64);
  const Values mean = valuesAt("aten.ctc_loss.IntList", {logs, targets, ints({2}), ints({2})});
  EXPECT_NEAR(mean[0], -2 * third / 2, 1e-5);  // one path of two steps
  const Tensor two = tensorOf({1}, {2}, DType::Int64), one = tensorOf({1}, {1}, DType::Int64);
  EXPECT_EQ(valuesAt("aten.ctc_loss.Tensor", {logs, targets, one, two, std::int64_t{0}, std::int64_t{2}, true}),
            Values{0});
}

TEST(CompositeTensors, ComposeShapes) {
  const Tensor line = tensorOf({2}, {1, 2}), matrix = tensorOf({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(valuesAt("aten.diag.default", {matrix, std::int64_t{1}}), Values{2});
  EXPECT_EQ(valuesAt("aten.diagflat.default", {line}), (Values{1, 0, 0, 2}));
  EXPECT_EQ(callTensor("aten.atleast_3d.default", {line}).sizes(), (Sizes{1, 2, 1}));
  EXPECT_EQ(callTensor("aten.atleast_2d.default", {line}).sizes(), (Sizes{1, 2}));
  EXPECT_EQ(callTensor("aten.dstack.default", {Value(ValueList{matrix, matrix})}).sizes(), (Sizes{2, 2, 2}));
  EXPECT_EQ(valuesAt("aten.column_stack.default", {Value(ValueList{line, matrix})}), (Values{1, 1, 2, 2, 3, 4}));
  EXPECT_EQ(valuesAt("aten.cartesian_prod.default", {Value(ValueList{line, tensorOf({1}, {5})})}),
            (Values{1, 5, 2, 5}));
  EXPECT_EQ(valuesAt("aten.argwhere.default", {tensorOf({3}, {0, 4, 1})}), (Values{1, 2}));
  EXPECT_EQ(valuesAt("aten.chain_matmul.default", {Value(ValueList{matrix, matrix})}), (Values{7, 10, 15, 22}));
  EXPECT_EQ(valuesAt("aten.bilinear.default", {line, tensorOf({2}, {3, 4}), counting({1, 2, 2}), tensorOf({1}, {1})}),
            Values{1 + 1 * 4 + 2 * (2 * 3 + 3 * 4)});
}

TEST(CompositeTensors, CompareWithinTolerance) {
  const Tensor a = tensorOf({3}, {1, NAN, 100}), b = tensorOf({3}, {1.00001, NAN, 101});
  EXPECT_EQ(valuesAt("aten.isclose.default", {a, b, 1e-4, 0.0, true}), (Values{1, 1, 0}));
  EXPECT_EQ(valuesAt("aten.isclose.default", {a, b}), (Values{0, 0, 0}));
}

TEST(CompositeTensors, GridsOfTheIdentityAreItsPixelCentres) {
  const Tensor theta = tensorOf({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  const Value size = ints({1, 1, 2, 2});
  EXPECT_EQ(valuesAt("aten.affine_grid_generator.default", {theta, size, false}),
            (Values{-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5}));
  const Tensor image = tensorOf({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor grid = callTensor("aten.affine_grid_generator.default", {theta, size, true});
  EXPECT_EQ(valuesAt("aten.grid_sampler.default", {image, grid, std::int64_t{0}, std::int64_t{0}, true}),
            (Values{1, 2, 3, 4}));
}

TEST(CompositeTensors, IntegrateAndCorrelate) {
  const Tensor y = tensorOf({2, 3}, {1, 2, 4, 0, 2, 2}), x = tensorOf({3}, {0, 1, 3});
  EXPECT_EQ(valuesAt("aten.trapezoid.x", {y, x}), (Values{7.5, 5}));
  EXPECT_EQ(valuesAt("aten.trapezoid.dx", {y}, {{"dx", 2.0}}), (Values{9, 6}));
  EXPECT_EQ(valuesAt("aten.cumulative_trapezoid.x", {y, x}), (Values{1.5, 7.5, 1, 5}));
  const Values covariance = valuesAt("aten.cov.default", {y});
  EXPECT_NEAR(covariance[0], 7.0 / 3, 1e-6);
  EXPECT_NEAR(covariance[1], 4.0 / 3, 1e-6);
  EXPECT_NEAR(valuesAt("aten.corrcoef.default", {y})[1], (4.0 / 3) / std::sqrt(7.0 / 3 * 4.0 / 3), 1e-6);
  const Tensor counts = tensorOf({3}, {1, 1, 2}, DType::Int64);
  EXPECT_NEAR(valuesAt("aten.cov.default", {tensorOf({3}, {1, 2, 4})}, {{"fweights", counts}})[0], 2.25, 1e-6);
}

TEST(CompositeTensors, NormsAndPowers) {
  const Tensor matrix = tensorOf({2, 2}, {3, 0, 0, 4}), line = tensorOf({2}, {2, 3});
  EXPECT_EQ(valuesAt("aten.frobenius_norm.dim", {matrix, ints({0, 1})}), Values{5});
  EXPECT_NEAR(valuesAt("aten.nuclear_norm.default", {matrix})[0], 7, 1e-6);
  EXPECT_NEAR(valuesAt("aten.special_logsumexp.default", {line, ints({0})})[0], 3 + std::log1p(std::exp(-1.0)), 1e-6);
  EXPECT_EQ(valuesAt("aten.vander.default", {line, std::int64_t{3}}), (Values{4, 2, 1, 9, 3, 1}));
  EXPECT_EQ(valuesAt("aten.linalg_vander.default", {line}), (Values{1, 2, 1, 3}));
}

TEST(CompositeTensors, DropoutsTakeWholeChannelsOrKeepMoments) {
  const RandomScope scope(3);
  const Tensor ones = callTensor("aten.full.default", {ints({40, 5, 8}), 1.0});
  const Values dropped = valuesAt("aten.feature_dropout.default", {ones, 0.5, true});
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    EXPECT_TRUE(dropped[i] == 0 || dropped[i] == 2);
    EXPECT_EQ(dropped[i], dropped[i / 8 * 8]);
  }
  EXPECT_EQ(valuesAt("aten.alpha_dropout.default", {ones, 0.5, false}), valuesOf(ones));
  const auto [mean, variance] = momentsOf("aten.alpha_dropout.default", {filled(0), 0.3, true});
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(variance, 1 - 1 / (1 + 1.7580993408473766 * 1.7580993408473766 * 0.3), 0.05);
}

}  // namespace
}  // namespace kerf
