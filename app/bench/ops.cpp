#include "app/bench/ops.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// One op of the table: sizes of its tensor arguments, what else it takes, and what a call costs.
struct OpRow {
  const char* name;
  const char* family;
  const char* target;
  std::vector<Sizes> tensors;
  ValueList rest;            ///< after the tensors
  double operations = 0;     ///< floating-point operations of a call
  bool integerLast = false;  ///< the last tensor holds row numbers below 1000
};

Value ints(std::initializer_list<std::int64_t> values) { return intList(Sizes(values)); }
const Value none;

/// Medium sizes: a million elements for what moves data, a few hundred million operations for what multiplies.
const std::vector<OpRow>& opRows() {
  constexpr double conv = 2.0 * 8 * 64 * 28 * 28 * 64 * 9;
  static const std::vector<OpRow> rows{
      {"add", "pointwise", "aten.add.Tensor", {{1024, 1024}, {1024, 1024}}, {}},
      {"mul_row", "pointwise", "aten.mul.Tensor", {{1024, 1024}, {1024}}, {}},
      {"exp", "pointwise", "aten.exp.default", {{1024, 1024}}, {}},
      {"erf", "pointwise", "aten.erf.default", {{1024, 1024}}, {}},
      {"tanh", "pointwise", "aten.tanh.default", {{1024, 1024}}, {}},
      {"gelu", "pointwise", "aten.gelu.default", {{1024, 1024}}, {}},
      {"where", "pointwise", "aten.where.self", {{1024, 1024}, {1024, 1024}, {1024, 1024}}, {}},
      {"sum", "reduction", "aten.sum.default", {{1024, 1024}}, {}},
      {"sum_rows", "reduction", "aten.sum.dim_IntList", {{1024, 1024}}, {ints({1})}},
      {"sum_columns", "reduction", "aten.sum.dim_IntList", {{1024, 1024}}, {ints({0})}},
      {"amax_rows", "reduction", "aten.amax.default", {{1024, 1024}}, {ints({1})}},
      {"var_mean", "reduction", "aten.var_mean.correction", {{1024, 1024}}, {ints({1})}},
      {"argmax", "reduction", "aten.argmax.default", {{1024, 1024}}, {std::int64_t{1}}},
      {"cumsum", "scan", "aten.cumsum.default", {{1024, 1024}}, {std::int64_t{1}}},
      {"softmax", "softmax", "aten._softmax.default", {{1024, 1024}}, {std::int64_t{1}, false}},
      {"log_softmax", "softmax", "aten._log_softmax.default", {{1024, 1024}}, {std::int64_t{1}, false}},
      {"layer_norm",
       "normalization",
       "aten.native_layer_norm.default",
       {{1024, 1024}},
       {ints({1024}), none, none, 1e-5}},
      {"batch_norm",
       "normalization",
       "aten.native_batch_norm.default",
       {{16, 64, 32, 32}},
       {none, none, none, none, true, 0.1, 1e-5}},
      {"transpose", "copy", "aten.transpose_copy.int", {{1024, 1024}}, {std::int64_t{0}, std::int64_t{1}}},
      {"clone", "copy", "aten.clone.default", {{1024, 1024}}, {}},
      {"mm", "matmul", "aten.mm.default", {{512, 512}, {512, 512}}, {}, 2.0 * 512 * 512 * 512},
      {"bmm", "matmul", "aten.bmm.default", {{64, 128, 64}, {64, 64, 128}}, {}, 2.0 * 64 * 128 * 128 * 64},
      {"convolution",
       "convolution",
       "aten.convolution.default",
       {{8, 64, 28, 28}, {64, 64, 3, 3}},
       {none, ints({1, 1}), ints({1, 1}), ints({1, 1}), false, ints({0, 0}), std::int64_t{1}},
       conv},
      {"depthwise",
       "convolution",
       "aten.convolution.default",
       {{8, 64, 56, 56}, {64, 1, 3, 3}},
       {none, ints({1, 1}), ints({1, 1}), ints({1, 1}), false, ints({0, 0}), std::int64_t{64}},
       2.0 * 8 * 64 * 56 * 56 * 9},
      {"max_pool",
       "pooling",
       "aten.max_pool2d_with_indices.default",
       {{8, 64, 56, 56}},
       {ints({3, 3}), ints({2, 2}), ints({1, 1})}},
      {"avg_pool", "pooling", "aten.avg_pool2d.default", {{8, 64, 56, 56}}, {ints({2, 2})}},
      {"upsample", "upsampling", "aten.upsample_nearest2d.default", {{8, 64, 28, 28}}, {ints({56, 56})}},
      {"embedding", "indexing", "aten.embedding.default", {{1000, 768}, {1024}}, {}, 0, true},
      {"index_select", "indexing", "aten.index_select.default", {{1000, 768}, {1024}}, {}, 0, true},
      {"sort", "sorting", "aten.sort.default", {{256, 1024}}, {std::int64_t{1}}},
      {"attention",
       "attention",
       "aten._scaled_dot_product_flash_attention_for_cpu.default",
       {{4, 12, 128, 64}, {4, 12, 128, 64}, {4, 12, 128, 64}},
       {},
       4.0 * 4 * 12 * 128 * 128 * 64},
  };
  return rows;
}

