// onednn.qlinear_*: linear layers of 8-bit integers with their scales, bias and activation in one call, as PyTorch's
// CPU build has them.
#include <algorithm>
#include <cmath>

#include "engine/mathlib/gemm.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

/// Positions in the schema of qlinear_pointwise.
enum LinearArgument : std::size_t { X, XScale, XZero, W, WScale, WZero, Bias, OutScale, OutZero, OutType, PostOp };

bool isByte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

/// PyTorch's layout of a packed weight is its own; this is [k, n], row-major, of a weight [n, k].
Result<Value> packedShape(const BoundArguments& args) {
  const Tensor& weight = args.tensor(0);
  if (weight.dim() != 2 || weight.dtype() != DType::Int8) return mismatch(args, "needs an int8 matrix [n, k]");
  return Value(metaTensor(DType::Int8, SymSizes{weight.symSize(1), weight.symSize(0)}));
}
Result<Value> packedKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& w = args.tensor(0);
  KERF_CHECK(copyElements(w.viewAs({w.size(1), w.size(0)}, {w.stride(1), w.stride(0)}, w.offset()), out));
  return Value(std::move(out));
}

Result<Value> linearShape(const BoundArguments& args) {
  const Tensor &x = args.tensor(X), &w = args.tensor(W);
  if (x.dim() < 1 || !isByte(x.dtype())) return mismatch(args, "qx must hold 8-bit integers");
  if (w.dim() != 2 || w.dtype() != DType::Int8 || guardOrFalse(x.symSizes().back() != w.symSize(0)))
    return mismatch(args, "qw must be a packed int8 matrix [{}, n]", x.symSizes().back());
  for (const std::size_t i : {std::size_t(WScale), std::size_t(WZero)})
    if (guardOrFalse(args.tensor(i).symNumel() != 1) && guardOrFalse(args.tensor(i).symNumel() != w.symSize(1)))
      return mismatch(args, "argument '{}' must hold 1 or {} values", args.op->schema.arguments[i].name, w.symSize(1));
  if (!args.none(Bias) && guardOrFalse(args.tensor(Bias).symNumel() != w.symSize(1)))
    return mismatch(args, "bias must hold {} values", w.symSize(1));
  SymSizes sizes = x.symSizes();
  sizes.back() = w.symSize(1);
  return Value(metaTensor(args.dtypeIf(OutType).value_or(x.dtype()), sizes));
}

/// A number, or a tensor of one.
Result<double> numberAt(const BoundArguments& args, std::size_t i) {
  if (!args.values[i].isTensor()) return args.number(i);
  if (args.tensor(i).numel() != 1)
    return mismatch(args, "argument '{}' must hold one number", args.op->schema.arguments[i].name);
  KERF_TRY(const auto values, doublesOf(args.tensor(i)));
  return values.front();
}

/// One number for each column; one that there is for all of them.
Result<std::vector<double>> columnsAt(const BoundArguments& args, std::size_t i, std::size_t columns) {
  if (args.none(i)) return std::vector<double>(columns, 0.0);
  KERF_TRY(auto values, doublesOf(args.tensor(i)));
  if (values.size() == 1) values.resize(columns, values.front());
  return values;
}

/// As int32 [rows, columns], row-major, less a zero point for each column.
Result<Tensor> centred(const Tensor& tensor, const Sizes& sizes, const std::vector<double>& zeros) {
  KERF_TRY(Tensor wide, tensor.to(DType::Int32));
  KERF_TRY(wide, wide.contiguous());
  auto* data = wide.data<std::int32_t>();
  for (std::int64_t i = 0; i < wide.numel(); ++i) data[i] -= std::int32_t(zeros[std::size_t(i) % zeros.size()]);
  return wide.viewAs(sizes, contiguousStrides(sizes), wide.offset());
}

