// Gradients and tangents of layers, losses, Fourier transforms and random ops, by differences, where PyTorch's recorded
// calls leave something out; second derivatives through what their backward ops give.
#include "engine/ops/random/state.h"
#include "ops_gradient_testing.h"

namespace kerf {
namespace {

using namespace testing;

using Tensors = std::vector<Tensor>;

/// A call with tensors in the places where `args` has none; results that `kept` names, all of them if it is empty.
TensorProgram calling(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {},
                      const std::vector<std::size_t>& kept = {0}) {
  return [=, op = std::string(op)](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
    ValueList values = args;
    std::size_t next = 0;
    for (Value& value : values)
      if (value.isNone() && next < x.size()) value = x[next++];
    KERF_TRY(const Value all, run.value(OpTarget(op), values, kwargs));
    const ValueList results = all.isList() ? all.list() : ValueList{all};
    Tensors tensors;
    for (const std::size_t k : kept) tensors.push_back(results[k].tensor());
    return tensors;
  };
}

const Value none;
Value flag(bool value) { return Value(value); }
Tensor numbers(const Sizes& sizes, unsigned seed) { return randomNumbers(sizes, seed); }
Tensor indices(const Sizes& sizes, const std::vector<double>& values) { return tensorOf(sizes, values, DType::Int64); }

TEST(LayerGradients, OfNormsAndTheirStatistics) {
  const Tensor x = numbers({2, 3, 4}, 1), w = numbers({4}, 2), b = numbers({4}, 3);
  expectDifferentiable("layer norm", calling("aten.native_layer_norm.default", {none, ints({4}), none, none, 1e-2}, {}, {0, 1, 2}), {x, w, b});
  expectDifferentiable("layer norm of all", calling("aten.native_layer_norm.default", {none, ints({2, 3, 4}), none, none, 1e-2}), {x, x, x});
  const Value n(std::int64_t{2}), c(std::int64_t{4}), area(std::int64_t{3}), groups(std::int64_t{2});
  const Tensor image = numbers({2, 4, 3}, 4);
  expectDifferentiable("group norm", calling("aten.native_group_norm.default", {none, none, none, n, c, area, groups, 1e-2}, {}, {0, 1, 2}), {image, w, b});
  expectDifferentiable("batch norm", calling("aten._native_batch_norm_legit.no_stats", {none, none, none, flag(true), 0.1, 1e-2}, {}, {0, 1, 2}), {image, w, b});
  const Tensor mean = numbers({4}, 5), variance = tensorOf({4}, {1, 2, 0.5, 1}, DType::Float64);
  const auto frozen = [&](const Tensors& t, const OpRunner& run) -> Result<Tensors> {
    KERF_TRY(const Value all, run.value("aten._native_batch_norm_legit_no_training.default"_op, {t[0], t[1], t[2], mean, variance, 0.1, 1e-2}));
    return Tensors{all.list()[0].tensor()};
  };
  expectDifferentiable("frozen batch norm", frozen, {image, w, b});
}

TEST(LayerGradients, OfNormsTwice) {
  const Value all = ValueList{true, true, true}, n(std::int64_t{2}), c(std::int64_t{4}), area(std::int64_t{3}), groups(std::int64_t{2});
  const Tensor x = numbers({2, 4, 3}, 6), g = numbers({2, 4, 3}, 7), w = numbers({4}, 8), stat = numbers({2, 4, 1}, 9);
  const Tensor wide = numbers({3}, 10);
  expectDifferentiable("layer norm backward",
                       calling("aten.native_layer_norm_backward.default", {none, none, ints({3}), none, none, none, wide, all}, {}, {0, 1, 2}),
                       {g, x, stat, numbers({2, 4, 1}, 11), wide});
  expectDifferentiable("group norm backward",
                       calling("aten.native_group_norm_backward.default", {none, none, none, none, none, n, c, area, groups, all}, {}, {0, 1, 2}),
                       {g, x, numbers({2, 2}, 12), numbers({2, 2}, 13), w});
  for (const bool train : {true, false}) {
    const Tensor running = tensorOf({4}, {1, 2, 0.5, 1}, DType::Float64);
    const auto backward = [&](const Tensors& t, const OpRunner& run) -> Result<Tensors> {
      const Value savedMean = train ? Value(t[3]) : none, savedInverse = train ? Value(t[4]) : none;
      KERF_TRY(const Value results, run.value("aten.native_batch_norm_backward.default"_op,
                                              {t[0], t[1], t[2], running, running, savedMean, savedInverse, train, 1e-2, all}));
      return Tensors{results.list()[0].tensor(), results.list()[1].tensor(), results.list()[2].tensor()};
    };
    Tensors arguments{g, x, w};
    if (train) arguments.insert(arguments.end(), {numbers({4}, 14), numbers({4}, 15)});
    expectDifferentiable(train ? "batch norm backward" : "frozen batch norm backward", backward, arguments);
  }
}

TEST(LayerGradients, OfConvolutionsTwice) {
  const Value stride = ints({2, 1}), padding = ints({1, 0}), dilation = ints({1, 1}), groups(std::int64_t{1}), all = ValueList{true, true, true};
  for (const DType dtype : {DType::Float64, DType::Complex128})
    for (const bool transposed : {false, true}) {
      const Tensor x = randomNumbers({2, 2, 5, 4}, 16, dtype), w = randomNumbers(transposed ? Sizes{2, 3, 3, 2} : Sizes{3, 2, 3, 2}, 17, dtype), b = randomNumbers({3}, 18, dtype);
      const ValueList geometry{stride, padding, dilation, flag(transposed), ints({0, 0}), groups};
      ValueList forward{none, none, none};
      forward.insert(forward.end(), geometry.begin(), geometry.end());
      expectDifferentiable("convolution", calling("aten.convolution.default", forward), {x, w, b});
      const Tensor out = callTensor("aten.convolution.default", {x, w, b, stride, padding, dilation, flag(transposed), ints({0, 0}), groups});
      ValueList backward{none, none, none, ints({3})};
      backward.insert(backward.end(), geometry.begin(), geometry.end());
      backward.push_back(all);
      expectDifferentiable("convolution backward", calling("aten.convolution_backward.default", backward, {}, {0, 1, 2}), {randomNumbers(out.sizes(), 19, dtype), x, w});
    }
}

TEST(LayerGradients, OfAttention) {
  const Tensor q = numbers({2, 2, 3, 4}, 20), k = numbers({2, 2, 5, 4}, 21), v = numbers({2, 2, 5, 4}, 22), mask = numbers({2, 1, 3, 5}, 23);
  const Tensor square = numbers({2, 2, 3, 4}, 24);
  const char* flash = "aten._scaled_dot_product_flash_attention_for_cpu.default";
  expectDifferentiable("flash", calling(flash, {none, none, none, 0.0, flag(false)}), {q, k, v});
  expectDifferentiable("causal flash", calling(flash, {none, none, none, 0.0, flag(true)}, {{"scale", 0.3}}), {q, square, square});
  const Tensor seen = tensorOf({3, 5}, {1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1}, DType::Bool);
  for (const Tensor& bias : {mask, seen})
    expectDifferentiable("masked flash", calling(flash, {none, none, none, 0.0, flag(false)}, {{"attn_mask", bias}}), {q, k, v});
  expectDifferentiable("efficient", calling("aten._scaled_dot_product_efficient_attention.default", {none, none, none, none, flag(true), 0.0, flag(false)}),
                       {q, k, v, numbers({2, 2, 3, 5}, 60)});
}

TEST(LayerGradients, OfPoolingAndSampling) {
  const Value two = ints({2, 2}), ceil = flag(true);
  const Tensor x = numbers({2, 2, 5, 4}, 25);
  expectDifferentiable("max_pool2d", calling("aten.max_pool2d_with_indices.default", {none, two, two, ints({1, 1}), ints({1, 1}), ceil}), {x});
  expectDifferentiable("low memory max pool", calling("prims._low_memory_max_pool_with_offsets.default", {none, two, two, ints({1, 1}), ints({1, 1}), ceil}), {x});
  expectDifferentiable("avg_pool2d", calling("aten.avg_pool2d.default", {none, two, two, ints({1, 1}), ceil, flag(false)}), {x});
  expectDifferentiable("adaptive_avg_pool1d", calling("aten.adaptive_avg_pool1d.default", {none, ints({3})}), {numbers({2, 2, 5}, 26)});
  expectDifferentiable("adaptive_avg_pool2d", calling("aten.adaptive_avg_pool2d.default", {none, ints({2, 3})}), {x});
  expectDifferentiable("adaptive_max_pool1d", calling("aten.adaptive_max_pool1d.default", {none, ints({3})}), {numbers({2, 2, 5}, 27)});
  expectDifferentiable("adaptive_max_pool2d", calling("aten.adaptive_max_pool2d.default", {none, ints({2, 3})}), {x});
  const Tensor places = indices({1, 1, 2, 2}, {0, 3, 8, 10});
  const auto unpool = [&](const Tensors& t, const OpRunner& run) -> Result<Tensors> {
    KERF_TRY(const Tensor out, run("aten.max_unpool2d.default"_op, {t[0], places, ints({4, 4})}));
    return Tensors{out};
  };
  expectDifferentiable("max_unpool2d", unpool, {numbers({1, 1, 2, 2}, 28)});
  const Tensor grid = numbers({2, 3, 3, 2}, 29), volume = numbers({1, 2, 3, 4, 3}, 30), path = numbers({1, 2, 2, 2, 3}, 31);
  for (const std::int64_t mode : {0, 2})
    expectDifferentiable("grid_sampler_2d", calling("aten.grid_sampler_2d.default", {none, none, mode, std::int64_t{0}, flag(true)}), {x, grid});
  expectDifferentiable("grid_sampler_3d", calling("aten.grid_sampler_3d.default", {none, none, std::int64_t{0}, std::int64_t{1}, flag(false)}), {volume, path});
  expectDifferentiable("antialiased", calling("aten._upsample_bicubic2d_aa.default", {none, ints({3, 2}), flag(false), none, none}), {x});
}

TEST(LayerGradients, OfLosses) {
  const Tensor x = numbers({4, 3}, 32), y = numbers({4, 3}, 33), classes = indices({4}, {0, 2, 1, 2});
  const Tensor odds = callTensor("aten.sigmoid.default", {x}), targets = callTensor("aten.sigmoid.default", {y});
  const Tensor weight = tensorOf({3}, {1, 2, 0.5}, DType::Float64);
  for (const std::int64_t reduction : {0, 1, 2}) {
    for (const char* loss : {"aten.mse_loss.default", "aten.smooth_l1_loss.default", "aten.huber_loss.default"})
      expectDifferentiable(loss, calling(loss, {none, none, reduction}), {x, y});
    expectDifferentiable("binary_cross_entropy", calling("aten.binary_cross_entropy.default", {none, none, weight, reduction}), {odds, targets});
    expectDifferentiable("with logits", calling("aten.binary_cross_entropy_with_logits.default", {none, none, weight, weight, reduction}), {x, targets});
    const auto ofSelf = [&](const char* op, ValueList rest) {
      rest.insert(rest.begin(), none);
      expectDifferentiable(op, calling(op, rest), {x});
    };
    ofSelf("aten.soft_margin_loss.default", {callTensor("aten.sign.default", {y}), reduction});
    ofSelf("aten.multi_margin_loss.default", {classes, std::int64_t{2}, 1.0, weight, reduction});
    ofSelf("aten.multilabel_margin_loss_forward.default", {indices({4, 3}, {0, 1, -1, 2, -1, 0, 1, 0, -1, 0, 2, 1}), reduction});
    ofSelf("aten.nll_loss_forward.default", {classes, weight, reduction, std::int64_t{1}});
  }
}

TEST(LayerGradients, OfLossesTwice) {
  const Tensor x = numbers({4, 3}, 34), y = numbers({4, 3}, 35);
  const Tensor odds = callTensor("aten.sigmoid.default", {x}), targets = callTensor("aten.sigmoid.default", {y});
  for (const std::int64_t reduction : {0, 1, 2}) {
    const Tensor grad = reduction == 0 ? numbers({4, 3}, 36) : numbers({}, 37);
    expectDifferentiable("mse", calling("aten.mse_loss_backward.default", {none, none, none, reduction}), {grad, x, y});
    expectDifferentiable("smooth", calling("aten.smooth_l1_loss_backward.default", {none, none, none, reduction, 2.0}), {grad, x, y});
    expectDifferentiable("huber", calling("aten.huber_loss_backward.default", {none, none, none, reduction, 2.5}), {grad, x, y});
    expectDifferentiable("entropy", calling("aten.binary_cross_entropy_backward.default", {none, none, none, odds, reduction}), {grad, odds, targets});
    expectDifferentiable("soft margin", calling("aten.soft_margin_loss_backward.default", {none, none, callTensor("aten.sign.default", {y}), reduction}), {grad, x});
  }
}

/// PyTorch's gradient takes each step's probabilities as normalized: it is right where log_softmax gave them.
TEST(LayerGradients, OfCtcLossThroughLogSoftmax) {
  const Tensor targets = indices({2, 3}, {1, 2, 1, 2, 3, 3});
  const auto loss = [&](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
    KERF_TRY(const Tensor odds, run("aten._log_softmax.default"_op, {x[0], std::int64_t{2}, false}));
    KERF_TRY(const Value all, run.value("aten._ctc_loss.default"_op, {odds, targets, ints({6, 5}), ints({3, 2}), std::int64_t{0}, false}));
    return Tensors{all.list()[0].tensor()};
  };
  expectDifferentiable("ctc_loss", loss, {numbers({6, 2, 4}, 38)});
}

TEST(LayerGradients, OfEmbeddingBags) {
  const Tensor rows = indices({6}, {0, 3, 1, 1, 2, 3}), offsets = indices({3}, {0, 2, 2});
  const Value no = flag(false), unpadded(std::int64_t{-1});
  for (const std::int64_t mode : {0, 1, 2})
    expectDifferentiable(fmt::format("embedding_bag {}", mode),
                         [&](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
                           KERF_TRY(const Value all, run.value("aten._embedding_bag.default"_op, {x[0], rows, offsets, no, mode, no, none, no, unpadded}));
                           return Tensors{all.list()[0].tensor()};
                         },
                         {numbers({4, 3}, 39)});
  expectDifferentiable("weighted embedding_bag",
                       [&](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
                         KERF_TRY(const Value all, run.value("aten._embedding_bag.default"_op, {x[0], rows, offsets, no, std::int64_t{0}, no, x[1], no, unpadded}));
                         return Tensors{all.list()[0].tensor()};
                       },
                       {numbers({4, 3}, 40), numbers({6}, 41)});
}

TEST(LayerGradients, OfFusedLayers) {
  for (const std::int64_t dim : {0, -1})
    expectDifferentiable("glu_backward", calling("aten.glu_backward.default", {none, none, dim}), {numbers(dim == 0 ? Sizes{2, 4} : Sizes{4, 2}, 42), numbers({4, 4}, 43)});
  // float32 only: against products of the groups
  const Tensor a = randomNumbers({5, 3}, 44, DType::Float32), b = randomNumbers({2, 3, 4}, 45, DType::Float32);
  const Tensor ends = tensorOf({2}, {2, 5}, DType::Int32), grad = randomNumbers({5, 4}, 46, DType::Float32);
  const OpInfo& op = *findOp("aten._grouped_mm.default");
  const BoundArguments args = bindArguments(op, {a, b, ends}, {}).value();
  const ValueList results{call("aten._grouped_mm.default", {a, b, ends})};
  const auto grads = op.gradient({args, results}, {grad}, OpRunner(referenceOps()));
  ASSERT_TRUE(grads) << grads.error().text();
  const auto part = [](const Tensor& t, std::int64_t from, std::int64_t to) { return callTensor("aten.slice.Tensor", {t, std::int64_t{0}, from, to}); };
  const auto turned = [](const Tensor& t) { return callTensor("aten.t.default", {t}); };
  for (const auto& [group, from, to] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{0, 0, 2}, {1, 2, 5}}) {
    const Tensor matrix = callTensor("aten.select.int", {b, std::int64_t{0}, group});
    EXPECT_EQ(valuesOf(part((*grads)[0].tensor(), from, to)), valuesOf(callTensor("aten.mm.default", {part(grad, from, to), turned(matrix)})));
    EXPECT_EQ(valuesOf(callTensor("aten.select.int", {(*grads)[1], std::int64_t{0}, group})),
              valuesOf(callTensor("aten.mm.default", {turned(part(a, from, to)), part(grad, from, to)})));
  }
}

TEST(LayerGradients, OfSoftmaxes) {
  const Tensor x = numbers({3, 4}, 47), y = callTensor("aten.softmax.int", {numbers({3, 4}, 48), std::int64_t{1}});
  for (const char* op : {"aten.softmax.int", "aten.log_softmax.int", "aten._safe_softmax.default"})
    expectDifferentiable(op, calling(op, {none, std::int64_t{0}}), {x});
  for (const char* op : {"aten._softmax_backward_data.default", "aten._log_softmax_backward_data.default"})
    expectDifferentiable(op, calling(op, {none, none, std::int64_t{1}, DType::Float64}), {x, y});
}

TEST(LayerGradients, OfFourierTransforms) {
  const Tensor real = numbers({2, 5, 4}, 49), complex = randomNumbers({2, 5, 3}, 50, DType::Complex128);
  for (const std::int64_t normalization : {0, 1, 2}) {
    for (const bool oneSided : {true, false})
      expectDifferentiable("r2c", calling("aten._fft_r2c.default", {none, ints({0, 2}), normalization, flag(oneSided)}), {real});
    for (const bool forward : {true, false})
      expectDifferentiable("c2c", calling("aten._fft_c2c.default", {none, ints({1, 2}), normalization, flag(forward)}), {complex});
    for (const std::int64_t size : {4, 5})
      expectDifferentiable("c2r", calling("aten._fft_c2r.default", {none, ints({1, 2}), normalization, size}), {complex});
  }
  expectDifferentiable("odd r2c", calling("aten._fft_r2c.default", {none, ints({1}), std::int64_t{0}, flag(true)}), {real});
}

/// Draws are the same in every run of the program: the generator starts anew.
TensorProgram seeded(const TensorProgram& program) {
  return [program](const Tensors& x, const OpRunner& run) -> Result<Tensors> {
    const RandomScope scope;
    return program(x, run);
  };
}

TEST(LayerGradients, OfDropoutAndRandomSlopes) {
  const Tensor x = numbers({4, 5}, 51);
  expectDifferentiable("dropout", seeded(calling("aten.native_dropout.default", {none, 0.4, flag(true)})), {x});
  expectDifferentiable("no dropout", seeded(calling("aten.native_dropout.default", {none, 0.4, flag(false)})), {x});
  expectDifferentiable("fused dropout", seeded(calling("aten._fused_dropout.default", {none, 0.4})), {x});
  const Value low(0.1), high(0.4);
  for (const bool training : {true, false}) {
    expectDifferentiable("rrelu", seeded(calling("aten.rrelu.default", {none, low, high, flag(training)})), {x});
    const auto functional = [&](const Tensors& t, const OpRunner& run) -> Result<Tensors> {
      KERF_TRY(const Value all, run.value("aten.rrelu_with_noise_functional.default"_op, {t[0], x, low, high, training}));
      return Tensors{all.list()[0].tensor()};
    };
    expectDifferentiable("rrelu_with_noise", seeded(functional), {x});
  }
}

/// As derivatives.yaml has it: draws take zeros back to their parameters, factories nothing.
TEST(LayerGradients, OfDrawsAreZeros) {
  const Tensor p = callTensor("aten.sigmoid.default", {numbers({3}, 52)});
  for (const char* name : {"aten.bernoulli.default", "aten.poisson.default", "aten.normal.Tensor_float", "aten.exponential.default"}) {
    const OpInfo& op = *findOp(name);
    const BoundArguments args = bindArguments(op, {p}, {}).value();
    const ValueList results{p};
    const auto grads = op.gradient({args, results}, {p}, OpRunner(referenceOps()));
    ASSERT_TRUE(grads) << name << ": " << grads.error().text();
    EXPECT_EQ(valuesOf((*grads)[0].tensor()), (std::vector<double>{0, 0, 0})) << name;
  }
  for (const char* name : {"aten.rand.default", "aten.randn_like.default", "aten.randint.low", "aten.multinomial.default"})
    EXPECT_EQ(findOp(name)->gradient, nothingFlows) << name;
}

/// What nobody wants is not computed: PyTorch's output_mask.
TEST(LayerGradients, AskForWhatIsWanted) {
  const OpInfo& op = *findOp("aten.convolution.default");
  const Tensor x = numbers({1, 1, 3, 3}, 53), w = numbers({1, 1, 2, 2}, 54);
  const Value one = ints({1, 1}), zero = ints({0, 0});
  const BoundArguments args = bindArguments(op, {x, w, none, one, zero, one, false, zero, std::int64_t{1}}, {}).value();
  const ValueList results{callTensor("aten.convolution.default", args.values)};
  const auto grads = op.gradient({args, results, {false, true, false, false, false, false, false, false, false}}, results, OpRunner(referenceOps()));
  ASSERT_TRUE(grads) << grads.error().text();
  EXPECT_TRUE((*grads)[0].isNone());
  EXPECT_EQ((*grads)[1].tensor().sizes(), w.sizes());
}

}  // namespace
}  // namespace kerf
