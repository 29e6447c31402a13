// Ops that make tensors from sizes and numbers.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/convert.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

DType dtypeOfNumber(const Value& value) {
  ResultType type;
  type.add(value);
  return type.dtype();
}

DType dtypeArgument(const BoundArguments& args, DType otherwise) {
  return args.dtypeIf(args.position("dtype")).value_or(otherwise);
}

/// 0-d tensor of `dtype` that holds a Python number.
Tensor numberAs(const Value& value, DType dtype) {
  if (const auto* integer = value.as<std::int64_t>()) return Tensor::scalarInt(*integer, dtype);
  if (const auto* flag = value.as<bool>()) return Tensor::scalarInt(*flag, dtype);
  return Tensor::scalar(value.as<double>() ? *value.as<double>() : 0.0, dtype);
}

Result<void> fill(const Tensor& out, const Value& number) {
  const Tensor value = numberAs(number, out.dtype());
  return copyElements(value.viewAs(out.sizes(), Sizes(out.sizes().size(), 0), 0), out);
}

Result<Value> emptyOf(const BoundArguments& args, DType dtype, const SymSizes& sizes) {
  for (const SymInt size : sizes)
    if (!guardOrTrue(size >= 0)) return mismatch(args, "size {} is negative", size);
  return Value(metaTensor(dtype, sizes));
}

// full(size, value), new_full(self, size, value), zeros(size), …
Result<Value> fullShape(const BoundArguments& args) {
  return emptyOf(args, dtypeArgument(args, dtypeOfNumber(args.values[1])), args.symSizes(0));
}
Result<Value> floatShape(const BoundArguments& args) {
  return emptyOf(args, dtypeArgument(args, DType::Float32), args.symSizes(0));
}
Result<Value> newShape(const BoundArguments& args) {
  return emptyOf(args, dtypeArgument(args, args.tensor(0).dtype()), args.symSizes(1));
}
Result<Value> stridedShape(const BoundArguments& args) {
  const bool isNew = args.op->schema.arguments[0].name == "self";
  const std::size_t first = isNew ? 1 : 0;
  const DType dtype = dtypeArgument(args, isNew ? args.tensor(0).dtype() : DType::Float32);
  const SymSizes sizes = args.symSizes(first), strides = args.symSizes(first + 1);
  if (sizes.size() != strides.size()) return mismatch(args, "size and stride differ in length");
  for (const SymInt stride : strides)
    if (!guardOrTrue(stride >= 0)) return mismatch(args, "stride {} is negative", stride);
  KERF_CHECK(emptyOf(args, dtype, sizes));
  return Value(metaTensor(dtype, sizes, strides));
}
/// physical_layout lists the dimensions from the outermost to the innermost in memory.
Result<Value> permutedShape(const BoundArguments& args) {
  const SymSizes sizes = args.symSizes(0);
  KERF_TRY(const Sizes order, wrapDims(args, args.sizes(1), std::int64_t(sizes.size())));
  if (order.size() != sizes.size()) return mismatch(args, "physical_layout must name every dimension");
  KERF_CHECK(emptyOf(args, DType::Float32, sizes));
  SymSizes strides(sizes.size());
  SymInt next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto dim = std::size_t(order[i]);
    strides[dim] = next;
    next *= symMax(sizes[dim], 1);  // sizes are checked when they are used
  }
  return Value(metaTensor(dtypeArgument(args, DType::Float32), sizes, std::move(strides)));
}
Result<Value> likeShape(const BoundArguments& args) {
  const auto* format = args.values[args.position("memory_format")].as<MemoryFormat>();
  auto strides = likeStrides(args.tensor(0), format ? std::optional(*format) : std::nullopt);
  if (!strides) return mismatch(args, "{}", strides.error().message);
  return Value(metaTensor(dtypeArgument(args, args.tensor(0).dtype()), args.tensor(0).symSizes(), std::move(*strides)));
}
Result<Value> scalarShape(const BoundArguments& args) {
  return Value(metaTensor(dtypeArgument(args, DType::Float32), {}));
}

template <int number>
Result<Value> fillKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (number != 0) KERF_CHECK(fill(out, Value(std::int64_t{number})));
  return Value(std::move(out));
}
/// The last argument before the keyword-only ones is the number.
template <std::size_t position>
Result<Value> fillArgument(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_CHECK(fill(out, args.values[position]));
  return Value(std::move(out));
}

