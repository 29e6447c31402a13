// Fake quantization of ATen: values and masks, per tensor and per channel, with gradients; int8 and fp8 products.
#include <algorithm>
#include <cmath>

#include "engine/mathlib/gemm.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}

/// Scale and zero point of every element, from a number, a one-element tensor or one value per channel.
struct Quantizer {
  std::vector<double> scales, zeros;
  std::int64_t inner = 1, channels = 1;
  double low = 0, high = 0;
  bool enabled = true;
  std::size_t channelOf(std::int64_t i) const { return std::size_t(i / inner % channels); }
};

Result<Quantizer> quantizerOf(const BoundArguments& args, std::size_t first) {
  Quantizer q;
  const Tensor& self = args.tensor(first - 1);
  for (auto [list, at] : {std::pair(&q.scales, first), std::pair(&q.zeros, first + 1)}) {
    if (args.values[at].isTensor()) {
      KERF_TRY(*list, doublesOf(args.tensor(at)));
    } else {
      *list = {args.number(at)};
    }
  }
  if (const auto axis = find(args, "axis")) {
    KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(*axis), self.dim()));
    q.channels = self.dim() == 0 ? 1 : self.size(dim);
    for (std::int64_t d = dim + 1; d < self.dim(); ++d) q.inner *= self.size(d);
  }
  q.low = args.number(args.position("quant_min"));
  q.high = args.number(args.position("quant_max"));
  if (q.low > q.high) return mismatch(args, "quant_min {} is above quant_max {}", q.low, q.high);
  const auto wanted = std::size_t(std::max<std::int64_t>(1, q.channels));
  if (q.scales.size() != wanted || q.zeros.size() != wanted)
    return mismatch(args, "needs {} scales and zero points, got {} and {}", wanted, q.scales.size(), q.zeros.size());
  if (const auto enabled = find(args, "fake_quant_enabled")) {
    KERF_TRY(const Doubles flag, doublesOf(args.tensor(*enabled)));
    q.enabled = !flag.empty() && flag[0] != 0;
  }
  return q;
}

/// The learnable forms keep the zero point as a float: rounded half up, or to nearest in gradients.
void roundZeros(Quantizer& q, bool gradient) {
  for (double& zero : q.zeros)
    zero = std::trunc(std::clamp(gradient ? std::nearbyint(zero) : zero + 0.5, q.low, q.high));
}

struct Level {
  double value;
  bool inside;
};
/// One element in float32 arithmetic: nearest level, clamped, back to a real number.
Level quantized(const Quantizer& q, std::size_t channel, double x) {
  const auto scale = float(q.scales[channel]);
  const double level = std::nearbyint(float(x) * (1.0f / scale)) + q.zeros[channel];
  const double clamped = std::fmin(std::fmax(level, q.low), q.high);
  return {double(float(clamped - q.zeros[channel]) * scale), level >= q.low && level <= q.high};
}

/// output, and the mask of elements inside of the range where the schema returns two
Result<Value> fakeShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) return mismatch(args, "needs a floating point input");
  KERF_TRY(const SymSizes strides, likeStrides(self, {}));
  const Value out = metaTensor(self.dtype(), self.symSizes(), strides);
  if (args.op->schema.returns.size() == 1) return out;
  return Value(ValueList{out, metaTensor(DType::Bool, self.symSizes(), strides)});
}
Result<Value> fakeKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(Quantizer q, quantizerOf(args, 1));
  if (args.op->schema.name.find("learnable") != std::string::npos)
    roundZeros(q, false);
  else if (!find(args, "axis"))  // an integer, whatever the tensor holds
    for (double& zero : q.zeros) zero = std::trunc(zero);
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  std::vector<std::int64_t> mask(x.size(), 1);
  for (std::size_t i = 0; i < x.size() && q.enabled; ++i) {
    const Level level = quantized(q, q.channelOf(std::int64_t(i)), x[i]);
    x[i] = level.value;
    mask[i] = level.inside;
  }
  KERF_TRY(Tensor out, allocate(metas.isList() ? metas.list()[0].tensor() : metas.tensor()));
  KERF_CHECK(writeValues(x, out));
  if (!metas.isList()) return Value(std::move(out));
  KERF_TRY(Tensor kept, allocate(metas.list()[1].tensor()));
  KERF_CHECK(writeValues(mask, kept));
  return tensorList({out, kept});
}

