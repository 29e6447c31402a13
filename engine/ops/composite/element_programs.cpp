// Ops that are small programs over other ops or over plain doubles.
#include <cmath>

#include "engine/ops/core/doubles.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/index/indexing.h"
#include "engine/ops/index/views.h"
#include "engine/ops/nn/planes.h"
#include "engine/ops/pointwise/element_math.h"
#include "engine/ops/pointwise/special_functions.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

Result<Value> elementShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  return Value(metaTensor(self.dtype(), self.sizes(), elementwiseStrides(std::span(&self, 1), self.sizes())));
}
Result<Value> floatElementShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  return Value(
      metaTensor(toFloating(self.dtype()), self.sizes(), elementwiseStrides(std::span(&self, 1), self.sizes())));
}

/// out = f(x) over doubles, row-major.
Result<Value> mapElements(const BoundArguments& args, const Tensor& self, auto&& f) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles x, doublesOf(self));
  for (double& value : x) value = f(value);
  KERF_CHECK(writeValues(x, out));
  return Value(std::move(out));
}

/// 16-bit floats round after every step, which shows near one half.
Result<Value> logitKernel(const BoundArguments& args) {
  const auto eps = args.numberIf(1);
  const DType dtype = toFloating(args.tensor(0).dtype());
  const auto r = [dtype](double x) { return roundedTo(dtype, x); };
  return mapElements(args, args.tensor(0), [&](double x) {
    const double low = eps ? r(*eps) : 0;
    const double z = eps ? std::clamp(x, low, std::max(low, r(1 - low))) : x;
    return std::log(r(z / r(1 - z)));
  });
}

Result<Value> logitBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0), out.sizes()));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), out.sizes()));
  const auto eps = args.numberIf(2);
  const double low = eps.value_or(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool inside = x[i] >= low && x[i] <= 1 - low;
    grad[i] = inside ? (x[i] == 0 || x[i] == 1 ? grad[i] * std::numeric_limits<double>::infinity()
                                               : grad[i] / (x[i] * (1 - x[i])))
                     : (eps ? 0 : std::numeric_limits<double>::quiet_NaN());
  }
  KERF_CHECK(writeValues(grad, out));
  return Value(std::move(out));
}

/// Largest finite value of a floating dtype.
double largestOf(DType dtype) {
  if (dtype == DType::Float64) return std::numeric_limits<double>::max();
  if (dtype == DType::Float16) return 65504;
  return dtype == DType::BFloat16 ? 0x1.fep127 : std::numeric_limits<float>::max();
}

Result<Value> nanToNumKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) {
    KERF_TRY(Tensor out, makeOutput(args));
    KERF_CHECK(copyElements(self, out));
    return Value(std::move(out));
  }
  const double largest = largestOf(self.dtype());
  const double nan = args.numberIf(1).value_or(0), high = args.numberIf(2).value_or(largest),
               low = args.numberIf(3).value_or(-largest);
  return mapElements(args, self, [=](double x) {
    return std::isnan(x) ? nan : std::isinf(x) ? (x > 0 ? high : low) : x;
  });
}

Result<Value> polygammaShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(1);
  if (args.integer(0) < 0 || args.integer(0) > 1000)
    return mismatch(args, "argument 'n' is out of range: {}", args.integer(0));
  return Value(
      metaTensor(toFloating(self.dtype()), self.sizes(), elementwiseStrides(std::span(&self, 1), self.sizes())));
}
Result<Value> polygammaKernel(const BoundArguments& args) {
  const int n = int(args.integer(0));
  const DType dtype = toFloating(args.tensor(1).dtype());
  if (dtype == DType::Float64)
    return mapElements(args, args.tensor(1), [n](double x) { return special::polygamma(n, x); });
  if (n < 2 || itemSize(dtype) == 4)
    return mapElements(args, args.tensor(1), [n](double x) { return special::polygammaSingle(n, x); });
  const double factor = std::tgamma(n + 1.0);  // 16-bit floats round the zeta function before it is multiplied
  return mapElements(args, args.tensor(1),
                     [=](double x) { return factor * roundedTo(dtype, special::polygammaSingle(n, x) / factor); });
}

Result<Value> mvlgammaKernel(const BoundArguments& args) {
  const auto p = args.integer(1);
  if (p < 1 || p > 10000) return mismatch(args, "argument 'p' is out of range: {}", p);
  const DType dtype = toFloating(args.tensor(0).dtype());
  const DType step = itemSize(dtype) < 4 ? dtype : DType::Float64;  // 16-bit floats round after every step
  return mapElements(args, args.tensor(0), [p, step](double x) {
    double sum = 0;
    for (std::int64_t i = 0; i < p; ++i) sum += roundedTo(step, std::lgamma(roundedTo(step, x - double(i) / 2)));
    return roundedTo(step, sum) + roundedTo(step, double(p * (p - 1)) / 4 * std::log(M_PI));
  });
}

