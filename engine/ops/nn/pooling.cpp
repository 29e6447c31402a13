// Pooling in one to three dimensions: max with positions, average, adaptive, and the low-memory forms of Inductor.
#include "engine/ops/core/op_registration.h"

#include <algorithm>

#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/nn/pooling.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {

SymInt poolLength(SymInt input, SymInt kernel, SymInt stride, SymInt padding, SymInt dilation, bool ceilMode) {
  const SymInt rounding = ceilMode ? stride - 1 : SymInt(0);
  const SymInt length = floorDiv(input + 2 * padding - dilation * (kernel - 1) - 1 + rounding, stride) + 1;
  return ceilMode && (length - 1) * stride >= input + padding ? length - 1 : length;
}

namespace {

/// One number for all dimensions stands for each of them, none for `otherwise`.
SymSizes expanded(const SymSizes& values, std::size_t spatial, std::int64_t otherwise) {
  if (values.empty()) return SymSizes(spatial, otherwise);
  return values.size() == 1 ? SymSizes(spatial, values[0]) : values;
}

/// Windows of one dimension.
Result<void> checkWindow(const BoundArguments& args, SymInt kernel, SymInt stride, SymInt padding, SymInt dilation) {
  constexpr std::int64_t limit = 1LL << 31;
  bool valid = guardOrTrue(padding >= 0);
  for (const SymInt value : {kernel, stride, dilation})
    valid = valid && guardOrTrue(value > 0) && !staticallyKnown(value > limit);
  if (!valid) return mismatch(args, "kernel, stride and dilation must be positive, padding not negative");
  if (!guardOrTrue(padding <= floorDiv((kernel - 1) * dilation + 1, 2)))
    return mismatch(args, "padding {} is more than half of the kernel {}", padding, kernel);
  return {};
}

}  // namespace

Result<PoolShape> poolShape(const BoundArguments& args, const Tensor& input, std::size_t spatial,
                            const SymSizes& kernel, const SymSizes& stride, const SymSizes& padding,
                            const SymSizes& dilation, bool ceilMode) {
  const auto rank = std::size_t(input.dim());
  if (rank != spatial + 1 && rank != spatial + 2)
    return mismatch(args, "expects {} or {} dimensions, got {}", spatial + 1, spatial + 2, rank);
  PoolShape shape{expanded(kernel, spatial, 1),   {}, expanded(padding, spatial, 0),
                  expanded(dilation, spatial, 1), {}, {}};
  shape.stride = stride.empty() ? shape.kernel : expanded(stride, spatial, 1);
  for (const SymSizes* list : {&shape.kernel, &shape.stride, &shape.padding, &shape.dilation})
    if (list->size() != spatial) return mismatch(args, "expects lists of {} entries, got {}", spatial, list->size());
  for (std::size_t d = 0; d < spatial; ++d) {
    const SymInt in = input.symSizes()[rank - spatial + d];
    KERF_CHECK(checkWindow(args, shape.kernel[d], shape.stride[d], shape.padding[d], shape.dilation[d]));
    const SymInt out = poolLength(in, shape.kernel[d], shape.stride[d], shape.padding[d], shape.dilation[d], ceilMode);
    if (!guardOrTrue(out >= 1)) return mismatch(args, "output size {} in spatial dimension {}", out, d);
    shape.inSizes.push_back(in);
    shape.outSizes.push_back(out);
  }
  return shape;
}

Result<PoolPlan> poolPlan(const BoundArguments& args, const Tensor& input, std::size_t spatial, const Sizes& kernel,
                          const Sizes& stride, const Sizes& padding, const Sizes& dilation, bool ceilMode) {
  KERF_TRY(const PoolShape shape, poolShape(args, input, spatial, kernel, stride, padding, dilation, ceilMode));
  return PoolPlan{shape.kernel,
                  shape.stride,
                  shape.padding,
                  shape.dilation,
                  shape.inSizes,
                  shape.outSizes,
                  planesOf(input.sizes(), spatial)};
}

SymSizes PoolShape::resultSizes(const Tensor& input) const { return withSpatial(input, outSizes); }

Result<Tensor> pooledMeta(const Tensor& input, const SymSizes& sizes, DType dtype) {
  return planesMeta(input, sizes, dtype);
}

