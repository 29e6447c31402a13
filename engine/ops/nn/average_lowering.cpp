// Averages over windows as loops, and their gradients.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/windows.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;
using enum ExprOp;

// --- averages: (self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), from `first` on

template <std::size_t spatial>
std::optional<PoolWindows> averageWindows(const BoundArguments& bound, std::size_t first) {
  if (bound.integerIf(first + 5) == 0 || !isFloating(bound.tensor(0).dtype())) return std::nullopt;
  return windowsOf(bound, bound.tensor(first - 1), spatial, first, false, first + 3);
}

template <std::size_t spatial>
bool coversAverage(const BoundArguments& bound) {
  const auto windows = averageWindows<spatial>(bound, 1);
  return windows && windows->cells() <= mostCells;
}

/// What the average of a window is divided by. `starts`: first places of the window, padding counted, int64.
int divisor(Call c, const PoolWindows& w, const std::vector<int>& starts, std::size_t first, DType dtype) {
  if (const auto given = c.bound.integerIf(first + 5)) return c.b.constant(double(*given), dtype);
  const bool includePadding = c.bound.boolean(first + 4);
  std::int64_t fixed = 1;
  int count = -1;
  for (std::size_t d = 0; d < w.spatial(); ++d) {
    const std::int64_t last = (w.out[d] - 1) * w.stride[d] - w.padding[d] + w.kernel[d];
    const bool reachesOut = last > w.in[d] + (includePadding ? w.padding[d] : 0);
    if (!reachesOut && (includePadding || w.padding[d] == 0)) {
      fixed *= w.kernel[d];
      continue;
    }
    int end = c.b.binary(Add, starts[d], c.number(w.kernel[d]));
    end = c.b.binary(Minimum, end, c.number(w.in[d] + (includePadding ? w.padding[d] : 0)));
    const int begin = includePadding ? starts[d] : c.b.binary(Maximum, starts[d], c.number(0));
    const int length = c.b.binary(Sub, end, begin);
    count = count < 0 ? length : c.b.binary(Mul, count, length);
  }
  if (count < 0) return c.b.constant(double(fixed), dtype);
  return c.b.convert(fixed == 1 ? count : c.b.binary(Mul, count, c.number(fixed)), dtype);
}

template <std::size_t spatial>
int averagePool(Call c) {
  const PoolWindows w = *averageWindows<spatial>(c.bound, 1);
  int sum = -1;
  for (std::int64_t k = 0; k < w.cells(); ++k) {
    const int value = loadCell(c, cellAt(c, w, k), DType::Float64);
    sum = sum < 0 ? value : c.b.binary(Add, sum, value);
  }
  std::vector<int> starts;
  for (std::size_t d = 0; d < spatial; ++d)
    starts.push_back(
        c.b.index(c.map[c.map.size() - spatial + d] * SymInt(w.stride[d]) + Affine::number(-w.padding[d])));
  return c.b.binary(Div, sum, divisor(c, w, starts, 1, DType::Float64));
}

template <std::size_t spatial>
bool coversAverageBackward(const BoundArguments& bound) {
  const auto windows = averageWindows<spatial>(bound, 2);
  const DType dtype = bound.tensor(0).dtype();  // what 16 bits hold is rounded share by share
  return windows && mostLooking(*windows) <= mostCells && (dtype == DType::Float32 || dtype == DType::Float64);
}

/// Shares are rounded, and summed in the tensor's type.
template <std::size_t spatial>
int averagePoolBackward(Call c) {
  const PoolWindows w = *averageWindows<spatial>(c.bound, 2);
  int sum = c.b.constant(0, c.dtype);
  forLooking(c, w, [&](const std::vector<Place>& places, int condition) {
    std::vector<int> starts;
    for (std::size_t d = 0; d < spatial; ++d) {
      const int window = c.b.binary(Mul, places[places.size() - spatial + d].computed, c.number(w.stride[d]));
      starts.push_back(c.b.binary(Sub, window, c.number(w.padding[d])));
    }
    const int grad = c.b.convert(c.operands.at(0, 0, places), DType::Float64);
    const int share = c.b.convert(c.b.binary(Div, grad, divisor(c, w, starts, 2, DType::Float64)), c.dtype);
    sum = c.b.binary(Add, sum, condition < 0 ? share : c.b.select(condition, share, c.b.constant(0, c.dtype)));
  });
  return sum;
}

constexpr OpFacts dear(OpFacts row) {
  row.lowering.cost = 32;
  return row;
}

constexpr OpFacts averageLoweringsRows[] = {
    dear(elementLowering("aten::avg_pool2d", averagePool<2>, coversAverage<2>)),
    dear(elementLowering("aten::avg_pool3d", averagePool<3>, coversAverage<3>)),
    dear(elementLowering("aten::avg_pool2d_backward", averagePoolBackward<2>, coversAverageBackward<2>)),
    dear(elementLowering("aten::avg_pool3d_backward", averagePoolBackward<3>, coversAverageBackward<3>)),
};

const OpRegistration averageLowerings({.facts = averageLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