Result<Value> roundDecimalsKernel(const BoundArguments& args) {
  const auto decimals = std::clamp<std::int64_t>(args.integer(1), -400, 400);  // beyond, powers of ten are infinite
  const double scale = std::pow(10.0, double(std::abs(decimals)));
  if (isIntegral(args.tensor(0).dtype())) return mapElements(args, args.tensor(0), [](double x) { return x; });
  return mapElements(args, args.tensor(0), [=](double x) {
    return decimals < 0 ? std::nearbyint(x / scale) * scale : std::nearbyint(x * scale) / scale;
  });
}

Result<Value> frexpShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) return mismatch(args, "needs a floating point input");
  const Sizes strides = elementwiseStrides(std::span(&self, 1), self.sizes());
  return Value(
      ValueList{metaTensor(self.dtype(), self.sizes(), strides), metaTensor(DType::Int32, self.sizes(), strides)});
}
Result<Value> frexpKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  std::vector<std::int64_t> exponents;
  for (double& value : x) {
    int exponent = 0;
    value = std::frexp(value, &exponent);
    exponents.push_back(std::isfinite(value) ? exponent : 0);
  }
  KERF_CHECK(writeValues(x, outs[0]));
  KERF_CHECK(writeValues(exponents, outs[1]));
  return tensorList(outs);
}

Result<Value> logSigmoidShape(const BoundArguments& args) {
  const Value one = metaTensor(args.tensor(0).dtype(), args.tensor(0).sizes());
  return Value(ValueList{one, one});
}
/// The buffer holds exp(-|x|).
Result<Value> logSigmoidKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  Doubles buffer;
  for (double& value : x) {
    buffer.push_back(std::exp(-std::abs(value)));
    value = std::min(value, 0.0) - std::log1p(buffer.back());
  }
  KERF_CHECK(writeValues(x, outs[0]));
  KERF_CHECK(writeValues(buffer, outs[1]));
  return tensorList(outs);
}

Result<Value> rreluBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), out.sizes()));
  KERF_TRY(const Doubles noise, doublesOf(args.tensor(2), out.sizes()));
  const double lower = args.number(3), upper = args.number(4);
  const bool random = args.boolean(5) && upper - lower > 1e-6;
  for (std::size_t i = 0; i < grad.size(); ++i) grad[i] *= random ? noise[i] : x[i] > 0 ? 1 : (lower + upper) / 2;
  KERF_CHECK(writeValues(grad, out));
  return Value(std::move(out));
}

Result<Value> preluBackwardShape(const BoundArguments& args) {
  KERF_TRY(const Sizes sizes, broadcastSizes(args.tensor(1).sizes(), args.tensor(2).sizes()));
  const Tensor operands[] = {args.tensor(1), args.tensor(2), args.tensor(0)};
  const Value one = metaTensor(args.tensor(1).dtype(), sizes, elementwiseStrides(operands, sizes));
  return Value(ValueList{one, one});
}
Result<Value> preluBackwardKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0), outs[0].sizes()));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), outs[0].sizes()));
  KERF_TRY(const Doubles weight, doublesOf(args.tensor(2), outs[0].sizes()));
  Doubles weightGrad(grad.size());
  for (std::size_t i = 0; i < grad.size(); ++i) {
    weightGrad[i] = x[i] > 0 ? 0 : x[i] * grad[i];
    grad[i] = x[i] > 0 ? grad[i] : weight[i] * grad[i];
  }
  KERF_CHECK(writeValues(grad, outs[0]));
  KERF_CHECK(writeValues(weightGrad, outs[1]));
  return tensorList(outs);
}

// Whole-tensor comparisons

Result<Value> boolShape(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{}: the result depends on values", args.opName());
}
Result<Value> equalKernel(const BoundArguments& args) {
  if (args.tensor(0).sizes() != args.tensor(1).sizes()) return Value(false);
  KERF_TRY(const Tensor same, callTensorOp("aten.eq.Tensor"_op, {args.values[0], args.values[1]}));
  KERF_TRY(const Tensor all, callTensorOp("aten.all.default"_op, {same}));
  return Value(all.itemAsInt() != 0);
}
Result<Value> allcloseKernel(const BoundArguments& args) {
  KERF_TRY(const Sizes sizes, broadcastSizes(args.tensor(0).sizes(), args.tensor(1).sizes()));
  KERF_TRY(const Doubles a, doublesOf(args.tensor(0), sizes));
  KERF_TRY(const Doubles b, doublesOf(args.tensor(1), sizes));
  const double relative = args.number(2), absolute = args.number(3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool bothNan = std::isnan(a[i]) && std::isnan(b[i]) && args.boolean(4);
    const bool close =
        a[i] == b[i] || (std::isfinite(b[i]) && std::abs(a[i] - b[i]) <= absolute + relative * std::abs(b[i]));
    if (!bothNan && !close) return Value(false);
  }
  return Value(true);
}

