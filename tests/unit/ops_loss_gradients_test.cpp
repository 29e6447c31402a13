// Gradients and tangents of losses, Fourier transforms and random ops, by differences.
#include <cmath>

#include "engine/ops/random/state.h"
#include "ops_gradient_testing.h"

namespace kerf {
namespace {

using namespace testing;

using Tensors = std::vector<Tensor>;

const Value none, yes(true), no(false);

Tensor numbers(const Sizes& sizes, unsigned seed) { return randomNumbers(sizes, seed); }
Tensor indices(const Sizes& sizes, const std::vector<double>& values) { return tensorOf(sizes, values, DType::Int64); }
Tensor signs(const Tensor& x) { return callTensor("aten.sign.default", {x}); }
Tensor odds(const Tensor& x) { return callTensor("aten.sigmoid.default", {x}); }

TEST(LossGradients, OfLosses) {
  const Tensor x = numbers({4, 3}, 1), y = numbers({4, 3}, 2), classes = indices({4}, {0, 2, 1, 2});
  const Tensor labels = indices({4, 3}, {0, 1, -1, 2, -1, 0, 1, 0, -1, 0, 2, 1});
  const Tensor weight = tensorOf({3}, {1, 2, 0.5}, DType::Float64);
  for (const std::int64_t reduction : {0, 1, 2}) {
    for (const char* loss : {"aten.mse_loss.default", "aten.smooth_l1_loss.default", "aten.huber_loss.default"})
      checkCall(loss, {none, none, reduction}, {x, y});
    checkCall("aten.binary_cross_entropy.default", {none, none, weight, reduction}, {odds(x), odds(y)});
    const char* logits = "aten.binary_cross_entropy_with_logits.default";
    checkCall(logits, {none, none, weight, weight, reduction}, {x, odds(y)});
    checkCall("aten.soft_margin_loss.default", {none, signs(y), reduction}, {x});
    checkCall("aten.multi_margin_loss.default", {none, classes, std::int64_t{2}, 1.0, weight, reduction}, {x});
    checkCall("aten.multilabel_margin_loss_forward.default", {none, labels, reduction}, {x});
    checkCall("aten.nll_loss_forward.default", {none, classes, weight, reduction, std::int64_t{1}}, {x});
  }
}

TEST(LossGradients, OfLossesTwice) {
  const Tensor x = numbers({4, 3}, 3), y = numbers({4, 3}, 4), weight = odds(numbers({4, 3}, 5));
  for (const std::int64_t reduction : {0, 1, 2}) {
    const Tensor grad = numbers(reduction == 0 ? Sizes{4, 3} : Sizes{}, 6);
    checkCall("aten.mse_loss_backward.default", {none, none, none, reduction}, {grad, x, y});
    checkCall("aten.smooth_l1_loss_backward.default", {none, none, none, reduction, 2.0}, {grad, x, y});
    checkCall("aten.huber_loss_backward.default", {none, none, none, reduction, 2.5}, {grad, x, y});
    checkCall("aten.soft_margin_loss_backward.default", {none, none, signs(y), reduction}, {grad, x});
    checkCall("aten.binary_cross_entropy_backward.default", {none, none, none, weight, reduction},
              {grad, odds(x), odds(y)});
  }
}

/// PyTorch's gradient takes each step's probabilities as normalized: it is right where log_softmax gave them.
TEST(LossGradients, OfCtcLossThroughLogSoftmax) {
  const Tensor targets = indices({2, 3}, {1, 2, 1, 2, 3, 3});
  const auto loss = [&](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
    KERF_TRY(const Tensor probabilities, run("aten._log_softmax.default"_op, {x[0], std::int64_t{2}, false}));
    KERF_TRY(const Value all, run.value("aten._ctc_loss.default"_op,
                                        {probabilities, targets, ints({6, 5}), ints({3, 2}), std::int64_t{0}, false}));
    return Tensors{all.list()[0].tensor()};
  };
  expectDifferentiable("ctc_loss", loss, {numbers({6, 2, 4}, 7)});
}

TEST(FourierGradients, OfTransforms) {
  const Tensor real = numbers({2, 5, 4}, 8), half = randomNumbers({2, 5, 3}, 9, DType::Complex128);
  for (const std::int64_t normalization : {0, 1, 2}) {
    for (const Value& flag : {yes, no}) {
      checkCall("aten._fft_r2c.default", {none, ints({0, 2}), normalization, flag}, {real});
      checkCall("aten._fft_r2c.default", {none, ints({1}), normalization, flag}, {real});  // an odd size
      checkCall("aten._fft_c2c.default", {none, ints({1, 2}), normalization, flag}, {half});
    }
    for (const std::int64_t size : {4, 5})
      checkCall("aten._fft_c2r.default", {none, ints({1, 2}), normalization, size}, {half});
  }
}

/// Draws are the same in every run of the program: the generator starts anew.
TensorProgram seeded(const TensorProgram& program) {
  return [program](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
    const RandomScope scope;
    return program(x, run);
  };
}

TEST(RandomGradients, OfDropoutAndRandomSlopes) {
  const Tensor x = numbers({4, 5}, 10);
  for (const Value& train : {yes, no}) {
    expectDifferentiable("dropout", seeded(calling("aten.native_dropout.default", {none, 0.4, train})), {x});
    expectDifferentiable("rrelu", seeded(calling("aten.rrelu.default", {none, 0.1, 0.4, train})), {x});
    const ValueList noisy{none, x, 0.1, 0.4, train};
    expectDifferentiable("rrelu_with_noise", seeded(calling("aten.rrelu_with_noise_functional.default", noisy)), {x});
  }
  expectDifferentiable("fused dropout", seeded(calling("aten._fused_dropout.default", {none, 0.4})), {x});
}

/// P(α, x) stays what it is when α moves by h and the draw x by h · dx/dα.
TEST(RandomGradients, OfGammaDrawsKeepTheirProbability) {
  const std::vector<double> shapes{0.05, 0.3, 1, 2.5, 2.5, 7, 40, 40, 300};
  const std::vector<double> drawn{1e-4, 0.9, 0.2, 2.4, 6, 1.5, 36, 55, 310};
  const auto size = std::int64_t(shapes.size());
  const Tensor alpha = tensorOf({size}, shapes, DType::Float64), x = tensorOf({size}, drawn, DType::Float64);
  const auto slopes = valuesOf(callTensor("aten._standard_gamma_grad.default", {alpha, x}));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double h = 1e-5 * shapes[i];
    const auto probability = [&](double step) {
      const Tensor a = tensorOf({}, {shapes[i] + step}, DType::Float64);
      const Tensor at = tensorOf({}, {drawn[i] + step * slopes[i]}, DType::Float64);
      return valuesOf(callTensor("aten.igamma.default", {a, at}))[0];
    };
    const double density = std::exp((shapes[i] - 1) * std::log(drawn[i]) - drawn[i] - std::lgamma(shapes[i]));
    EXPECT_NEAR((probability(h) - probability(-h)) / (2 * h * density), 0, 1e-6 * slopes[i]) << shapes[i];
  }
}

/// As derivatives.yaml has it: draws take zeros back to their parameters, factories nothing.
TEST(RandomGradients, OfDrawsAreZeros) {
  const Tensor p = odds(numbers({3}, 11));
  for (const char* name :
       {"aten.bernoulli.default", "aten.poisson.default", "aten.normal.Tensor_float", "aten.exponential.default"}) {
    const OpInfo& op = *findOp(name);
    const BoundArguments args = bindArguments(op, {p}, {}).value();
    const ValueList results{p};
    const auto grads = op.gradient({args, results}, {p}, OpRunner(referenceOps()));
    ASSERT_TRUE(grads) << name << ": " << grads.error().text();
    EXPECT_EQ(valuesOf((*grads)[0].tensor()), (std::vector<double>{0, 0, 0})) << name;
  }
  for (const char* name :
       {"aten.rand.default", "aten.randn_like.default", "aten.randint.low", "aten.multinomial.default"})
    EXPECT_EQ(findOp(name)->gradient, nothingFlows) << name;
}

}  // namespace
}  // namespace kerf
