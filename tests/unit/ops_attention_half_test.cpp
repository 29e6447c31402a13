// Attention of 16-bit floats in the CPU's form, a block of queries at a time, beside float64's on the same numbers.
#include <cmath>

#include <gtest/gtest.h>

#include "engine/ops/core/op_registry.h"
#include "engine/support/thread_pool.h"

namespace kerf {
namespace {

Tensor spread(DType dtype, const Sizes& sizes, double phase) {
  const Tensor wide = Tensor::zeros(DType::Float32, sizes).value();
  for (std::int64_t i = 0; i < wide.numel(); ++i)
    wide.data<float>()[i] = float(std::sin(double(i) * double(i) + phase));
  return wide.to(dtype).value();
}

/// Output and three gradients in `dtype`, of numbers that `source` has.
std::vector<Tensor> attendedAs(DType source, DType dtype, std::int64_t queries, std::int64_t keys, bool causal) {
  const auto given = [&](const Sizes& sizes, double phase) {
    return Value(spread(source, sizes, phase).to(dtype).value());
  };
  const Value q = given({2, 4, queries, 24}, 1), k = given({2, 2, keys, 24}, 2), v = given({2, 2, keys, 24}, 3),
              grad = given({2, 4, queries, 24}, 4);
  const std::string op = "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu";
  const auto out = referenceOps().call(op + ".default", {q, k, v, 0.0, causal}, {});
  EXPECT_TRUE(out) << out.error().text();
  const auto grads =
      referenceOps().call(op + "_backward.default", {grad, q, k, v, out->list()[0], out->list()[1], 0.0, causal}, {});
  EXPECT_TRUE(grads) << grads.error().text();
  std::vector<Tensor> all{out->list()[0].tensor()};
  for (const Value& value : grads->list()) all.push_back(value.tensor());
  for (Tensor& tensor : all) tensor = tensor.to(DType::Float64)->contiguous().value();
  return all;
}

/// Root of the mean square of the differences over that of the numbers.
double relativeError(const Tensor& given, const Tensor& wanted) {
  double differences = 0, squares = 0;
  for (std::int64_t i = 0; i < wanted.numel(); ++i) {
    const double a = given.data<double>()[i], b = wanted.data<double>()[i];
    differences += (a - b) * (a - b), squares += b * b;
  }
  return std::sqrt(differences / squares);
}

TEST(HalfAttention, IsAsExactAsItsType) {
  const std::pair<DType, double> types[] = {{DType::BFloat16, 8e-3}, {DType::Float16, 1e-3}};
  for (const auto& [dtype, most] : types)
    for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{130, 141}, {97, 300}, {30, 20}})
      for (const bool causal : {false, true}) {
        const auto given = attendedAs(dtype, dtype, queries, keys, causal);
        const auto wanted = attendedAs(dtype, DType::Float64, queries, keys, causal);
        for (std::size_t t = 0; t < given.size(); ++t)
          EXPECT_LE(relativeError(given[t], wanted[t]), most) << queries << " by " << keys << ", " << t;
      }
}

TEST(HalfAttention, HasTheSameBitsOnAnyNumberOfThreads) {
  for (const DType dtype : {DType::BFloat16, DType::Float16}) {
    setThreadCount(1);
    const auto one = attendedAs(dtype, dtype, 150, 170, true);
    for (const int threads : {2, 7}) {
      setThreadCount(threads);
      const auto many = attendedAs(dtype, dtype, 150, 170, true);
      for (std::size_t t = 0; t < one.size(); ++t)
        for (std::int64_t i = 0; i < one[t].numel(); ++i)
          ASSERT_EQ(one[t].data<double>()[i], many[t].data<double>()[i]) << threads << " threads, " << t << ", " << i;
    }
    setThreadCount(2);
  }
}

}  // namespace
}  // namespace kerf
