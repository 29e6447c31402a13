// Fractional max pooling (windows placed by random samples that are arguments) and max unpooling.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

/// Window starts along one dimension. `sample` in [0, 1); arithmetic rounds to `dtype` after every operation, as there.
std::vector<std::int64_t> starts(double sample, std::int64_t in, std::int64_t out, std::int64_t pool, DType dtype) {
  std::vector<std::int64_t> result(std::size_t(out), 0);
  if (out > 1) {
    const double alpha = roundedTo(dtype, roundedTo(dtype, double(in - pool)) / roundedTo(dtype, double(out - 1)));
    const double first = roundedTo(dtype, sample * alpha);
    for (std::int64_t i = 0; i + 1 < out; ++i) {
      const double shifted = roundedTo(dtype, roundedTo(dtype, double(i)) + sample);
      const auto start = std::int64_t(roundedTo(dtype, shifted * alpha)) - std::int64_t(first);
      result[std::size_t(i)] = std::clamp<std::int64_t>(start, 0, in - pool);
    }
  }
  if (out > 0) result.back() = in - pool;
  return result;
}

/// fractional_max_poolNd(self, kernel_size, output_size, random_samples)
template <std::size_t spatial>
Result<Value> fractionalShape(const BoundArguments& args) {
  const Tensor &self = args.tensor(0), &samples = args.tensor(3);
  KERF_CHECK(checkPlanes(args, self, spatial));
  const SymSizes kernel = args.symSizes(1), output = args.symSizes(2);
  if (kernel.size() != spatial || output.size() != spatial)
    return mismatch(args, "kernel_size and output_size need {} entries", spatial);
  for (std::size_t d = 0; d < spatial; ++d) {
    const SymInt in = self.symSizes()[std::size_t(self.dim()) - spatial + d];
    const bool fits = guardOrTrue(kernel[d] >= 1) && guardOrTrue(output[d] >= 1) &&
                      guardOrTrue(output[d] + kernel[d] - 1 <= in) && guardOrTrue(kernel[d] <= in) &&
                      guardOrTrue(output[d] <= in);
    if (!fits) return mismatch(args, "kernel {} and output {} do not fit size {}", kernel[d], output[d], in);
  }
  const bool batched = std::size_t(self.dim()) == spatial + 2;
  const SymSizes expected{batched ? self.symSize(0) : SymInt(1), self.symSize(batched ? 1 : 0), SymInt(spatial)};
  if (samples.dtype() != self.dtype() || samples.dim() != 3 || !guardOrTrue(samples.symSize(0) >= expected[0]) ||
      !guardOrTrue(samples.symSize(1) >= expected[1]) || !guardOrTrue(samples.symSize(2) == expected[2]))
    return mismatch(args, "argument 'random_samples' must be {} of shape [{}]", dtypeInfo(self.dtype()).torchName,
                    fmt::join(expected, ", "));
  const SymSizes sizes = withSpatial(self, output);
  return Value(ValueList{metaTensor(self.dtype(), sizes), metaTensor(DType::Int64, sizes)});
}

struct Windows {
  std::vector<std::int64_t> begin[3];  ///< depth, height, width
  Extent kernel{1, 1, 1}, in{1, 1, 1}, out{1, 1, 1};
};

std::int64_t largestIn(const Windows& windows, const double* plane, const Extent& at) {
  std::int64_t start[3];
  for (std::size_t d = 0; d < 3; ++d) start[d] = windows.begin[d][std::size_t(at[d])];
  const auto flat = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return (z * windows.in[1] + y) * windows.in[2] + x;
  };
  std::int64_t best = flat(start[0], start[1], start[2]);
  for (std::int64_t z = 0; z < windows.kernel[0]; ++z)
    for (std::int64_t y = 0; y < windows.kernel[1]; ++y)
      for (std::int64_t x = 0; x < windows.kernel[2]; ++x) {
        const std::int64_t from = flat(start[0] + z, start[1] + y, start[2] + x);
        if (plane[from] > plane[best] || std::isnan(plane[from])) best = from;
      }
  return best;
}

/// Samples are ordered (width, height) in two dimensions, (depth, height, width) in three.
void placeWindows(Windows& windows, const double* samples, std::size_t spatial, DType dtype) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (d + spatial < 3) {
      windows.begin[d] = {0};
      continue;
    }
    const std::size_t sample = spatial == 2 ? 2 - d : d;
    windows.begin[d] = starts(samples[sample], windows.in[d], windows.out[d], windows.kernel[d], dtype);
  }
}