Result<Value> distShape(const BoundArguments& args) {
  KERF_TRY(const Value difference, inferShapes("aten.sub.Tensor"_op, {args.values[0], args.values[1]}, {}));
  return inferShapes("aten.linalg_vector_norm.default"_op, {difference, args.values[2]}, {});
}
Result<Value> distKernel(const BoundArguments& args) {
  KERF_TRY(const Tensor difference, callTensorOp("aten.sub.Tensor"_op, {args.values[0], args.values[1]}));
  return callOp("aten.linalg_vector_norm.default"_op, {difference, args.values[2]});
}

// Shuffles: views of split dimensions, copied

struct Shuffle {
  Sizes split, order, joined;
};

Result<Tensor> shuffled(const Tensor& self, const Shuffle& plan) {
  KERF_TRY(const Tensor flat, self.contiguous());
  KERF_TRY(const Tensor turned,
           permuteView(flat.viewAs(plan.split, contiguousStrides(plan.split), flat.offset()), plan.order).clone());
  return turned.viewAs(plan.joined, contiguousStrides(plan.joined), turned.offset());
}

/// Leading dimensions count as one batch.
Result<Shuffle> shufflePlan(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const std::int64_t factor = args.integer(1);
  const std::string& name = args.op->schema.name;
  const std::size_t needed = name == "aten::channel_shuffle" ? 2 : 3;
  if (self.sizes().size() < needed || factor <= 0 || factor > (1 << 20))
    return mismatch(args, "needs {} dimensions and a positive factor", needed);
  Shuffle plan;
  if (name == "aten::channel_shuffle") {
    const std::int64_t channels = self.size(1),
                       area = self.size(0) * channels == 0 ? 0 : self.numel() / self.size(0) / channels;
    if (channels % factor != 0) return mismatch(args, "{} channels do not divide into {} groups", channels, factor);
    return Shuffle{{self.size(0), factor, channels / factor, area}, {0, 2, 1, 3}, self.sizes()};
  }
  const std::size_t rank = self.sizes().size();
  const std::int64_t c = self.sizes()[rank - 3], h = self.sizes()[rank - 2], w = self.sizes()[rank - 1];
  std::int64_t batch = 1;
  plan.joined.assign(self.sizes().begin(), self.sizes().end() - 3);
  for (std::int64_t size : plan.joined) batch *= size;
  if (name == "aten::pixel_shuffle") {
    if (c % (factor * factor) != 0) return mismatch(args, "{} channels are no multiple of {}", c, factor * factor);
    plan.split = {batch, c / (factor * factor), factor, factor, h, w};
    plan.order = {0, 1, 4, 2, 5, 3};
    plan.joined.insert(plan.joined.end(), {c / (factor * factor), h * factor, w * factor});
    return plan;
  }
  if (h % factor != 0 || w % factor != 0)
    return mismatch(args, "height {} and width {} must be multiples of {}", h, w, factor);
  plan.split = {batch, c, h / factor, factor, w / factor, factor};
  plan.order = {0, 1, 3, 5, 2, 4};
  plan.joined.insert(plan.joined.end(), {c * factor * factor, h / factor, w / factor});
  return plan;
}

Result<Value> shuffleShape(const BoundArguments& args) {
  KERF_TRY(const Shuffle plan, shufflePlan(args));
  return Value(metaTensor(args.tensor(0).dtype(), plan.joined));
}
Result<Value> shuffleKernel(const BoundArguments& args) {
  KERF_TRY(const Shuffle plan, shufflePlan(args));
  KERF_TRY(Tensor out, shuffled(args.tensor(0), plan));
  return Value(std::move(out));
}

// glu(self, dim): first half times sigmoid of the second

Result<Value> gluShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "needs at least one dimension");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  if (self.size(dim) % 2 != 0) return mismatch(args, "dimension {} of size {} cannot be halved", dim, self.size(dim));
  Sizes sizes = self.sizes();
  sizes[std::size_t(dim)] /= 2;
  return Value(metaTensor(self.dtype(), sizes));
}
Result<Value> gluKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  const std::int64_t half = self.size(dim) / 2;
  KERF_TRY(const Tensor first, sliceView(args, self, dim, 0, half, 1));
  KERF_TRY(const Tensor second, sliceView(args, self, dim, half, 2 * half, 1));
  KERF_TRY(Doubles x, doublesOf(first));
  KERF_TRY(const Doubles gate, doublesOf(second));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= element::sigmoid(gate[i]);
  KERF_CHECK(writeValues(x, out));
  return Value(std::move(out));
}