/// What becomes of the exact sums.
struct Epilogue {
  double scale = 1;  ///< of the activations
  std::vector<double> scales, bias;
  bool relu = false, rounds = false;
  double outScale = 1, outZero = 0, low = 0, high = 0;

  float operator()(std::int32_t sum, std::size_t column) const {
    float value = float(sum) * float(scale * scales[column]) + float(bias[column]);
    if (relu && value < 0) value = 0;
    if (!rounds) return value;
    return float(std::clamp(std::nearbyint(double(value) / outScale) + outZero, low, high));
  }
};

Result<Epilogue> epilogueOf(const BoundArguments& args, std::size_t columns, DType dtype) {
  Epilogue epilogue;
  KERF_TRY(epilogue.scale, numberAt(args, XScale));
  KERF_TRY(epilogue.scales, columnsAt(args, WScale, columns));
  KERF_TRY(epilogue.bias, columnsAt(args, Bias, columns));
  const std::string postOp = args.text(PostOp);
  if (postOp != "none" && postOp != "relu")
    return fail(ErrorCode::UnsupportedOp, "{}: post op '{}' is not known", args.opName(), postOp);
  epilogue.relu = postOp == "relu";
  epilogue.rounds = isByte(dtype);
  epilogue.outScale = args.number(OutScale);
  epilogue.outZero = args.number(OutZero);
  epilogue.low = dtype == DType::Int8 ? -128 : 0;
  epilogue.high = dtype == DType::Int8 ? 127 : 255;
  return epilogue;
}

Result<Value> linearKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const std::int64_t depth = args.tensor(W).size(0), columns = args.tensor(W).size(1);
  const std::int64_t rows = out.numel() / std::max<std::int64_t>(columns, 1);
  KERF_TRY(const double xZero, numberAt(args, XZero));
  KERF_TRY(const auto wZeros, columnsAt(args, WZero, std::size_t(columns)));
  KERF_TRY(const Epilogue epilogue, epilogueOf(args, std::size_t(columns), out.dtype()));
  Tensor sums = *Tensor::zeros(DType::Int32, {rows, columns});
  if (out.numel() == 0) return Value(std::move(out));
  KERF_TRY(const Tensor x, centred(args.tensor(X), {rows, depth}, {xZero}));
  KERF_TRY(const Tensor w, centred(args.tensor(W), {depth, columns}, wZeros));
  KERF_CHECK(gemm(x, w, sums));
  KERF_TRY(Tensor wide, Tensor::zeros(DType::Float32, out.sizes()));
  const auto* from = sums.data<std::int32_t>();
  auto* to = wide.data<float>();
  for (std::int64_t i = 0; i < out.numel(); ++i) to[i] = epilogue(from[i], std::size_t(i % columns));
  if (out.dtype() == DType::Float32) return Value(std::move(wide));
  KERF_CHECK(copyElements(wide, out));
  return Value(std::move(out));
}

#define KERF_QLINEAR_REST                                                                                     \
  "Tensor qw, Tensor w_scale, Tensor w_zero_point, Tensor? bias, float output_scale, int output_zero_point, " \
  "ScalarType? output_dtype, str post_op_name, Scalar?[] post_op_args, str post_op_algorithm) -> Tensor"
constexpr OpRow onednnLinearRows[] = {
    {"onednn::qlinear_prepack(Tensor weight, int[]? x_shape) -> Tensor", OpTrait::None, packedShape, packedKernel},
    {"onednn::qlinear_pointwise(Tensor qx, float x_scale, int x_zero_point, " KERF_QLINEAR_REST, OpTrait::Matmul,
     linearShape, linearKernel},
    {"onednn::qlinear_pointwise.tensor(Tensor qx, Tensor x_scale, Tensor x_zero_point, " KERF_QLINEAR_REST,
     OpTrait::Matmul, linearShape, linearKernel},
};

const OpRegistration onednnLinearOps({.rows = onednnLinearRows});

}  // namespace

}  // namespace kerf::inline ops