template <std::size_t spatial>
Result<Value> fractionalKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Doubles x, doublesOf(self));
  KERF_TRY(const Doubles samples, doublesOf(args.tensor(3)));
  Windows windows;
  windows.kernel = extentOf(args.sizes(1), spatial);
  windows.in = extentOf(self.sizes(), spatial);
  windows.out = extentOf(args.sizes(2), spatial);
  Doubles values;
  std::vector<std::int64_t> positions;
  const std::int64_t channels = self.sizes()[self.sizes().size() - spatial - 1];
  const std::int64_t planes = outs[0].numel() == 0 ? 0 : planesOf(self.sizes(), spatial);
  for (std::int64_t p = 0; p < planes; ++p) {
    const double* plane = x.data() + p * countOf(windows.in);
    const std::int64_t sampleRow = p / channels * args.tensor(3).size(1) + p % channels;
    placeWindows(windows, samples.data() + sampleRow * std::int64_t(spatial), spatial, self.dtype());
    for (std::int64_t i = 0; i < countOf(windows.out); ++i) {
      const Extent at{i / (windows.out[1] * windows.out[2]), i / windows.out[2] % windows.out[1], i % windows.out[2]};
      positions.push_back(largestIn(windows, plane, at));
      values.push_back(plane[positions.back()]);
    }
  }
  KERF_CHECK(writeValues(values, outs[0]));
  KERF_CHECK(writeValues(positions, outs[1]));
  return tensorList(outs);
}

/// fractional_max_poolNd_backward(grad_output, self, kernel_size, output_size, indices)
template <std::size_t spatial>
Result<Value> fractionalBackwardShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(1);
  KERF_CHECK(checkPlanes(args, self, spatial));
  if (!checkEqual(args.tensor(0).symSizes(), withSpatial(self, args.symSizes(3))))
    return mismatch(args, "grad_output has the wrong shape");
  return Value(metaTensor(self.dtype(), self.symSizes()));
}

template <std::size_t spatial>
Result<Value> fractionalBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles sums, scatterToPlanes(args, args.tensor(0), args.tensor(4), out.sizes(), spatial));
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

/// max_unpoolNd(self, indices, output_size[, stride, padding])
template <std::size_t spatial>
Result<Value> unpoolShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_CHECK(checkPlanes(args, self, spatial));
  if (args.symSizes(2).size() != spatial) return mismatch(args, "argument 'output_size' needs {} entries", spatial);
  if (!checkEqual(args.tensor(1).symSizes(), self.symSizes()))
    return mismatch(args, "argument 'indices' must have the shape of self");
  if (args.tensor(1).dtype() != DType::Int64) return mismatch(args, "argument 'indices' must be int64");
  if (spatial == 3)
    for (const SymInt step : args.symSizes(3))
      if (!guardOrTrue(step > 0)) return mismatch(args, "strides must be positive, got {}", step);
  const SymSizes sizes = withSpatial(self, args.symSizes(2));
  // Eager keeps channels-last; PyTorch's meta function says row-major.
  return Value(spatial == 2 ? planesMeta(self, sizes, self.dtype()) : metaTensor(self.dtype(), sizes));
}

template <std::size_t spatial>
Result<Value> unpoolKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Doubles x, doublesOf(self));
  KERF_TRY(const std::vector<std::int64_t> positions, integerValues(args.tensor(1)));
  const std::int64_t inPlane = countOf(extentOf(self.sizes(), spatial));
  const std::int64_t outPlane = countOf(extentOf(out.sizes(), spatial));
  Doubles values(std::size_t(out.numel()), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (positions[i] < 0 || positions[i] >= outPlane)
      return fail(ErrorCode::RuntimeFailed, "{}: index {} is outside of the output plane of {} elements", args.opName(),
                  positions[i], outPlane);
    values[i / std::size_t(inPlane) * std::size_t(outPlane) + std::size_t(positions[i])] = x[i];
  }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

constexpr OpRow fractionalPoolingRows[] = {
    {"aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> "
     "(Tensor, Tensor)",
     none, fractionalShape<2>, fractionalKernel<2>},
    {"aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> "
     "(Tensor, Tensor)",
     none, fractionalShape<3>, fractionalKernel<3>},
    {"aten::fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, "
     "Tensor indices) -> Tensor",
     none, fractionalBackwardShape<2>, fractionalBackwardKernel<2>},
    {"aten::fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, "
     "Tensor indices) -> Tensor",
     none, fractionalBackwardShape<3>, fractionalBackwardKernel<3>},
    {"aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", none, unpoolShape<2>,
     unpoolKernel<2>},
    {"aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor",
     none, unpoolShape<3>, unpoolKernel<3>},
};

const OpRegistration fractionalPoolingOps({.rows = fractionalPoolingRows});

}  // namespace

}  // namespace kerf::inline ops
