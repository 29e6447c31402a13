// Adaptive pooling: windows that divide the input evenly among the wanted output sizes; average and maximum, backward.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

struct Span {
  std::int64_t begin, end;
  std::int64_t length() const { return end - begin; }
};

/// Input range of output position `at`: floor(at·in/out) up to ceil((at+1)·in/out).
Span spanAt(std::int64_t at, std::int64_t in, std::int64_t out) {
  const std::int64_t begin = at / out * in + at % out * in / out;
  return {begin, 1 + ((at + 1) * in - 1) / out};
}

using Window = std::array<Span, 3>;

/// visit(output position in the plane, window) for all outputs, row-major.
template <class Visit>
void forWindows(const Extent& in, const Extent& out, Visit&& visit) {
  std::int64_t next = 0;
  for (std::int64_t z = 0; z < out[0]; ++z)
    for (std::int64_t y = 0; y < out[1]; ++y)
      for (std::int64_t x = 0; x < out[2]; ++x)
        visit(next++, Window{spanAt(z, in[0], out[0]), spanAt(y, in[1], out[1]), spanAt(x, in[2], out[2])});
}

/// visit(flat position in the input plane) for a window's elements, row-major.
template <class Visit>
void forElements(const Extent& in, const Window& window, Visit&& visit) {
  for (std::int64_t z = window[0].begin; z < window[0].end; ++z)
    for (std::int64_t y = window[1].begin; y < window[1].end; ++y)
      for (std::int64_t x = window[2].begin; x < window[2].end; ++x) visit((z * in[1] + y) * in[2] + x);
}

template <std::size_t spatial>
Result<SymSizes> outputSizes(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_CHECK(checkPlanes(args, self, spatial));
  const SymSizes wanted = args.symSizes(1);
  if (wanted.size() != spatial) return mismatch(args, "argument 'output_size' needs {} entries", spatial);
  for (const SymInt size : wanted)
    if (!guardOrTrue(size >= 0) || staticallyKnown(size > (1LL << 31)))
      return mismatch(args, "output size {} is out of range", size);
  return withSpatial(self, wanted);
}

template <std::size_t spatial>
Result<Value> averageShape(const BoundArguments& args) {
  if (!isFloating(args.tensor(0).dtype())) return mismatch(args, "argument 'self' must be floating point");
  KERF_TRY(const SymSizes sizes, outputSizes<spatial>(args));
  return Value(planesMeta(args.tensor(0), sizes, args.tensor(0).dtype()));
}

/// PyTorch divides by one extent after the other. The three-dimensional kernel rounds to the tensor's dtype after every
/// operation, the two-dimensional one at the end.
double divided(double sum, const Window& window, DType rounding) {
  for (const Span& span : window) sum = roundedTo(rounding, sum / double(span.length()));
  return sum;
}
constexpr DType roundingType(std::size_t spatial, DType dtype) { return spatial == 3 ? dtype : DType::Float64; }

template <std::size_t spatial>
Result<Value> averageKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  const Extent in = extentOf(args.tensor(0).sizes(), spatial), to = extentOf(out.sizes(), spatial);
  const DType rounding = roundingType(spatial, out.dtype());
  Doubles values(std::size_t(out.numel()));
  const std::int64_t planes = out.numel() == 0 ? 0 : planesOf(out.sizes(), spatial);
  for (std::int64_t p = 0; p < planes; ++p)
    forWindows(in, to, [&](std::int64_t at, const Window& window) {
      double sum = 0;
      forElements(in, window,
                  [&](std::int64_t from) { sum = roundedTo(rounding, sum + x[std::size_t(p * countOf(in) + from)]); });
      values[std::size_t(p * countOf(to) + at)] = divided(sum, window, rounding);
    });
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

/// _adaptive_avg_poolNd_backward(grad_output, self)
template <std::size_t spatial>
Result<Value> averageBackwardShape(const BoundArguments& args) {
  const Tensor &grad = args.tensor(0), &self = args.tensor(1);
  KERF_CHECK(checkPlanes(args, self, spatial));
  const SymInt gradPlanes = planesOf(grad.symSizes(), spatial), planes = planesOf(self.symSizes(), spatial);
  if (grad.dim() != self.dim() || !guardOrTrue(gradPlanes == planes))
    return mismatch(args, "grad_output and self differ in their leading dimensions");
  if (grad.dtype() != self.dtype()) return mismatch(args, "grad_output and self differ in dtype");
  return Value(planesMeta(self, self.symSizes(), self.dtype()));
}

template <std::size_t spatial>
Result<Value> averageBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  const Extent in = extentOf(out.sizes(), spatial), from = extentOf(args.tensor(0).sizes(), spatial);
  Doubles sums(std::size_t(out.numel()), 0.0);
  const std::int64_t planes = grad.empty() || sums.empty() ? 0 : planesOf(out.sizes(), spatial);
  for (std::int64_t p = 0; p < planes; ++p)
    forWindows(in, from, [&](std::int64_t at, const Window& window) {
      const double whole = grad[std::size_t(p * countOf(from) + at)];
      const double share = roundedTo(out.dtype(), divided(whole, window, roundingType(spatial, out.dtype())));
      forElements(in, window, [&](std::int64_t to) {
        double& sum = sums[std::size_t(p * countOf(in) + to)];
        sum = roundedTo(out.dtype(), sum + share);
      });
    });
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

template <std::size_t spatial>
Result<Value> maxShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymSizes sizes, outputSizes<spatial>(args));
  return Value(ValueList{planesMeta(self, sizes, self.dtype()), planesMeta(self, sizes, DType::Int64)});
}