// diag_embed and block_diag

Result<Value> diagEmbedShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "needs at least one dimension");
  KERF_TRY(const Sizes dims, wrapDims(args, {args.integer(2), args.integer(3)}, self.dim() + 1));
  const std::int64_t offset = args.integer(1);
  if (offset > (1LL << 40) || offset < -(1LL << 40))
    return fail(ErrorCode::TooLarge, "{}: offset {}", args.opName(), offset);
  const std::int64_t side = self.sizes().back() + std::abs(offset);
  Sizes sizes(self.sizes().begin(), self.sizes().end() - 1);
  for (std::int64_t dim : {std::min(dims[0], dims[1]), std::max(dims[0], dims[1])})
    sizes.insert(sizes.begin() + dim, side);
  return Value(metaTensor(self.dtype(), sizes));
}
Result<Value> diagEmbedKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor diagonal, diagonalView(args, out, args.integer(1), args.integer(2), args.integer(3)));
  KERF_CHECK(copyElements(args.tensor(0), diagonal));
  return Value(std::move(out));
}

Result<Value> blockDiagShape(const BoundArguments& args) {
  Sizes sizes{0, 0};
  ResultType type;
  for (const Tensor& tensor : args.tensors(0)) {
    if (tensor.dim() > 2) return mismatch(args, "tensors must have at most 2 dimensions, got {}", tensor.dim());
    type.add(Value(metaTensor(tensor.dtype(), Sizes{1})));
    sizes[0] += tensor.dim() == 2 ? tensor.size(0) : 1;
    sizes[1] += tensor.dim() == 0 ? 1 : tensor.sizes().back();
  }
  if (args.tensors(0).empty()) sizes = {1, 0};
  return Value(metaTensor(type.dtype(), sizes));
}
Result<Value> blockDiagKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  std::int64_t row = 0, column = 0;
  for (const Tensor& tensor : args.tensors(0)) {
    const Sizes sizes{tensor.dim() == 2 ? tensor.size(0) : 1, tensor.dim() == 0 ? 1 : tensor.sizes().back()};
    const Sizes strides{tensor.dim() == 2 ? tensor.stride(0) : 0, tensor.dim() == 0 ? 0 : tensor.strides().back()};
    const Tensor block = out.viewAs(sizes, out.strides(), out.offset() + row * out.stride(0) + column * out.stride(1));
    KERF_CHECK(copyElements(tensor.viewAs(sizes, strides, tensor.offset()), block));
    row += sizes[0];
    column += sizes[1];
  }
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpTrait pointwise = OpTrait::Pointwise;
constexpr OpRow rows[] = {
    {"aten::logit(Tensor self, float? eps=None) -> Tensor", pointwise, floatElementShape, logitKernel},
    {"aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor", pointwise, elementShape,
     logitBackwardKernel},
    {"aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", pointwise,
     elementShape, nanToNumKernel},
    {"aten::polygamma(int n, Tensor self) -> Tensor", pointwise, polygammaShape, polygammaKernel},
    {"aten::mvlgamma(Tensor self, int p) -> Tensor", pointwise, floatElementShape, mvlgammaKernel},
    {"aten::round.decimals(Tensor self, *, int decimals) -> Tensor", pointwise, elementShape, roundDecimalsKernel},
    {"aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", pointwise, frexpShape, frexpKernel},
    {"aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", pointwise, logSigmoidShape,
     logSigmoidKernel},
    {"aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool "
     "training, "
     "bool self_is_result) -> Tensor",
     pointwise, elementShape, rreluBackwardKernel},
    {"aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)", pointwise,
     preluBackwardShape, preluBackwardKernel},
    {"aten::equal(Tensor self, Tensor other) -> bool", OpTrait::DataDependent, boolShape, equalKernel},
    {"aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool "
     "equal_nan=False) -> bool",
     OpTrait::DataDependent, boolShape, allcloseKernel},
    {"aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", OpTrait::Reduction, distShape, distKernel},
    {"aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", none, shuffleShape, shuffleKernel},
    {"aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", none, shuffleShape, shuffleKernel},
    {"aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", none, shuffleShape, shuffleKernel},
    {"aten::glu(Tensor self, int dim=-1) -> Tensor", none, gluShape, gluKernel},
    {"aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", none, diagEmbedShape,
     diagEmbedKernel},
    {"aten::block_diag(Tensor[] tensors) -> Tensor", none, blockDiagShape, blockDiagKernel},
};

}  // namespace

OpRows elementProgramOps() { return rows; }

}  // namespace kerf::inline ops
