// Gradients and tangents of layers by differences, where PyTorch's recorded calls leave something out; second
// derivatives by those of their backward ops.
#include "ops_gradient_testing.h"

namespace kerf {
namespace {

using namespace testing;

const Value none, yes(true), no(false), all = ValueList{true, true, true}, two = ints({2, 2}), one = ints({1, 1});
const Value zero(std::int64_t{0});

Tensor numbers(const Sizes& sizes, unsigned seed) { return randomNumbers(sizes, seed); }

TEST(LayerGradients, OfNormsAndTheirStatistics) {
  const Tensor x = numbers({2, 3, 4}, 1), w = numbers({4}, 2), b = numbers({4}, 3), image = numbers({2, 4, 3}, 4);
  const std::vector<std::size_t> results{0, 1, 2};
  checkCall("aten.native_layer_norm.default", {none, ints({4}), none, none, 1e-2}, {x, w, b}, {}, results);
  checkCall("aten.native_layer_norm.default", {none, ints({2, 3, 4}), none, none, 1e-2}, {x, x, x});
  const Value n(std::int64_t{2}), channels(std::int64_t{4}), area(std::int64_t{3}), groups(std::int64_t{2});
  checkCall("aten.native_group_norm.default", {none, none, none, n, channels, area, groups, 1e-2}, {image, w, b}, {},
            results);
  checkCall("aten._native_batch_norm_legit.no_stats", {none, none, none, yes, 0.1, 1e-2}, {image, w, b}, {}, results);
  const Tensor mean = numbers({4}, 5), variance = tensorOf({4}, {1, 2, 0.5, 1}, DType::Float64);
  checkCall("aten._native_batch_norm_legit_no_training.default", {none, none, none, mean, variance, 0.1, 1e-2},
            {image, w, b});
}

TEST(LayerGradients, OfNormsTwice) {
  const Value n(std::int64_t{2}), channels(std::int64_t{4}), area(std::int64_t{3}), groups(std::int64_t{2});
  const Tensor x = numbers({2, 4, 3}, 6), g = numbers({2, 4, 3}, 7), w = numbers({4}, 8), wide = numbers({3}, 9);
  const std::vector<std::size_t> results{0, 1, 2};
  checkCall("aten.native_layer_norm_backward.default", {none, none, ints({3}), none, none, none, wide, all},
            {g, x, numbers({2, 4, 1}, 10), numbers({2, 4, 1}, 11), wide}, {}, results);
  checkCall("aten.native_group_norm_backward.default", {none, none, none, none, none, n, channels, area, groups, all},
            {g, x, numbers({2, 2}, 12), numbers({2, 2}, 13), w}, {}, results);
  const Tensor running = tensorOf({4}, {1, 2, 0.5, 1}, DType::Float64);
  const char* backward = "aten.native_batch_norm_backward.default";
  checkCall(backward, {none, none, none, running, running, none, none, yes, 1e-2, all},
            {g, x, w, numbers({4}, 14), numbers({4}, 15)}, {}, results);
  checkCall(backward, {none, none, none, running, running, none, none, no, 1e-2, all}, {g, x, w}, {}, results);
}

TEST(LayerGradients, OfConvolutionsTwice) {
  const Value groups(std::int64_t{1});
  for (const DType dtype : {DType::Float64, DType::Complex128})
    for (const bool transposed : {false, true}) {
      const Sizes filters = transposed ? Sizes{2, 3, 3, 2} : Sizes{3, 2, 3, 2};
      const Tensor x = randomNumbers({2, 2, 5, 4}, 16, dtype), w = randomNumbers(filters, 17, dtype);
      const Tensor b = randomNumbers({3}, 18, dtype);
      const ValueList geometry{ints({2, 1}), ints({1, 0}), one, Value(transposed), ints({0, 0}), groups};
      ValueList forward{none, none, none}, backward{none, none, none, ints({3})}, call{x, w, b};
      for (ValueList* list : {&forward, &backward, &call}) list->insert(list->end(), geometry.begin(), geometry.end());
      backward.push_back(all);
      checkCall("aten.convolution.default", forward, {x, w, b});
      const Tensor grad = randomNumbers(callTensor("aten.convolution.default", call).sizes(), 19, dtype);
      checkCall("aten.convolution_backward.default", backward, {grad, x, w}, {}, {0, 1, 2});
    }
}

TEST(LayerGradients, OfAttention) {
  const Tensor q = numbers({2, 2, 3, 4}, 20), k = numbers({2, 2, 5, 4}, 21), v = numbers({2, 2, 5, 4}, 22);
  const Tensor square = numbers({2, 2, 3, 4}, 23), bias = numbers({2, 1, 3, 5}, 24);
  const Tensor seen = tensorOf({3, 5}, {1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1}, DType::Bool);
  const char* flash = "aten._scaled_dot_product_flash_attention_for_cpu.default";
  checkCall(flash, {none, none, none, 0.0, no}, {q, k, v});
  checkCall(flash, {none, none, none, 0.0, yes}, {q, square, square}, {{"scale", 0.3}});
  for (const Tensor& mask : {bias, seen})
    checkCall(flash, {none, none, none, 0.0, no}, {q, k, v}, {{"attn_mask", mask}});
  const char* efficient = "aten._scaled_dot_product_efficient_attention.default";
  checkCall(efficient, {none, none, none, none, yes, 0.0, no}, {q, k, v, numbers({2, 2, 3, 5}, 25)});
  checkCall(efficient, {none, none, none, none, yes, 0.0, yes}, {q, square, square, numbers({2, 1, 3, 3}, 26)});
}

TEST(LayerGradients, OfPooling) {
  const Tensor x = numbers({2, 2, 5, 4}, 27), line = numbers({2, 2, 5}, 28), small = numbers({1, 1, 2, 2}, 29);
  checkCall("aten.max_pool2d_with_indices.default", {none, two, two, one, one, yes}, {x});
  checkCall("prims._low_memory_max_pool_with_offsets.default", {none, two, two, one, one, yes}, {x});
  checkCall("aten.avg_pool2d.default", {none, two, two, one, yes, no}, {x});
  checkCall("aten.adaptive_avg_pool1d.default", {none, ints({3})}, {line});
  checkCall("aten.adaptive_avg_pool2d.default", {none, ints({2, 3})}, {x});
  checkCall("aten.adaptive_max_pool1d.default", {none, ints({3})}, {line});
  checkCall("aten.adaptive_max_pool2d.default", {none, ints({2, 3})}, {x});
  const Tensor places = tensorOf({1, 1, 2, 2}, {0, 3, 8, 10}, DType::Int64);
  checkCall("aten.max_unpool2d.default", {none, places, ints({4, 4})}, {small});
}

TEST(LayerGradients, OfSampling) {
  const Tensor x = numbers({2, 2, 5, 4}, 30), grid = numbers({2, 3, 3, 2}, 31);
  for (const std::int64_t mode : {0, 2})
    checkCall("aten.grid_sampler_2d.default", {none, none, mode, zero, yes}, {x, grid});
  checkCall("aten.grid_sampler_3d.default", {none, none, zero, std::int64_t{1}, no},
            {numbers({1, 2, 3, 4, 3}, 32), numbers({1, 2, 2, 2, 3}, 33)});
  checkCall("aten._upsample_bicubic2d_aa.default", {none, ints({3, 2}), no}, {x});
}

TEST(LayerGradients, OfEmbeddingBags) {
  const Tensor rows = tensorOf({6}, {0, 3, 1, 1, 2, 3}, DType::Int64), weight = numbers({4, 3}, 34);
  const Tensor offsets = tensorOf({3}, {0, 2, 2}, DType::Int64);  // the second bag is empty
  const char* op = "aten._embedding_bag.default";
  for (const std::int64_t mode : {0, 1, 2}) checkCall(op, {none, rows, offsets, no, mode, no}, {weight});
  checkCall(op, {none, rows, offsets, no, zero, no, none}, {weight, numbers({6}, 35)});
}

TEST(LayerGradients, OfGatedUnitsTwice) {
  for (const std::int64_t dim : {0, -1})
    checkCall("aten.glu_backward.default", {none, none, dim},
              {numbers(dim == 0 ? Sizes{2, 4} : Sizes{4, 2}, 36), numbers({4, 4}, 37)});
}

/// In float32, as the op has it: against products of the groups.
TEST(LayerGradients, OfGroupedProducts) {
  const Tensor a = randomNumbers({5, 3}, 38, DType::Float32), b = randomNumbers({2, 3, 4}, 39, DType::Float32);
  const Tensor ends = tensorOf({2}, {2, 5}, DType::Int32), grad = randomNumbers({5, 4}, 40, DType::Float32);
  const OpInfo& op = *findOp("aten._grouped_mm.default");
  const BoundArguments args = bindArguments(op, {a, b, ends}, {}).value();
  const ValueList results{call("aten._grouped_mm.default", {a, b, ends})};
  const auto grads = op.gradient({args, results}, {grad}, OpRunner(referenceOps()));
  ASSERT_TRUE(grads) << grads.error().text();
  const auto rows = [](const Value& t, std::int64_t from, std::int64_t to) {
    return callTensor("aten.slice.Tensor", {t, zero, from, to});
  };
  const auto matrix = [](const Value& t, std::int64_t k) { return callTensor("aten.select.int", {t, zero, k}); };
  const auto turned = [](const Tensor& t) { return callTensor("aten.t.default", {t}); };
  const auto product = [](const Tensor& x, const Tensor& y) { return valuesOf(callTensor("aten.mm.default", {x, y})); };
  const std::int64_t bounds[] = {0, 2, 5};
  for (std::int64_t k = 0; k < 2; ++k) {
    const std::int64_t from = bounds[k], to = bounds[k + 1];
    EXPECT_EQ(valuesOf(rows((*grads)[0], from, to)), product(rows(grad, from, to), turned(matrix(b, k))));
    EXPECT_EQ(valuesOf(matrix((*grads)[1], k)), product(turned(rows(a, from, to)), rows(grad, from, to)));
  }
}

TEST(LayerGradients, OfSoftmaxes) {
  const Tensor x = numbers({3, 4}, 41), y = callTensor("aten.softmax.int", {numbers({3, 4}, 42), std::int64_t{1}});
  for (const char* op : {"aten.softmax.int", "aten.log_softmax.int", "aten._safe_softmax.default"})
    checkCall(op, {none, zero}, {x});
  for (const char* op : {"aten._softmax_backward_data.default", "aten._log_softmax_backward_data.default"})
    checkCall(op, {none, none, std::int64_t{1}, DType::Float64}, {x, y});
}

/// What nobody wants is not computed: PyTorch's output_mask.
TEST(LayerGradients, AskForWhatIsWanted) {
  const OpInfo& op = *findOp("aten.convolution.default");
  const Tensor x = numbers({1, 1, 3, 3}, 43), w = numbers({1, 1, 2, 2}, 44);
  const Value flat = ints({0, 0});
  const BoundArguments args = bindArguments(op, {x, w, none, one, flat, one, no, flat, std::int64_t{1}}, {}).value();
  const ValueList results{callTensor("aten.convolution.default", args.values)};
  std::vector<bool> wanted(9);
  wanted[1] = true;
  const auto grads = op.gradient({args, results, wanted}, results, OpRunner(referenceOps()));
  ASSERT_TRUE(grads) << grads.error().text();
  EXPECT_TRUE((*grads)[0].isNone());
  EXPECT_EQ((*grads)[1].tensor().sizes(), w.sizes());
}

}  // namespace
}  // namespace kerf
