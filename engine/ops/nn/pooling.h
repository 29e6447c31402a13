// The geometry of sliding windows over planes, for all pooling ops.
#pragma once

#include "engine/ops/core/op_call.h"
#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {

/// Sizes of windows and of one plane, which may be expressions.
struct PoolShape {
  SymSizes kernel, stride, padding, dilation, inSizes, outSizes;

  SymSizes resultSizes(const Tensor& input) const;
};

/// Windows of one plane (all leading dimensions are planes).
struct PoolPlan {
  Sizes kernel, stride, padding, dilation, inSizes, outSizes;
  std::int64_t planes = 1;

  /// visit(at) for every output position of a plane, row-major.
  template <class Visit>
  void forOutputs(Visit&& visit) const {
    forBox(outSizes, visit);
  }
  /// visit(flat input position, index in window) for the window cells at output position `at` that lie in the plane.
  template <class Visit>
  void forWindow(const Sizes& at, Visit&& visit) const {
    std::int64_t index = -1;
    forBox(kernel, [&](const Sizes& cell) {
      ++index;
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < cell.size(); ++d) {
        const std::int64_t x = at[d] * stride[d] - padding[d] + cell[d] * dilation[d];
        if (x < 0 || x >= inSizes[d]) return;
        flat = flat * inSizes[d] + x;
      }
      visit(flat, index);
    });
  }
  /// Flat input position of window cell `index` at output position `at`.
  std::int64_t flatPosition(const Sizes& at, std::int64_t index) const {
    std::int64_t flat = 0;
    std::int64_t scale = 1;
    for (std::size_t d = kernel.size(); d-- > 0; index /= kernel[d]) {
      flat += (at[d] * stride[d] - padding[d] + index % kernel[d] * dilation[d]) * scale;
      scale *= inSizes[d];
    }
    return flat;
  }

  template <class Visit>
  static void forBox(const Sizes& sizes, Visit&& visit) {
    Sizes at(sizes.size(), 0);
    for (std::int64_t size : sizes)
      if (size <= 0) return;
    while (true) {
      visit(std::as_const(at));
      std::size_t d = sizes.size();
      while (d-- > 0) {
        if (++at[d] < sizes[d]) break;
        at[d] = 0;
      }
      if (d == std::size_t(-1)) return;
    }
  }
};

SymInt poolLength(SymInt input, SymInt kernel, SymInt stride, SymInt padding, SymInt dilation, bool ceilMode);
/// Checks ranks and sizes. Empty stride means kernel, empty padding 0, empty dilation 1.
Result<PoolShape> poolShape(const BoundArguments& args, const Tensor& input, std::size_t spatial,
                            const SymSizes& kernel, const SymSizes& stride, const SymSizes& padding,
                            const SymSizes& dilation, bool ceilMode);
/// The same for a tensor with data.
Result<PoolPlan> poolPlan(const BoundArguments& args, const Tensor& input, std::size_t spatial, const Sizes& kernel,
                          const Sizes& stride, const Sizes& padding, const Sizes& dilation, bool ceilMode);
/// Output meta in the input's memory format.
Result<Tensor> pooledMeta(const Tensor& input, const SymSizes& sizes, DType dtype);

/// body(plane number, its elements as double, row-major) for every plane in order.
template <class Body>
Result<void> forPlanes(const PoolPlan& plan, const Tensor& input, Body&& body) {
  KERF_TRY(const Tensor wide, input.to(DType::Float64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  std::int64_t size = 1;
  for (std::int64_t s : plan.inSizes) size *= s;
  for (std::int64_t p = 0; p < plan.planes; ++p) {
    const double* data = flat.data<double>() + p * size;
    body(p, std::vector<double>(data, data + size));
  }
  return {};
}

}  // namespace kerf::inline ops