Result<Value> maskedShape(const BoundArguments& args) {
  if (args.tensor(1).dtype() != DType::Bool || !checkEqual(args.tensor(0).symSizes(), args.tensor(1).symSizes()))
    return mismatch(args, "needs a bool mask of the gradient's shape");
  return inferShapes("aten.mul.Tensor"_op, {args.values[0], args.values[1]}, {});
}
Result<Value> maskedKernel(const BoundArguments& args) {
  KERF_CHECK(maskedShape(args));
  return callOp("aten.mul.Tensor"_op, {args.values[0], args.values[1]});
}

/// Gradients of x, scale and zero point (learned step size quantization).
Result<Value> learnedShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(1);
  if (!checkEqual(args.tensor(0).symSizes(), self.symSizes()))
    return mismatch(args, "the gradient must have the input's shape");
  KERF_TRY(const SymSizes strides, likeStrides(self, {}));
  const auto axis = find(args, "axis");
  const SymInt channels = axis ? args.tensor(2).symNumel() : SymInt(1);
  return Value(ValueList{metaTensor(self.dtype(), self.symSizes(), strides),
                         metaTensor(args.tensor(2).dtype(), SymSizes{channels}),
                         metaTensor(args.tensor(3).dtype(), SymSizes{channels})});
}
Result<Value> learnedKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(Quantizer q, quantizerOf(args, 2));
  roundZeros(q, true);
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1)));
  const double factor = args.number(args.position("grad_factor"));
  Doubles scales(q.scales.size()), zeros(q.scales.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = q.channelOf(std::int64_t(i));
    const auto scale = float(q.scales[c]);
    const double level = std::nearbyint(float(x[i]) * (1.0f / scale)) + q.zeros[c];
    const bool below = level<q.low, above = level> q.high;
    if (below || above) {
      scales[c] += grad[i] * ((below ? q.low : q.high) - q.zeros[c]) * factor;
      zeros[c] += grad[i] * -double(scale) * factor;
      grad[i] = 0;
    } else {
      scales[c] += grad[i] * (quantized(q, c, x[i]).value - x[i]) / double(scale) * factor;
    }
  }
  KERF_CHECK(writeValues(grad, outs[0]));
  KERF_CHECK(writeValues(scales, outs[1]));
  KERF_CHECK(writeValues(zeros, outs[2]));
  return tensorList(outs);
}

// Products of quantized matrices

Result<Value> int8PackShape(const BoundArguments& args) {
  const Tensor &x = args.tensor(0), &w = args.tensor(1), &scales = args.tensor(2);
  if (x.dim() != 2 || w.dim() != 2 || w.dtype() != DType::Int8 || guardOrFalse(x.symSize(1) != w.symSize(1)))
    return mismatch(args, "needs matrices [m, k] and int8 [n, k]");
  if (scales.dim() != 1 || guardOrFalse(scales.symSize(0) != w.symSize(0)))
    return mismatch(args, "needs one scale for each row of mat2");
  return Value(metaTensor(x.dtype(), SymSizes{x.symSize(0), w.symSize(0)}));
}
Result<Value> int8PackKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor x, args.tensor(0).to(DType::Float32));
  KERF_TRY(const Tensor w, args.tensor(1).to(DType::Float32));
  KERF_TRY(Tensor wide, Tensor::zeros(DType::Float32, out.sizes()));
  KERF_CHECK(gemm(x, w.viewAs({w.size(1), w.size(0)}, {w.stride(1), w.stride(0)}, w.offset()), wide));
  KERF_TRY(const Tensor scales, args.tensor(2).to(DType::Float32));
  KERF_TRY(const Tensor scaled, callTensorOp("aten.mul.Tensor"_op, {wide, scales}));
  KERF_CHECK(copyElements(scaled, out));
  return Value(std::move(out));
}