namespace {

PoolPlan window1(const Sizes& in, const Sizes& out) { return {{}, {}, {}, {}, in, out, 1}; }

/// Max positions: flat index in the input plane and index in the window (row-major, dilated steps counted as one).
struct MaxCell {
  double value = 0;
  std::int64_t position = -1;
  std::int64_t windowIndex = 0;
};

MaxCell maxAt(const PoolPlan& plan, const std::vector<double>& plane, const Sizes& at) {
  MaxCell cell{-std::numeric_limits<double>::infinity(), -1, 0};
  plan.forWindow(at, [&](std::int64_t position, std::int64_t windowIndex) {
    const double value = plane[std::size_t(position)];
    if (cell.position < 0 || value > cell.value || std::isnan(value)) cell = {value, position, windowIndex};
  });
  return cell;
}

// max_pool*_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)

template <std::size_t spatial>
Result<PoolShape> maxPool(const BoundArguments& args) {
  if (isComplex(args.tensor(0).dtype())) return mismatch(args, "complex numbers have no maximum");
  return poolShape(args, args.tensor(0), spatial, args.symSizes(1), args.symSizes(2), args.symSizes(3),
                   args.symSizes(4), args.boolean(5));
}

template <std::size_t spatial>
Result<Value> maxShape(const BoundArguments& args) {
  KERF_TRY(const PoolShape pool, maxPool<spatial>(args));
  const SymSizes sizes = pool.resultSizes(args.tensor(0));
  KERF_TRY(Tensor values, pooledMeta(args.tensor(0), sizes, args.tensor(0).dtype()));
  KERF_TRY(Tensor indices, pooledMeta(args.tensor(0), sizes, DType::Int64));
  return Value(ValueList{values, indices});
}

/// The low-memory form keeps the index within the window as int8.
Result<Value> offsetsShape(const BoundArguments& args) {
  const std::size_t spatial = args.symSizes(1).size();
  KERF_TRY(const PoolShape pool, poolShape(args, args.tensor(0), spatial, args.symSizes(1), args.symSizes(2),
                                           args.symSizes(3), args.symSizes(4), args.boolean(5)));
  const SymSizes sizes = pool.resultSizes(args.tensor(0));
  KERF_TRY(Tensor values, pooledMeta(args.tensor(0), sizes, args.tensor(0).dtype()));
  KERF_TRY(Tensor offsets, pooledMeta(args.tensor(0), sizes, DType::Int8));
  return Value(ValueList{values, offsets});
}

enum class Indices { Flat, InWindow };

template <Indices kind>
Result<Value> maxKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const std::size_t spatial = kind == Indices::InWindow ? args.sizes(1).size() : args.sizes(1).size();
  KERF_TRY(const PoolPlan plan, poolPlan(args, args.tensor(0), spatial, args.sizes(1), args.sizes(2), args.sizes(3),
                                         args.sizes(4), args.boolean(5)));
  std::vector<double> values;
  std::vector<std::int64_t> positions;
  KERF_CHECK(forPlanes(plan, args.tensor(0), [&](std::int64_t, const std::vector<double>& plane) {
    plan.forOutputs([&](const Sizes& at) {
      const MaxCell cell = maxAt(plan, plane, at);
      values.push_back(cell.value);
      positions.push_back(kind == Indices::Flat ? cell.position : cell.windowIndex);
    });
  }));
  KERF_CHECK(writeValues(values, outs[0]));
  KERF_CHECK(writeValues(positions, outs[1]));
  return tensorList(outs);
}

// _low_memory_max_pool_offsets_to_indices(offsets, kernel_size, input_size, stride, padding, dilation)

Result<Value> toIndicesShape(const BoundArguments& args) {
  const Tensor& offsets = args.tensor(0);
  const std::size_t spatial = args.symSizes(1).size();
  for (std::size_t i = 1; i <= 5; ++i)
    if (args.symSizes(i).size() != spatial) return mismatch(args, "lists differ in length");
  if (std::size_t(offsets.dim()) < spatial) return mismatch(args, "expects at least {} dimensions", spatial);
  KERF_TRY(Tensor meta, pooledMeta(offsets, offsets.symSizes(), DType::Int64));
  return Value(meta);
}