/// The last NaN of a window wins, else the first of its largest elements.
template <std::size_t spatial>
Result<Value> maxKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  const Extent in = extentOf(args.tensor(0).sizes(), spatial), to = extentOf(outs[0].sizes(), spatial);
  Doubles values;
  std::vector<std::int64_t> positions;
  const std::int64_t planes = outs[0].numel() == 0 ? 0 : planesOf(outs[0].sizes(), spatial);
  for (std::int64_t p = 0; p < planes; ++p)
    forWindows(in, to, [&](std::int64_t, const Window& window) {
      const double* plane = x.data() + p * countOf(in);
      std::int64_t best = -1;
      forElements(in, window, [&](std::int64_t from) {
        if (best < 0 || plane[from] > plane[best] || std::isnan(plane[from])) best = from;
      });
      values.push_back(plane[best]);
      positions.push_back(best);
    });
  KERF_CHECK(writeValues(values, outs[0]));
  KERF_CHECK(writeValues(positions, outs[1]));
  return tensorList(outs);
}

/// adaptive_max_poolNd_backward(grad_output, self, indices)
template <std::size_t spatial>
Result<Value> maxBackwardShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(1);
  KERF_CHECK(checkPlanes(args, self, spatial));
  if (!checkEqual(args.tensor(0).symSizes(), args.tensor(2).symSizes()))
    return mismatch(args, "grad_output and indices differ in shape");
  return Value(planesMeta(self, self.symSizes(), self.dtype()));
}

template <std::size_t spatial>
Result<Value> maxBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles sums, scatterToPlanes(args, args.tensor(0), args.tensor(2), out.sizes(), spatial));
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

/// The one-dimensional forms: a height of 1 goes in and comes out again.
Result<Value> viaHeight(const BoundArguments& args, OpId op) {
  const Tensor& self = args.tensor(0);
  KERF_CHECK(runShapeRule(args));
  KERF_TRY(const Tensor tall, callTensorOp("aten.unsqueeze.default"_op, {self, std::int64_t{-2}}));
  KERF_TRY(const Value result, callOp(op, {tall, intList({1, args.sizes(1)[0]})}));
  if (result.isTensor()) return callOp("aten.squeeze.dim"_op, {result, std::int64_t{-2}});
  ValueList flat;
  for (const Value& item : result.list()) {
    KERF_TRY(Value squeezed, callOp("aten.squeeze.dim"_op, {item, std::int64_t{-2}}));
    flat.push_back(std::move(squeezed));
  }
  return Value(std::move(flat));
}

Result<SymSizes> sizes1(const BoundArguments& args) {
  KERF_CHECK(checkPlanes(args, args.tensor(0), 1));
  const SymSizes wanted = args.symSizes(1);
  if (wanted.size() != 1 || !guardOrTrue(wanted[0] >= 0))
    return mismatch(args, "argument 'output_size' needs one size");
  return withSpatial(args.tensor(0), wanted);
}
/// Laid out as the two-dimensional form does, which keeps channels last.
Result<Value> withoutHeight(const BoundArguments& args, const SymSizes& sizes, DType dtype) {
  KERF_TRY(const Value tall, inferShapes("aten.unsqueeze.default"_op, {args.values[0], std::int64_t{-2}}, {}));
  SymSizes tallSizes;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) tallSizes.push_back(sizes[d]);
  tallSizes.push_back(1);
  tallSizes.push_back(sizes[sizes.size() - 1]);
  return inferShapes("aten.squeeze.dim"_op, {planesMeta(tall.tensor(), tallSizes, dtype), std::int64_t{-2}}, {});
}
Result<Value> average1Shape(const BoundArguments& args) {
  if (!isFloating(args.tensor(0).dtype())) return mismatch(args, "argument 'self' must be floating point");
  KERF_TRY(const SymSizes sizes, sizes1(args));
  return withoutHeight(args, sizes, args.tensor(0).dtype());
}
Result<Value> max1Shape(const BoundArguments& args) {
  KERF_TRY(const SymSizes sizes, sizes1(args));
  KERF_TRY(Value most, withoutHeight(args, sizes, args.tensor(0).dtype()));
  KERF_TRY(Value places, withoutHeight(args, sizes, DType::Int64));
  return Value(ValueList{std::move(most), std::move(places)});
}
Result<Value> average1Kernel(const BoundArguments& args) {
  return viaHeight(args, "aten._adaptive_avg_pool2d.default"_op);
}
Result<Value> max1Kernel(const BoundArguments& args) { return viaHeight(args, "aten.adaptive_max_pool2d.default"_op); }

constexpr OpRow adaptivePoolingRows[] = {
    {"aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", none, averageShape<2>,
     averageKernel<2>},
    {"aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", none, averageShape<3>,
     averageKernel<3>},
    {"aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", none, average1Shape, average1Kernel},
    {"aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", none, averageShape<2>,
     averageKernel<2>},
    {"aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", none, averageShape<3>,
     averageKernel<3>},
    {"aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", none, averageBackwardShape<2>,
     averageBackwardKernel<2>},
    {"aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor", none, averageBackwardShape<3>,
     averageBackwardKernel<3>},
    {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", none, max1Shape, max1Kernel},
    {"aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", none, maxShape<2>, maxKernel<2>},
    {"aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", none, maxShape<3>, maxKernel<3>},
    {"aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", none,
     maxBackwardShape<2>, maxBackwardKernel<2>},
    {"aten::adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", none,
     maxBackwardShape<3>, maxBackwardKernel<3>},
};

const OpRegistration adaptivePoolingOps({.rows = adaptivePoolingRows});

}  // namespace

}  // namespace kerf::inline ops