/// Standard normal numbers from a fixed seed.
Result<Tensor> normal(const Sizes& sizes, DType dtype) {
  KERF_TRY(const Tensor wide, Tensor::zeros(DType::Float32, sizes));
  std::mt19937 random(1);
  std::normal_distribution<float> draw;
  for (std::int64_t i = 0; i < wide.numel(); ++i) wide.data<float>()[i] = draw(random);
  return wide.to(dtype);
}

Result<Tensor> rowNumbers(const Sizes& sizes) {
  KERF_TRY(const Tensor numbers, Tensor::zeros(DType::Int64, sizes));
  std::mt19937 random(2);
  for (std::int64_t i = 0; i < numbers.numel(); ++i) numbers.data<std::int64_t>()[i] = random() % 1000;
  return numbers;
}

Result<ValueList> argumentsOf(const OpRow& row, DType dtype) {
  ValueList args;
  for (std::size_t i = 0; i < row.tensors.size(); ++i) {
    const bool numbers = row.integerLast && i + 1 == row.tensors.size();
    const bool condition = std::string_view(row.name) == "where" && i == 0;
    KERF_TRY(Tensor tensor,
             numbers ? rowNumbers(row.tensors[i]) : normal(row.tensors[i], condition ? DType::Bool : dtype));
    args.emplace_back(std::move(tensor));
  }
  if (std::string_view(row.name) == "index_select") args.insert(args.begin() + 1, Value(std::int64_t{0}));
  args.insert(args.end(), row.rest.begin(), row.rest.end());
  return args;
}

Result<BenchWork> prepareOp(const OpBenchCase& bench) {
  const OpRow& row = opRows()[bench.op];
  KERF_TRY(ValueList args, argumentsOf(row, bench.dtype));
  return BenchWork([target = std::string(row.target), args = std::move(args)]() -> Result<void> {
    KERF_CHECK(referenceOps().call(target, args, {}));
    return {};
  });
}

double bytesOf(const OpRow& row, DType dtype) {
  double largest = 0, all = 0;
  for (const Sizes& sizes : row.tensors) {
    double count = double(itemSize(dtype));
    for (const std::int64_t size : sizes) count *= double(size);
    all += count;
    largest = std::max(largest, count);
  }
  return std::string_view(row.family) == "reduction" ? all : all + largest;
}

double medianOf(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

const std::vector<OpBenchCase>& opBenchCases() {
  static const std::vector<OpBenchCase> cases = [] {
    std::vector<OpBenchCase> all;
    for (std::size_t i = 0; i < opRows().size(); ++i)
      for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16}) {
        const OpRow& row = opRows()[i];
        all.push_back({fmt::format("{}.{}", row.name, dtypeInfo(dtype).shortCode), row.family, bytesOf(row, dtype),
                       row.operations, prepareOp, i, dtype});
      }
    return all;
  }();
  return cases;
}

Result<double> medianTime(const OpBenchCase& bench, int repeats) {
  KERF_TRY(const BenchWork work, bench.prepare(bench));
  auto warm = work();
  if (!warm) return fail(warm.error().while_("running benchmark " + bench.name));
  std::vector<double> times;
  for (int i = 0; i < std::max(3, repeats); ++i) {
    const auto start = Clock::now();
    KERF_CHECK(work());
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return medianOf(times);
}

}  // namespace kerf::bench
