// Index positions grouped by the cell that they name, and sums over such groups: what index_put and the embedding's
// gradient add without two threads meeting in one cell.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "engine/ops/kernels/element_math.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {

/// Where the values of one cell of self stand: index positions that name the same cell follow one another, in order.
struct IndexGroups {
  std::vector<std::size_t> order;   ///< index positions, grouped
  std::vector<std::size_t> starts;  ///< where each group begins in `order`, and the end

  explicit IndexGroups(const std::vector<std::int64_t>& offsets) : order(offsets.size()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(offsets[i], i); });
    for (std::size_t i = 0; i < order.size(); ++i)
      if (i == 0 || offsets[order[i]] != offsets[order[i - 1]]) starts.push_back(i);
    starts.push_back(order.size());
  }
  std::int64_t count() const { return std::int64_t(starts.size()) - 1; }
};

/// sums[i] += values[i * step], rounded after every addition, as PyTorch's CPU kernels do: the errors of many additions
/// are the op's own, and a reference of more precision says how large they may be.
template <class T>
void addValues(T* sums, const T* values, std::int64_t step, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (isReducedFloat<T>)
      sums[i] = T(float(sums[i]) + float(values[i * step]));
    else if constexpr (std::is_same_v<T, bool>)
      sums[i] = sums[i] || values[i * step];
    else
      sums[i] = element::add<T>(sums[i], values[i * step]);
  }
}

constexpr std::int64_t sumLength = 512;

/// One cell's run: its own elements plus those of all its values, in their order.
template <class T>
void addRun(T* cells, std::int64_t cellStep, std::int64_t count, const T* values, std::int64_t valueStep,
            std::span<const std::size_t> members, const std::vector<std::int64_t>& valueOffsets) {
  T sums[sumLength];
  for (std::int64_t begin = 0; begin < count; begin += sumLength) {
    const std::int64_t length = std::min(sumLength, count - begin);
    for (std::int64_t i = 0; i < length; ++i) sums[i] = cells[(begin + i) * cellStep];
    for (const std::size_t member : members)
      addValues<T>(sums, values + valueOffsets[member] + begin * valueStep, valueStep, length);
    for (std::int64_t i = 0; i < length; ++i) cells[(begin + i) * cellStep] = sums[i];
  }
}

}  // namespace kerf::inline ops
