// Softmax, log-softmax and their backwards, along one dimension in double.
#include <cmath>
#include <numeric>

#include "engine/mathlib/vector_math.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/lines.h"
#include "engine/ops/nn/row_math.h"

namespace kerf::inline ops {
namespace {

Result<Value> softmaxShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  (void)dim;
  if (!isFloating(self.dtype()))
    return mismatch(args, "needs a floating point input, got {}", dtypeInfo(self.dtype()).torchName);
  if (const auto wanted = args.dtypeIf(2); wanted && !isFloating(*wanted))
    return mismatch(args, "argument 'dtype' must be floating point, got {}", dtypeInfo(*wanted).torchName);
  const bool widen = args.op->schema.arguments[2].type == "bool" && args.boolean(2);
  return Value(metaTensor(widen ? DType::Float32 : args.dtypeIf(2).value_or(self.dtype()), self.symSizes()));
}

enum class Kind { Plain, Log, Safe };

template <Kind kind>
void softmaxLine(std::vector<double>& line) {
  const auto count = std::int64_t(line.size());
  const double shift = rowmath::largest(line.data(), count);
  if (kind == Kind::Safe && std::isinf(shift) && shift < 0) {
    std::fill(line.begin(), line.end(), 0.0);
    return;
  }
  if (kind == Kind::Log) {
    const double logarithm = std::log(rowmath::sumOfExp(line.data(), shift, count));
    for (double& x : line) x = x - shift - logarithm;
    return;
  }
  const double sum = rowmath::expShifted(line.data(), shift, count);
  rowmath::divide(line.data(), sum, count);
}

/// PyTorch's kernel for the last dimension keeps the sum and its logarithm in the tensor's own type.
template <class T>
void logSoftmaxLine16(std::vector<double>& line) {
  const auto rounded = [](double x) { return double(float(T(float(x)))); };
  const auto count = std::int64_t(line.size());
  const double shift = rowmath::largest(line.data(), count);
  const double logarithm = rounded(std::log(rounded(rowmath::sumOfExp(line.data(), shift, count))));
  for (double& x : line) x = x - shift - logarithm;
}

template <Kind kind>
Result<Value> softmaxKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), out.dim()));
  const Lines target(out, dim);
  const DType dtype = out.dtype();
  const bool last16 = kind == Kind::Log && dim == std::max<std::int64_t>(out.dim(), 1) - 1 &&
                      dtype == args.tensor(0).dtype() && itemSize(dtype) == 2;
  if (last16) {
    KERF_CHECK(forLines<double>(args.tensor(0), dim, [&](std::int64_t line, std::vector<double>& values) {
      (dtype == DType::BFloat16 ? logSoftmaxLine16<BFloat16> : logSoftmaxLine16<Half>)(values);
      target.write(line, values.data());
    }));
    return Value(std::move(out));
  }
  KERF_CHECK(forLines<double>(args.tensor(0), dim, [&](std::int64_t line, std::vector<double>& values) {
    softmaxLine<kind>(values);
    target.write(line, values.data());
  }));
  return Value(std::move(out));
}

Result<Value> backwardShape(const BoundArguments& args) {
  for (DType dtype : {args.tensor(0).dtype(), args.tensor(1).dtype(), *args.dtypeIf(3)})
    if (!isFloating(dtype)) return mismatch(args, "needs floating point tensors, got {}", dtypeInfo(dtype).torchName);
  if (!checkEqual(args.tensor(0).symSizes(), args.tensor(1).symSizes()))
    return mismatch(args, "grad_output and output differ in shape");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), args.tensor(0).dim()));
  (void)dim;
  return Value(metaTensor(*args.dtypeIf(3), args.tensor(0).symSizes()));
}

template <Kind kind>
Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), out.dim()));
  const Lines outputs(args.tensor(1), dim);
  const Lines target(out, dim);
  KERF_CHECK(forLines<double>(args.tensor(0), dim, [&](std::int64_t line, std::vector<double>& grad) {
    std::vector<double> y(grad.size());
    outputs.read(line, y.data());
    const auto count = std::int64_t(grad.size());
    if (kind == Kind::Log) {
      const double sum = std::accumulate(grad.begin(), grad.end(), 0.0);
      vectorExp(y.data(), y.data(), count);
      for (std::size_t i = 0; i < y.size(); ++i) grad[i] -= y[i] * sum;
    } else {
      rowmath::softmaxGradient(grad.data(), y.data(), rowmath::dot(grad.data(), y.data(), count), count);
    }
    target.write(line, grad.data());
  }));
  return Value(std::move(out));
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr OpRow softmaxRows[] = {
    {"aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", reduction, softmaxShape,
     softmaxKernel<Kind::Plain>},
    {"aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", reduction, softmaxShape,
     softmaxKernel<Kind::Log>},
    {"aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", reduction, softmaxShape,
     softmaxKernel<Kind::Safe>},
    {"aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", reduction, softmaxShape,
     softmaxKernel<Kind::Plain>},
    {"aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", reduction, softmaxShape,
     softmaxKernel<Kind::Log>},
    {"aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
     reduction, backwardShape, backwardKernel<Kind::Plain>},
    {"aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
     reduction, backwardShape, backwardKernel<Kind::Log>},
};

const OpRegistration softmaxOps({.rows = softmaxRows});

}  // namespace

}  // namespace kerf::inline ops
