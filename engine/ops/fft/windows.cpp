// Window functions (hann, hamming, blackman, bartlett, kaiser) and single ops that fit no other family.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

// hann_window(window_length[, periodic], *, dtype, …): a periodic window is a symmetric one longer by one, cut

Result<Value> windowShape(const BoundArguments& args) {
  const SymInt length = args.symInteger(0);
  if (guardOrFalse(length < 0)) return mismatch(args, "argument 'window_length' is negative: {}", length);
  const DType dtype = args.dtypeIf(args.position("dtype")).value_or(DType::Float32);
  if (!isFloating(dtype)) return mismatch(args, "argument 'dtype' must be floating point");
  return Value(metaTensor(dtype, SymSizes{length}));
}

/// The value at a fraction x in [0, 1] of the window.
using WindowFunction = double (*)(const BoundArguments& args, double x);

double hamming(const BoundArguments& args, double x) {
  double alpha = 0.54, beta = 0.46;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    if (args.op->schema.arguments[i].name == "alpha") alpha = args.number(i);
    if (args.op->schema.arguments[i].name == "beta") beta = args.number(i);
  }
  return alpha - beta * std::cos(2 * M_PI * x);
}
double hann(const BoundArguments&, double x) { return 0.5 - 0.5 * std::cos(2 * M_PI * x); }
double blackman(const BoundArguments&, double x) {
  return 0.42 - 0.5 * std::cos(2 * M_PI * x) + 0.08 * std::cos(4 * M_PI * x);
}
double bartlett(const BoundArguments&, double x) { return 1 - std::abs(2 * x - 1); }
/// The modified Bessel function I₀, which is even; the standard library's takes what is finite and not negative.
double besselI0(double x) {
  return std::isfinite(x) ? std::cyl_bessel_i(0.0, std::abs(x)) : std::numeric_limits<double>::quiet_NaN();
}
double kaiser(const BoundArguments& args, double x) {
  const bool given = args.op->schema.arguments.size() > 2 && args.op->schema.arguments[2].name == "beta";
  const double beta = given ? args.number(2) : 12.0, place = 2 * x - 1;
  return besselI0(beta * std::sqrt(std::max(0.0, 1 - place * place))) / besselI0(beta);
}

template <WindowFunction function>
Result<Value> windowKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const std::int64_t length = out.size(0);
  const bool given = args.op->schema.arguments.size() > 1 && args.op->schema.arguments[1].name == "periodic";
  const bool periodic = !given || args.boolean(1);
  const std::int64_t whole = periodic ? length + 1 : length;
  Doubles values;
  for (std::int64_t i = 0; i < length; ++i)
    values.push_back(length == 1 ? 1 : function(args, double(i) / double(whole - 1)));
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

#define KERF_FACTORY \
  "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
#define KERF_WINDOW(name, function)                                                                 \
  {"aten::" name "(int window_length, " KERF_FACTORY, none, windowShape, windowKernel<function>}, { \
    "aten::" name ".periodic(int window_length, bool periodic, " KERF_FACTORY, none, windowShape,   \
        windowKernel<function>                                                                      \
  }

// fill_diagonal_(self, fill_value, wrap): self[i][i]…; with wrap the diagonal of a tall matrix starts again

Result<Value> fillDiagonalShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() < 2) return mismatch(args, "expects at least 2 dimensions, got {}", self.dim());
  for (const SymInt size : self.symSizes())
    if (self.dim() > 2 && guardOrFalse(size != self.symSize(0))) return mismatch(args, "dimensions must be equal");
  return Value(metaTensor(self.dtype(), self.symSizes(), self.symStrides(), self.symOffset()));
}

Result<Value> fillDiagonalKernel(const BoundArguments& args) {
  KERF_CHECK(fillDiagonalShape(args));
  const Tensor& self = args.tensor(0);
  const std::int64_t height = self.size(0), width = self.size(1), shorter = std::min(height, width);
  if (self.numel() == 0) return args.values[0];
  std::int64_t step = 0;
  for (std::int64_t stride : self.strides()) step += stride;
  const auto fillLine = [&](std::int64_t count, std::int64_t start) {
    return callOp("aten.fill_.Scalar"_op, {self.viewAs({count}, {step}, self.offset() + start), args.values[1]});
  };
  KERF_CHECK(fillLine(shorter, 0));
  if (self.dim() != 2 || !args.boolean(2)) return args.values[0];
  for (std::int64_t row = width + 1; row < height; row += width + 1)
    KERF_CHECK(fillLine(std::min(width, height - row), row * self.stride(0)));
  return args.values[0];
}

Result<Value> sameSize(const BoundArguments& args) {
  return Value(args.tensor(0).symSizes() == args.tensor(1).symSizes());
}

constexpr OpRow windowRows[] = {
    KERF_WINDOW("hann_window", hann),
    KERF_WINDOW("hamming_window", hamming),
    KERF_WINDOW("blackman_window", blackman),
    KERF_WINDOW("bartlett_window", bartlett),
    KERF_WINDOW("kaiser_window", kaiser),
    {"aten::kaiser_window.beta(int window_length, bool periodic, float beta, " KERF_FACTORY, none, windowShape,
     windowKernel<kaiser>},
    {"aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, " KERF_FACTORY, none,
     windowShape, windowKernel<hamming>},
    {"aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float "
     "beta, " KERF_FACTORY,
     none, windowShape, windowKernel<hamming>},
    {"aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
     OpTrait::Inplace | OpTrait::Impure, fillDiagonalShape, fillDiagonalKernel},
    {"aten::is_same_size(Tensor self, Tensor other) -> bool", none, sameSize, sameSize},
};

const OpRegistration windowOps({.rows = windowRows});

}  // namespace

}  // namespace kerf::inline ops