/// fill(self, value): like self, strides kept.
Result<Value> fillShape(const BoundArguments& args) {
  KERF_TRY(SymSizes strides, likeStrides(args.tensor(0), {}));
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes(), std::move(strides)));
}
Result<Value> fillTensorShape(const BoundArguments& args) {
  const std::int64_t rank = args.tensor(1).dim();
  if (rank != 0) return mismatch(args, "argument 'value' must have no dimensions, has {}", rank);
  return fillShape(args);
}
Result<Value> fillTensorKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& value = args.tensor(1);
  KERF_CHECK(copyElements(value.viewAs(out.sizes(), Sizes(out.sizes().size(), 0), value.offset()), out));
  return Value(std::move(out));
}

// arange and iota
struct Range {
  Value start = std::int64_t{0}, end, step = std::int64_t{1};
};

Range rangeOf(const BoundArguments& args) {
  const auto& arguments = args.op->schema.arguments;
  Range range;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == "start") range.start = args.values[i];
    if (arguments[i].name == "end") range.end = args.values[i];
    if (arguments[i].name == "step") range.step = args.values[i];
  }
  return range;
}

double asDouble(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return double(*integer);
  if (const auto* flag = value.as<bool>()) return *flag;
  return value.as<double>() ? *value.as<double>() : 0;
}

std::int64_t asInteger(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  return convertElement<std::int64_t>(asDouble(value));
}

/// int64 ranges truncate start, end and step before they count; the others count in double.
double rangeLength(const Range& range, DType dtype) {
  if (dtype != DType::Int64) return (asDouble(range.end) - asDouble(range.start)) / asDouble(range.step);
  const auto whole = [](const Value& value) {
    return value.as<double>() ? std::trunc(asDouble(value)) : asDouble(value);
  };
  return (whole(range.end) - whole(range.start)) / whole(range.step);
}

bool isWhole(const Value& value) {
  const auto* symbolic = value.as<SymNumber>();
  return symbolic ? symbolic->kind != SymKind::Float : !value.as<double>();
}

Symbolic expressionOf(const Value& value) {
  if (const auto* symbolic = value.as<SymNumber>()) return ShapeEnv::current()->expression(symbolic->value);
  return value.as<double>() ? Symbolic::real(*value.as<double>()) : Symbolic::integer(asInteger(value));
}

/// The number without its fraction.
Result<SymInt> truncated(const Value& value) {
  if (const auto number = value.asSymInt()) return *number;
  if (!value.as<SymNumber>()) return SymInt(asInteger(value));
  KERF_TRY(const Symbolic whole, Symbolic::call("TruncToInt", {expressionOf(value)}));
  return ShapeEnv::current()->intern(whole);
}

/// ceil((end - start) / step) in floats.
Result<SymInt> realLength(const Range& range) {
  KERF_TRY(const Symbolic quotient, Symbolic::call("FloatTrueDiv", {expressionOf(range.end) - expressionOf(range.start),
                                                                    expressionOf(range.step)}));
  KERF_TRY(const Symbolic length, Symbolic::call("CeilToInt", {quotient}));
  return ShapeEnv::current()->intern(length);
}

/// arange where start, end or step is an expression: as torch._refs.arange counts.
Result<Value> symbolicArange(const BoundArguments& args, const Range& range, DType dtype) {
  const bool counts = dtype == DType::Int64 || (isWhole(range.start) && isWhole(range.end) && isWhole(range.step));
  if (!counts) {
    KERF_TRY(const SymInt length, realLength(range));
    return Value(metaTensor(dtype, SymSizes{length}));
  }
  KERF_TRY(const SymInt start, truncated(range.start));
  KERF_TRY(const SymInt end, truncated(range.end));
  KERF_TRY(const SymInt step, truncated(range.step));
  const bool up = step > 0;
  if (!up && step == 0) return mismatch(args, "step must be nonzero");
  if (!guardOrTrue(up ? end >= start : end <= start))
    return mismatch(args, "no range from {} to {} in steps of {}", start, end, step);
  return Value(metaTensor(dtype, SymSizes{floorDiv(end - start + step - (up ? 1 : -1), step)}));
}

