// Attention and its gradients: the same bits on any number of threads, and close to float64's.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "engine/ops/core/op_registry.h"
#include "engine/support/thread_pool.h"

namespace kerf {
namespace {

Tensor drawn(DType dtype, const Sizes& sizes, unsigned seed) {
  std::mt19937 random(seed);
  const Tensor wide = Tensor::zeros(DType::Float32, sizes).value();
  for (std::int64_t i = 0; i < wide.numel(); ++i) wide.data<float>()[i] = float(double(random()) / 2147483648.0 - 1);
  return wide.to(dtype).value();
}

/// Output, logarithms of sums, and the three gradients.
std::vector<Tensor> attended(DType dtype, std::int64_t queries, std::int64_t keys, bool causal) {
  const Tensor q = drawn(dtype, {1, 2, queries, 16}, 1), k = drawn(dtype, {1, 2, keys, 16}, 2);
  const Tensor v = drawn(dtype, {1, 2, keys, 16}, 3), grad = drawn(dtype, {1, 2, queries, 16}, 4);
  const Value none;
  const auto forward = referenceOps().call("torch.ops.aten._scaled_dot_product_efficient_attention.default",
                                           {Value(q), Value(k), Value(v), none, true, 0.0, causal}, {});
  EXPECT_TRUE(forward) << forward.error().text();
  const ValueList& out = forward->list();
  const ValueList wanted{true, true, true, false};
  const auto backward = referenceOps().call(
      "torch.ops.aten._scaled_dot_product_efficient_attention_backward.default",
      {Value(grad), Value(q), Value(k), Value(v), none, out[0], out[1], out[2], out[3], 0.0, Value(wanted), causal},
      {});
  EXPECT_TRUE(backward) << backward.error().text();
  std::vector<Tensor> all{out[0].tensor().contiguous().value(), out[1].tensor().contiguous().value()};
  for (std::size_t i = 0; i < 3; ++i) all.push_back(backward->list()[i].tensor().contiguous().value());
  return all;
}

TEST(AttentionThreads, HaveTheSameBitsOnAnyNumber) {
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{300, 310}, {97, 64}, {1, 700}, {33, 2100}})
    for (const bool causal : {false, true}) {
      setThreadCount(1);
      const auto one = attended(DType::Float32, queries, keys, causal);
      for (const int threads : {2, 7, 64}) {
        setThreadCount(threads);
        const auto many = attended(DType::Float32, queries, keys, causal);
        for (std::size_t t = 0; t < one.size(); ++t)
          for (std::int64_t i = 0; i < one[t].numel(); ++i)
            ASSERT_EQ(one[t].data<float>()[i], many[t].data<float>()[i]) << threads << " threads, " << t << ", " << i;
      }
      setThreadCount(2);
      const auto wide = attended(DType::Float64, queries, keys, causal);
      for (std::size_t t = 0; t < one.size(); ++t)
        for (std::int64_t i = 0; i < one[t].numel(); ++i)
          ASSERT_NEAR(one[t].itemAsDouble(i), wide[t].itemAsDouble(i), 1e-5) << t << ", " << i;
    }
}

}  // namespace
}  // namespace kerf
