// Runs of Kerf's kernels on made-up factors.
#include "engine/passes/joint/padding_benchmark.h"

#include <algorithm>
#include <chrono>

#include "engine/passes/joint/padding_times_file.h"

namespace kerf::inline passes {

namespace {

constexpr int runs = 5;
constexpr std::int64_t mostElements = 64'000'000;

std::int64_t elements(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

using Write = Value (*)(const CallMaker&, std::span<const Value>, const PaddedProduct&);

Result<double> seconds(Write write, const ValueList& inputs, const PaddedProduct& product) {
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    Result<void> state;
    const CallMaker call = [&state](const OpTarget& op, const ValueList& args, const KeywordValues& kwargs) -> Value {
      if (!state) return {};
      auto result = referenceOps().call(op, args, kwargs);
      if (result) return std::move(*result);
      state = fail(std::move(result).error());
      return {};
    };
    const auto start = std::chrono::steady_clock::now();
    const Value made = write(call, inputs, product);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    KERF_CHECK(state);
    best = i == 0 ? time.count() : std::min(best, time.count());
  }
  return best;
}

std::string keyOf(const PaddedProduct& p) {
  return fmt::format("{} {} {} [{}] [{}] [{}]", opName(p.op), int(p.dtype), p.alignment, fmt::join(p.left, ","),
                     fmt::join(p.right, ","), fmt::join(p.added, ","));
}

}  // namespace

Result<PaddingBenchmark::Times> PaddingBenchmark::times(const PaddedProduct& product) {
  const std::string key = keyOf(product);
  const std::scoped_lock lock(m_mutex);
  if (const auto known = m_times.find(key); known != m_times.end()) return known->second;
  if (elements(product.left) + elements(product.right) > mostElements || product.m() * product.n() > mostElements)
    return fail(ErrorCode::TooLarge, "a product of [{}] and [{}] is not measured", fmt::join(product.left, ", "),
                fmt::join(product.right, ", "));
  ValueList inputs;
  for (const Sizes* sizes : {&product.left, &product.right, &product.added}) {
    if (sizes == &product.added && !product.term.valid()) continue;
    KERF_TRY(Tensor tensor, Tensor::zeros(product.dtype, *sizes));
    inputs.emplace_back(std::move(tensor));
  }
  Times times;
  KERF_TRY(times.plain, seconds(writePlain, inputs, product));
  KERF_TRY(times.padded, seconds(writePadded, inputs, product));
  m_times.emplace(key, times);
  save();
  return times;
}

void PaddingBenchmark::keepIn(const std::filesystem::path& file) {
  const std::scoped_lock lock(m_mutex);
  if (file == m_file) return;
  m_file = file;
  for (const auto& [key, times] : readPaddingTimes(file)) m_times.emplace(key, Times{times.plain, times.padded});
}

void PaddingBenchmark::save() const {
  if (m_file.empty()) return;
  PaddingTimes all = readPaddingTimes(m_file);  // another process may have added to it
  for (const auto& [key, times] : m_times) all.insert_or_assign(key, PaddingTime{times.plain, times.padded});
  writePaddingTimes(m_file, all);
}

std::size_t PaddingBenchmark::measured() const {
  const std::scoped_lock lock(m_mutex);
  return m_times.size();
}

PaddingBenchmark& PaddingBenchmark::shared() {
  static PaddingBenchmark benchmark;
  return benchmark;
}

}  // namespace kerf::inline passes