Result<Value> scaledShape(const BoundArguments& args) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  if (a.dim() != 2 || b.dim() != 2 || guardOrFalse(a.symSize(1) != b.symSize(0)))
    return mismatch(args, "needs matrices [m, k] and [k, n]");
  for (std::size_t i : {2, 3}) {
    const Tensor& scale = args.tensor(i);
    const SymInt wanted = i == 2 ? a.symSize(0) : b.symSize(1);
    if (guardOrFalse(scale.symNumel() != 1) && guardOrFalse(scale.symNumel() != wanted))
      return mismatch(args, "argument '{}' must hold 1 or {} scales", args.op->schema.arguments[i].name, wanted);
  }
  return Value(
      metaTensor(args.dtypeIf(args.position("out_dtype")).value_or(a.dtype()), SymSizes{a.symSize(0), b.symSize(1)}));
}
Result<Value> scaledKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor a, args.tensor(0).to(DType::Float32));
  KERF_TRY(const Tensor b, args.tensor(1).to(DType::Float32));
  KERF_TRY(Tensor wide, Tensor::zeros(DType::Float32, out.sizes()));
  KERF_CHECK(gemm(a, b, wide));
  for (std::size_t i : {2, 3}) {
    KERF_TRY(const Tensor scale, args.tensor(i).to(DType::Float32));
    KERF_TRY(const Tensor flat, scale.contiguous());
    const bool single = flat.numel() == 1;
    const Sizes sizes = single ? Sizes{1, 1} : i == 2 ? Sizes{out.size(0), 1} : Sizes{1, out.size(1)};
    KERF_TRY(wide,
             callTensorOp("aten.mul.Tensor"_op, {wide, flat.viewAs(sizes, contiguousStrides(sizes), flat.offset())}));
  }
  if (!args.none(4)) {
    KERF_TRY(const Tensor bias, args.tensor(4).to(DType::Float32));
    KERF_TRY(wide, callTensorOp("aten.add.Tensor"_op, {wide, bias}));
  }
  if (!args.none(5)) {
    KERF_TRY(const Tensor scale, args.tensor(5).to(DType::Float32));
    KERF_TRY(wide, callTensorOp("aten.mul.Tensor"_op, {wide, scale}));
  }
  KERF_CHECK(copyElements(wide, out));
  return Value(std::move(out));
}

constexpr OpTrait point = OpTrait::None;
#define KERF_QUANT_RANGE "int quant_min, int quant_max"
constexpr OpRow fakeQuantizeRows[] = {
    {"aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, " KERF_QUANT_RANGE ") -> Tensor",
     point, fakeShape, fakeKernel},
    {"aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor "
     "zero_point, " KERF_QUANT_RANGE ") -> Tensor",
     point, fakeShape, fakeKernel},
    {"aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, " KERF_QUANT_RANGE
     ") -> (Tensor output, Tensor mask)",
     point, fakeShape, fakeKernel},
    {"aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, "
     "Tensor fake_quant_enabled, " KERF_QUANT_RANGE ") -> (Tensor output, Tensor mask)",
     point, fakeShape, fakeKernel},
    {"aten::fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor", point, maskedShape,
     maskedKernel},
    {"aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, " KERF_QUANT_RANGE
     ") -> Tensor",
     point, fakeShape, fakeKernel},
    {"aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int "
     "axis, " KERF_QUANT_RANGE ") -> (Tensor output, Tensor mask)",
     point, fakeShape, fakeKernel},
    {"aten::fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor", point,
     maskedShape, maskedKernel},
    {"aten::_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, " KERF_QUANT_RANGE
     ", float grad_factor=1.0) -> Tensor",
     point, fakeShape, fakeKernel},
    {"aten::_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int "
     "axis, " KERF_QUANT_RANGE ", float grad_factor=1.0) -> Tensor",
     point, fakeShape, fakeKernel},
    {"aten::_fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor "
     "zero_point, " KERF_QUANT_RANGE ", float grad_factor=1.0) -> (Tensor, Tensor, Tensor)",
     point, learnedShape, learnedKernel},
    {"aten::_fake_quantize_learnable_per_channel_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor "
     "zero_point, int axis, " KERF_QUANT_RANGE ", float grad_factor=1.0) -> (Tensor, Tensor, Tensor)",
     point, learnedShape, learnedKernel},
    {"aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", OpTrait::Matmul, int8PackShape,
     int8PackKernel},
    {"aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? "
     "scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
     OpTrait::Matmul, scaledShape, scaledKernel},
};

const OpRegistration fakeQuantizeOps({.rows = fakeQuantizeRows});

}  // namespace

}  // namespace kerf::inline ops