Result<Value> arangeShape(const BoundArguments& args) {
  const Range range = rangeOf(args);
  const bool whole = isWhole(range.start) && isWhole(range.end) && isWhole(range.step);
  const DType dtype = dtypeArgument(args, whole ? DType::Int64 : DType::Float32);
  if (range.start.as<SymNumber>() || range.end.as<SymNumber>() || range.step.as<SymNumber>())
    return symbolicArange(args, range, dtype);
  const double step = asDouble(range.step);
  const double length = rangeLength(range, dtype);
  if (step == 0 || !std::isfinite(length) || length < 0)
    return mismatch(args, "no range from {} to {} in steps of {}", asDouble(range.start), asDouble(range.end), step);
  if (length > 9e18) return fail(ErrorCode::TooLarge, "{}: {} elements", args.opName(), length);
  return Value(metaTensor(dtype, Sizes{std::int64_t(std::ceil(length))}));
}

/// out[i] = start + i * step: in int64 for integer outputs, whose start and step are truncated, else in double.
Result<void> fillRange(const Tensor& out, const Value& start, const Value& step) {
  const std::int64_t count = out.numel();
  return dispatchAll(out.dtype(), [&]<class T>() {
    T* data = out.data<T>();
    if (isIntegral(out.dtype()))
      for (std::int64_t i = 0; i < count; ++i)
        data[i] = convertElement<T>(element::add(asInteger(start), element::mul(i, asInteger(step))));
    else
      for (std::int64_t i = 0; i < count; ++i)
        data[i] = convertElement<T>(asDouble(start) + double(i) * asDouble(step));
  });
}

Result<Value> arangeKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Range range = rangeOf(args);
  KERF_CHECK(fillRange(out, range.start, range.step));
  return Value(std::move(out));
}

Result<Value> iotaShape(const BoundArguments& args) {
  const SymInt length = args.symInteger(0);
  if (!guardOrTrue(length >= 0)) return mismatch(args, "argument 'length' is negative");
  return Value(metaTensor(*args.dtypeIf(3), SymSizes{length}));
}

/// linspace and logspace from Python numbers or 0-d tensors.
Result<Value> spaceShape(const BoundArguments& args) {
  const SymInt steps = args.symInteger(2);
  if (!guardOrTrue(steps >= 0)) return mismatch(args, "number of steps must be non-negative, got {}", steps);
  return Value(metaTensor(dtypeArgument(args, DType::Float32), SymSizes{steps}));
}

double endpoint(const Value& value) { return value.isTensor() ? value.tensor().itemAsDouble() : asDouble(value); }

/// Points evenly spaced from both ends, in PyTorch's arithmetic. linspace: float types round the ends, the step, each
/// product and each sum to themselves (float and double sums are fused), integers truncate the ends and step in double.
/// logspace steps in double always.
template <class T, bool logarithmic>
struct EvenPoints {
  static constexpr bool fused = logarithmic || !isReducedFloat<T>;
  using Step = std::conditional_t<!logarithmic && (isReducedFloat<T> || std::is_same_v<T, float>), T, double>;
  static Step rounded(double x) { return convertElement<Step>(x); }

  double start, end, step;
  std::int64_t steps;

  EvenPoints(double from, double to, std::int64_t count)
      : start(wide(convertElement<T>(from))), end(wide(convertElement<T>(to))), step(0), steps(count) {
    if (count > 1) step = wide(rounded(wide(rounded(end - start)) / wide(rounded(double(count - 1)))));
  }
  static double wide(T value)
    requires(!std::is_same_v<T, Step>)
  {
    return convertElement<double>(value);
  }
  static double wide(Step value) { return convertElement<double>(value); }

  double operator[](std::int64_t i) const {
    const bool fromStart = i < steps / 2;
    const double times = wide(rounded(double(fromStart ? i : steps - 1 - i)));
    if (fused) return std::fma(fromStart ? step : -step, times, fromStart ? start : end);
    const double product = wide(rounded(step * times));
    return fromStart ? start + product : end - product;
  }
};