Result<Value> toIndicesKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& offsets = args.tensor(0);
  const std::size_t spatial = args.sizes(1).size();
  PoolPlan plan = window1(args.sizes(2), Sizes(offsets.sizes().end() - std::int64_t(spatial), offsets.sizes().end()));
  plan.kernel = args.sizes(1);
  plan.stride = args.sizes(3);
  plan.padding = args.sizes(4);
  plan.dilation = args.sizes(5);
  for (std::int64_t size : plan.kernel)
    if (size <= 0) return mismatch(args, "kernel size {} is not positive", size);
  KERF_TRY(const Tensor wide, offsets.to(DType::Int64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  std::vector<std::int64_t> result;
  const std::int64_t* next = flat.data<std::int64_t>();
  std::int64_t planeOutputs = 1;
  for (std::int64_t size : plan.outSizes) planeOutputs *= size;
  for (std::int64_t p = 0; planeOutputs > 0 && p < flat.numel() / planeOutputs; ++p)
    plan.forOutputs([&](const Sizes& at) { result.push_back(plan.flatPosition(at, *next++)); });
  KERF_CHECK(writeValues(result, out));
  return Value(std::move(out));
}

// max_pool*_with_indices_backward(grad_output, self, kernel…, indices): scatter by position

Result<Value> maxBackwardShape(const BoundArguments& args) {
  if (!checkEqual(args.tensor(0).symSizes(), args.tensor(args.values.size() - 1).symSizes()))
    return mismatch(args, "grad_output and indices differ in shape");
  const Tensor& self = args.tensor(1);
  KERF_TRY(Tensor meta, pooledMeta(self, self.symSizes(), self.dtype()));
  return Value(meta);
}

Result<Value> maxBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const std::size_t spatial = args.sizes(2).size();
  const Tensor& self = args.tensor(1);
  KERF_TRY(const Tensor wide, args.tensor(0).to(DType::Float64));
  KERF_TRY(const Tensor grad, wide.contiguous());
  KERF_TRY(const Tensor positions, args.tensor(args.values.size() - 1).contiguous());
  if (positions.dtype() != DType::Int64 || grad.sizes().size() < spatial || self.sizes().size() != grad.sizes().size())
    return mismatch(args, "indices must be int64 and the ranks equal");
  std::int64_t inPlane = 1, outPlane = 1;
  for (std::size_t d = self.sizes().size() - spatial; d < self.sizes().size(); ++d) {
    inPlane *= self.sizes()[d];
    outPlane *= grad.sizes()[d];
  }
  std::vector<double> sums(std::size_t(self.numel()), 0.0);
  for (std::int64_t i = 0; i < grad.numel(); ++i) {
    const std::int64_t position = positions.data<std::int64_t>()[i];
    if (position < 0 || position >= inPlane || i / outPlane * inPlane + position >= self.numel())
      return fail(ErrorCode::RuntimeFailed, "{}: index {} is outside of a plane of {} elements", args.opName(),
                  position, inPlane);
    sums[std::size_t(i / outPlane * inPlane + position)] += grad.data<double>()[i];
  }
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

// avg_pool*(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

template <std::size_t spatial>
Result<PoolPlan> averagePlan(const BoundArguments& args, const Tensor& input, std::size_t first) {
  return poolPlan(args, input, spatial, args.sizes(first), args.sizes(first + 1), args.sizes(first + 2), {},
                  args.boolean(first + 3));
}

template <std::size_t spatial>
Result<PoolShape> averagePool(const BoundArguments& args, const Tensor& input, std::size_t first) {
  return poolShape(args, input, spatial, args.symSizes(first), args.symSizes(first + 1), args.symSizes(first + 2), {},
                   args.boolean(first + 3));
}

template <std::size_t spatial>
Result<Value> averageShape(const BoundArguments& args) {
  KERF_TRY(const PoolShape pool, averagePool<spatial>(args, args.tensor(0), 1));
  KERF_TRY(Tensor meta, pooledMeta(args.tensor(0), pool.resultSizes(args.tensor(0)), args.tensor(0).dtype()));
  return Value(meta);
}

/// What an average at `at` is divided by: the override, the real elements, or the window within the padded plane.
double divisorAt(const BoundArguments& args, const PoolPlan& plan, const Sizes& at, std::size_t first) {
  if (const auto given = args.integerIf(first + 5)) return double(*given);
  const bool includePadding = args.boolean(first + 4);
  double count = 1;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const std::int64_t begin = at[d] * plan.stride[d] - plan.padding[d];
    const std::int64_t end = std::min(begin + plan.kernel[d], plan.inSizes[d] + plan.padding[d]);
    const std::int64_t inside = std::min(end, plan.inSizes[d]) - std::max<std::int64_t>(begin, 0);
    count *= double(includePadding ? end - begin : inside);
  }
  return count;
}

