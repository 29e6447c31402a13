// Attention of 16-bit floats in the CPU's form, a block of queries at a time, beside float64's on the same numbers.
#include <algorithm>
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

double rounded(double value, DType dtype) {
  Tensor one = Tensor::zeros(DType::Float64, {1}).value();
  one.data<double>()[0] = value;
  return one.to(dtype)->itemAsDouble(0);
}

/// A row of softmax(q k^T / sqrt(width)) v, whose exponentials are rounded before they weigh v, but not for their sum.
std::vector<double> attendedRow(const double* q, const Tensor& k, const Tensor& v, DType dtype) {
  const std::int64_t keys = k.size(0), width = k.size(1);
  auto weights = std::vector<double>(std::size_t(keys), 0), row = std::vector<double>(std::size_t(width), 0);
  for (std::int64_t j = 0; j < keys; ++j)
    for (std::int64_t d = 0; d < width; ++d)
      weights[std::size_t(j)] += q[d] * k.data<double>()[j * width + d] / std::sqrt(double(width));
  const double most = *std::ranges::max_element(weights);
  double sum = 0;
  for (std::int64_t j = 0; j < keys; ++j) {
    const double weight = std::exp(weights[std::size_t(j)] - most);
    const double narrow = rounded(weight, dtype);
    sum += weight;
    for (std::int64_t d = 0; d < width; ++d) row[std::size_t(d)] += narrow * v.data<double>()[j * width + d];
  }
  for (double& value : row) value = rounded(value / sum, dtype);
  return row;
}

/// Of what is not rounded there, two elements in five would be another number.
TEST(HalfAttention, RoundsWeightsAsTheKernelOfTheCpuDoes) {
  constexpr std::int64_t queries = 97, keys = 300, width = 24;
  for (const DType dtype : {DType::BFloat16, DType::Float16}) {
    const auto given = [&](std::int64_t rows, double phase) { return spread(dtype, {1, 1, rows, width}, phase); };
    const Tensor q = given(queries, 1), k = given(keys, 2), v = given(keys, 3);
    const auto out = referenceOps().call("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default",
                                         {Value(q), Value(k), Value(v), 0.0, false}, {});
    ASSERT_TRUE(out) << out.error().text();
    const Tensor attended = out->list()[0].tensor().to(DType::Float64)->contiguous().value();
    const auto matrix = [](const Tensor& t, std::int64_t rows) {
      Tensor wide = Tensor::zeros(DType::Float64, {rows, width}).value();
      for (std::int64_t i = 0; i < wide.numel(); ++i) wide.data<double>()[i] = t.itemAsDouble(i);
      return wide;
    };
    const Tensor wideQ = matrix(q, queries), wideK = matrix(k, keys), wideV = matrix(v, keys);
    std::int64_t same = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
      const auto row = attendedRow(wideQ.data<double>() + i * width, wideK, wideV, dtype);
      for (std::int64_t d = 0; d < width; ++d) same += row[std::size_t(d)] == attended.data<double>()[i * width + d];
    }
    EXPECT_GE(double(same) / double(queries * width), 0.98) << int(dtype);
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