template <bool logarithmic>
Result<Value> spaceKernel(const BoundArguments& args) {
  for (std::size_t i : {0, 1})
    if (const Tensor* tensor = args.tensorIf(i); tensor && tensor->dim() != 0)
      return mismatch(args, "argument '{}' must be a number or a 0-d tensor", args.op->schema.arguments[i].name);
  KERF_TRY(Tensor out, makeOutput(args));
  const double start = endpoint(args.values[0]), end = endpoint(args.values[1]);
  const std::int64_t steps = args.integer(2);
  const double base = logarithmic ? args.number(3) : 0;
  KERF_CHECK(dispatchAll(out.dtype(), [&]<class T>() {
    const EvenPoints<T, logarithmic> points(start, end, steps);
    for (std::int64_t i = 0; i < steps; ++i) {
      const double x = steps == 1 ? points.start : points[i];
      out.data<T>()[i] = convertElement<T>(logarithmic ? std::pow(base, x) : x);
    }
  }));
  return Value(std::move(out));
}

Result<Value> eyeShape(const BoundArguments& args) {
  const SymInt rows = args.symInteger(0), columns = args.op->schema.overload == "m" ? args.symInteger(1) : rows;
  return emptyOf(args, dtypeArgument(args, DType::Float32), {rows, columns});
}
Result<Value> eyeKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const std::int64_t count = std::min(out.size(0), out.size(1));
  if (count == 0) return Value(std::move(out));
  const Tensor diagonal = out.viewAs({count}, {out.size(1) + 1}, 0);
  KERF_CHECK(fill(diagonal, Value(std::int64_t{1})));
  return Value(std::move(out));
}

/// Coordinates [2, n] of the lower or upper triangle.
std::vector<std::pair<std::int64_t, std::int64_t>> triangle(const BoundArguments& args, bool lower) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  const std::int64_t rows = args.integer(0), columns = args.integer(1), offset = args.integer(2);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t begin = lower ? 0 : std::clamp<std::int64_t>(r + offset, 0, columns);
    const std::int64_t end = lower ? std::clamp<std::int64_t>(r + offset + 1, 0, columns) : columns;
    for (std::int64_t c = begin; c < end; ++c) result.emplace_back(r, c);
  }
  return result;
}
Result<void> checkTriangle(const BoundArguments& args) {
  if (args.integer(0) < 0 || args.integer(1) < 0) return mismatch(args, "row and column counts must not be negative");
  if (args.integer(0) > (1 << 20) || args.integer(1) > (1 << 20) || args.integer(2) > (1LL << 40) ||
      args.integer(2) < -(1LL << 40))
    return fail(ErrorCode::TooLarge, "{}: {} x {}", args.opName(), args.integer(0), args.integer(1));
  return {};
}
template <bool lower>
Result<Value> triangleShape(const BoundArguments& args) {
  KERF_CHECK(checkTriangle(args));
  std::int64_t count = 0;
  const std::int64_t columns = args.integer(1), offset = args.integer(2);
  for (std::int64_t r = 0; r < args.integer(0); ++r)
    count += lower ? std::clamp<std::int64_t>(r + offset + 1, 0, columns)
                   : columns - std::clamp<std::int64_t>(r + offset, 0, columns);
  return Value(metaTensor(dtypeArgument(args, DType::Int64), Sizes{2, count}));
}
template <bool lower>
Result<Value> triangleKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const auto cells = triangle(args, lower);
  const auto count = std::int64_t(cells.size());
  KERF_CHECK(dispatchAll(out.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < count; ++i) {
      out.data<T>()[i] = convertElement<T>(cells[std::size_t(i)].first);
      out.data<T>()[count + i] = convertElement<T>(cells[std::size_t(i)].second);
    }
  }));
  return Value(std::move(out));
}

#define KERF_FACTORY ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define KERF_LIKE KERF_FACTORY ", MemoryFormat? memory_format=None) -> Tensor"