template <std::size_t spatial>
Result<Value> averageKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const PoolPlan plan, averagePlan<spatial>(args, args.tensor(0), 1));
  if (args.integerIf(6) == 0) return mismatch(args, "divisor_override must not be zero");
  std::vector<double> values;
  KERF_CHECK(forPlanes(plan, args.tensor(0), [&](std::int64_t, const std::vector<double>& plane) {
    plan.forOutputs([&](const Sizes& at) {
      double sum = 0;
      plan.forWindow(at, [&](std::int64_t position, std::int64_t) { sum += plane[std::size_t(position)]; });
      values.push_back(sum / divisorAt(args, plan, at, 1));
    });
  }));
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

template <std::size_t spatial>
Result<Value> averageBackwardShape(const BoundArguments& args) {
  KERF_TRY(const PoolShape pool, averagePool<spatial>(args, args.tensor(1), 2));
  if (!checkEqual(pool.resultSizes(args.tensor(1)), args.tensor(0).symSizes()))
    return mismatch(args, "grad_output has the wrong shape");
  KERF_TRY(Tensor meta, pooledMeta(args.tensor(1), args.tensor(1).symSizes(), args.tensor(1).dtype()));
  return Value(meta);
}

template <std::size_t spatial>
Result<Value> averageBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const PoolPlan plan, averagePlan<spatial>(args, args.tensor(1), 2));
  if (args.integerIf(7) == 0) return mismatch(args, "divisor_override must not be zero");
  std::vector<double> sums(std::size_t(out.numel()), 0.0);
  std::int64_t planeSize = 1;
  for (std::int64_t size : plan.inSizes) planeSize *= size;
  PoolPlan grads = plan;
  grads.inSizes = plan.outSizes;
  KERF_CHECK(forPlanes(grads, args.tensor(0), [&](std::int64_t p, const std::vector<double>& plane) {
    std::size_t next = 0;
    plan.forOutputs([&](const Sizes& at) {
      const double share = roundedTo(out.dtype(), plane[next++] / divisorAt(args, plan, at, 2));
      plan.forWindow(at, [&](std::int64_t position, std::int64_t) {
        double& sum = sums[std::size_t(p * planeSize + position)];
        sum = roundedTo(out.dtype(), sum + share);  // kept in the tensor's type
      });
    });
  }));
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

#define KERF_AVERAGE(n, listType)                                                            \
  {                                                                                          \
    "aten::avg_pool" n "d(Tensor self, int[" n "] kernel_size, int[" n "] stride=[], int[" n \
    "] padding=0, "                                                                          \
    "bool ceil_mode=False, bool count_include_pad=True" listType ") -> Tensor"
#define KERF_DIVISOR ", int? divisor_override=None"

constexpr OpTrait none = OpTrait::None;
constexpr OpRow poolingRows[] =
    {{"aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
      "dilation=1, "
      "bool ceil_mode=False) -> (Tensor, Tensor)",
      none, maxShape<2>, maxKernel<Indices::Flat>},
     {"aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] "
      "dilation=1, "
      "bool ceil_mode=False) -> (Tensor, Tensor)",
      none, maxShape<3>, maxKernel<Indices::Flat>},
     {"prims::_low_memory_max_pool_with_offsets(Tensor self, SymInt[] kernel_size, SymInt[] stride, SymInt[] padding, "
      "SymInt[] dilation, bool ceil_mode) -> (Tensor, Tensor)",
      none, offsetsShape, maxKernel<Indices::InWindow>},
     {"prims::_low_memory_max_pool_offsets_to_indices(Tensor self, SymInt[] kernel_size, SymInt[] input_size, SymInt[] "
      "stride, "
      "SymInt[] padding, SymInt[] dilation) -> Tensor",
      none, toIndicesShape, toIndicesKernel},
     {"aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
      "int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
      none, maxBackwardShape, maxBackwardKernel},
     {"aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
      "int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor",
      none, maxBackwardShape, maxBackwardKernel},
     KERF_AVERAGE("2", KERF_DIVISOR),
     none,
     averageShape<2>,
     averageKernel<2>},
                KERF_AVERAGE("3", KERF_DIVISOR), none, averageShape<3>, averageKernel<3>
}
,
    {"aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, "
     "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
     none, averageBackwardShape<2>, averageBackwardKernel<2>},
    {"aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, "
     "bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
     none, averageBackwardShape<3>, averageBackwardKernel<3>},
};

const OpRegistration poolingOps({.rows = poolingRows});

}  // namespace

}  // namespace kerf::inline ops