constexpr OpTrait none = OpTrait::None;
constexpr OpTrait pointwise = OpTrait::Pointwise;
constexpr OpRow creationRows[] = {
    {"aten::full(SymInt[] size, Scalar fill_value" KERF_FACTORY ") -> Tensor", none, fullShape, fillArgument<1>},
    {"aten::zeros(SymInt[] size" KERF_FACTORY ") -> Tensor", none, floatShape, fillKernel<0>},
    {"aten::ones(SymInt[] size" KERF_FACTORY ") -> Tensor", none, floatShape, fillKernel<1>},
    {"aten::empty.memory_format(SymInt[] size" KERF_LIKE, none, floatShape, fillKernel<0>},
    {"aten::empty_strided(SymInt[] size, SymInt[] stride" KERF_FACTORY ") -> Tensor", none, stridedShape,
     fillKernel<0>},
    {"aten::empty_permuted(SymInt[] size, int[] physical_layout" KERF_FACTORY ") -> Tensor", none, permutedShape,
     fillKernel<0>},
    {"aten::_efficientzerotensor(SymInt[] size" KERF_FACTORY ") -> Tensor", none, floatShape, fillKernel<0>},
    {"aten::new_full(Tensor self, SymInt[] size, Scalar fill_value" KERF_FACTORY ") -> Tensor", none, newShape,
     fillArgument<2>},
    {"aten::new_zeros(Tensor self, SymInt[] size" KERF_FACTORY ") -> Tensor", none, newShape, fillKernel<0>},
    {"aten::new_ones(Tensor self, SymInt[] size" KERF_FACTORY ") -> Tensor", none, newShape, fillKernel<1>},
    {"aten::new_empty(Tensor self, SymInt[] size" KERF_FACTORY ") -> Tensor", none, newShape, fillKernel<0>},
    {"aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride" KERF_FACTORY ") -> Tensor", none,
     stridedShape, fillKernel<0>},
    {"aten::full_like(Tensor self, Scalar fill_value" KERF_LIKE, pointwise, likeShape, fillArgument<1>},
    {"aten::zeros_like(Tensor self" KERF_LIKE, pointwise, likeShape, fillKernel<0>},
    {"aten::ones_like(Tensor self" KERF_LIKE, pointwise, likeShape, fillKernel<1>},
    {"aten::empty_like(Tensor self" KERF_LIKE, pointwise, likeShape, fillKernel<0>},
    {"aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", none, fillShape, fillArgument<1>},
    {"aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", none, fillTensorShape, fillTensorKernel},
    {"aten::zero(Tensor self) -> Tensor", none, fillShape, fillKernel<0>},
    {"aten::scalar_tensor(Scalar s" KERF_FACTORY ") -> Tensor", none, scalarShape, fillArgument<0>},
    {"aten::arange(Scalar end" KERF_FACTORY ") -> Tensor", none, arangeShape, arangeKernel},
    {"aten::arange.start(Scalar start, Scalar end" KERF_FACTORY ") -> Tensor", none, arangeShape, arangeKernel},
    {"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1" KERF_FACTORY ") -> Tensor", none, arangeShape,
     arangeKernel},
    {"prims::iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool requires_grad) -> "
     "Tensor",
     none, iotaShape, arangeKernel},
    {"aten::linspace(Scalar start, Scalar end, int steps" KERF_FACTORY ") -> Tensor", none, spaceShape,
     spaceKernel<false>},
    {"aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps" KERF_FACTORY ") -> Tensor", none, spaceShape,
     spaceKernel<false>},
    {"aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps" KERF_FACTORY ") -> Tensor", none, spaceShape,
     spaceKernel<false>},
    {"aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps" KERF_FACTORY ") -> Tensor", none, spaceShape,
     spaceKernel<false>},
    {"aten::logspace(Scalar start, Scalar end, int steps, float base=10." KERF_FACTORY ") -> Tensor", none, spaceShape,
     spaceKernel<true>},
    {"aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10." KERF_FACTORY ") -> Tensor",
     none, spaceShape, spaceKernel<true>},
    {"aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10." KERF_FACTORY ") -> Tensor",
     none, spaceShape, spaceKernel<true>},
    {"aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10." KERF_FACTORY ") -> Tensor",
     none, spaceShape, spaceKernel<true>},
    {"aten::eye(SymInt n" KERF_FACTORY ") -> Tensor", none, eyeShape, eyeKernel},
    {"aten::eye.m(SymInt n, SymInt m" KERF_FACTORY ") -> Tensor", none, eyeShape, eyeKernel},
    {"aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
     "device=None, "
     "bool? pin_memory=None) -> Tensor",
     none, triangleShape<true>, triangleKernel<true>},
    {"aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? "
     "device=None, "
     "bool? pin_memory=None) -> Tensor",
     none, triangleShape<false>, triangleKernel<false>},
};

const OpRegistration creationOps({.rows = creationRows});

}  // namespace

}  // namespace kerf::inline ops
