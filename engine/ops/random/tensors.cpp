// Random tensors from the thread's generators, with PyTorch's numbers for a seed (see random_draws.h).
#include <cmath>
#include <limits>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/ops/random/draws.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
bool onCuda(const Tensor& tensor) { return tensor.device().type == "cuda"; }

/// The tensor's memory as one line: fresh outputs are dense, so that is the order in which PyTorch fills them.
Tensor lineOf(const Tensor& dense, std::int64_t parts = 1) {
  const DType dtype = parts == 2 ? partOf(dense.dtype()) : dense.dtype();
  return Tensor(dense.storage(), dtype, {dense.numel() * parts}, {1}, dense.offset() * parts);
}

template <class V>
Result<void> writeLine(std::vector<V>& values, const Tensor& line) {
  if (values.empty()) return {};
  auto* bytes = reinterpret_cast<std::byte*>(values.data());
  const Tensor source(Storage::borrow(bytes, std::int64_t(values.size() * sizeof(V)), std::make_shared<int>(0)),
                      std::is_same_v<V, double> ? DType::Float64 : DType::Int64, line.sizes(), line.strides());
  return copyElements(source, line);
}

/// Complex tensors are drawn as their parts, normals with half of the variance each.
Result<void> fill(const Tensor& out, Distribution kind, double a, double b) {
  const bool parts = isComplex(out.dtype());
  const Tensor line = lineOf(out, parts ? 2 : 1);
  if (!isFloating(line.dtype()) && kind != Distribution::Bernoulli && kind != Distribution::Geometric)
    return fail(ErrorCode::UnsupportedOp, "no random {} from this distribution", dtypeInfo(out.dtype()).torchName);
  if (parts && kind == Distribution::Normal) b /= std::sqrt(2.0);
  auto values = drawValues(kind, line.dtype(), line.numel(), a, b, onCuda(out), out.isContiguous());
  return writeLine(values, line);
}

Result<Value> checkedSizes(const BoundArguments& args, DType dtype, const SymSizes& sizes) {
  for (const SymInt size : sizes)
    if (guardOrFalse(size < 0)) return mismatch(args, "size {} is negative", size);
  return Value(metaTensor(dtype, sizes));
}

/// Sizes from the `size` argument or, in the _like forms, from self.
Result<Value> newShape(const BoundArguments& args, DType fallback) {
  const auto dtypeAt = find(args, "dtype");
  const bool like = args.op->schema.arguments[0].name == "self";
  const DType own = like ? args.tensor(0).dtype() : fallback;
  const DType dtype = dtypeAt ? args.dtypeIf(*dtypeAt).value_or(own) : own;
  if (!like) return checkedSizes(args, dtype, args.symSizes(args.position("size")));
  const auto formatAt = find(args, "memory_format");
  const auto* format = formatAt ? args.values[*formatAt].as<MemoryFormat>() : nullptr;
  auto strides = likeStrides(args.tensor(0), format ? std::optional(*format) : std::nullopt);
  if (!strides) return mismatch(args, "{}", strides.error().message);
  return Value(metaTensor(dtype, args.tensor(0).symSizes(), std::move(*strides)));
}

// rand, randn and their _like forms

Result<Value> floatShape(const BoundArguments& args) {
  KERF_TRY(Value meta, newShape(args, DType::Float32));
  const DType dtype = meta.tensor().dtype();
  if (!isComplex(dtype) && !isFloating(dtype)) return mismatch(args, "needs a floating point or complex dtype");
  return meta;
}
template <Distribution kind>
Result<Value> unitKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_CHECK(fill(out, kind, 0, 1));
  return Value(std::move(out));
}

// rngprims::philox_rand(size, seed, offset, stride, device, dtype): what aten.rand draws of a CUDA generator in that
// state, and by how much it moves the offset on (torch._prims.rng_prims).

Result<Value> philoxShape(const BoundArguments& args) {
  if (!args.none(3)) return mismatch(args, "strides are not supported");
  const DType dtype = args.dtypeIf(5).value_or(DType::Float32);
  if (!isFloating(dtype)) return mismatch(args, "needs a floating point dtype");
  KERF_TRY(Value numbers, checkedSizes(args, dtype, args.symSizes(0)));
  return Value(ValueList{std::move(numbers), metaTensor(DType::Int64, Sizes{})});
}

Result<Value> philoxKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  if (!onCuda(outs[0])) return mismatch(args, "only a CUDA generator has an offset");
  if (args.tensor(1).numel() != 1 || args.tensor(2).numel() != 1)
    return mismatch(args, "seed and offset are one number each");
  RandomState& state = randomState();
  const std::uint64_t seed = state.cudaSeed, offset = state.cudaOffset;
  state.cudaSeed = std::uint64_t(args.tensor(1).itemAsInt());
  const std::uint64_t first = state.cudaOffset = std::uint64_t(args.tensor(2).itemAsInt());
  const auto filled = fill(outs[0], Distribution::Uniform, 0, 1);
  outs[1].data<std::int64_t>()[0] = std::int64_t(state.cudaOffset - first);
  state.cudaSeed = seed, state.cudaOffset = offset;
  KERF_CHECK(filled);
  return Value(ValueList(outs.begin(), outs.end()));
}

// Integers

Result<Value> integerShape(const BoundArguments& args) { return newShape(args, DType::Int64); }

Result<Value> integersKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const auto low = find(args, "low");
  const std::int64_t from = low ? args.integer(*low) : 0, to = args.integer(args.position("high"));
  if (from >= to)
    return fail(ErrorCode::RuntimeFailed, "{}: expects 'from' to be less than 'to', but got from={} >= to={}",
                args.opName(), from, to);
  const std::uint64_t range = std::uint64_t(to) - std::uint64_t(from);
  auto values = drawIntegers(out.numel(), range, from, onCuda(out));
  KERF_CHECK(writeLine(values, lineOf(out)));
  return Value(std::move(out));
}

/// random, random.to(to), random.from(from, to?)
Result<Value> anyIntegersKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const auto fromAt = find(args, "from"), toAt = find(args, "to");
  if (!toAt) {
    auto values = drawAnyIntegers(out.dtype(), out.numel(), onCuda(out));
    KERF_CHECK(writeLine(values, lineOf(out)));
    return Value(std::move(out));
  }
  const std::int64_t from = fromAt ? args.integer(*fromAt) : 0;
  const auto to = args.integerIf(*toAt);
  if (to && from >= *to)
    return fail(ErrorCode::RuntimeFailed, "{}: expects 'from' to be less than 'to', but got from={} >= to={}",
                args.opName(), from, *to);
  std::uint64_t range = to ? std::uint64_t(*to) - std::uint64_t(from) : 0;
  if (!to && from != std::numeric_limits<std::int64_t>::min())  // up to the dtype's largest value
    range = (isFloating(out.dtype()) ? std::uint64_t{1} << 24 : std::uint64_t{1} << (itemSize(out.dtype()) * 8 - 1)) -
            std::uint64_t(from);
  auto values = drawIntegers(out.numel(), range, from, onCuda(out));
  KERF_CHECK(writeLine(values, lineOf(out)));
  return Value(std::move(out));
}

// Distributions over a given tensor

Result<Value> sameShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(SymSizes strides, likeStrides(self, {}));
  return Value(metaTensor(self.dtype(), self.symSizes(), std::move(strides)));
}

/// Of random_: PyTorch draws no complex integers.
Result<Value> realShape(const BoundArguments& args) {
  if (isComplex(args.tensor(0).dtype()))
    return mismatch(args, "handles only integral, floating-point and boolean types, got {}",
                    dtypeInfo(args.tensor(0).dtype()).torchName);
  return sameShape(args);
}

struct Limits {
  bool valid;
  std::string_view expectation;
};
Limits limitsOf(Distribution kind, double a, double b) {
  switch (kind) {
    case Distribution::Uniform:
      return {a <= b, "expects to return a [from, to) range, from <= to"};
    case Distribution::Normal:
      return {b >= 0, "expects std >= 0"};
    case Distribution::LogNormal:
      return {b > 0, "expects std > 0"};
    case Distribution::Exponential:
      return {a > 0, "expects lambda > 0"};
    case Distribution::Geometric:
      return {a > 0 && a < 1, "expects p to be in (0, 1)"};
    case Distribution::Cauchy:
      return {b > 0, "expects sigma > 0"};
    case Distribution::Bernoulli:
      return {a >= 0 && a <= 1, "expects p to be in [0, 1]"};
  }
  return {true, {}};
}

template <Distribution kind>
Result<Value> distributionKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const double a = args.number(1), b = args.op->schema.arguments.size() > 3 ? args.number(2) : 0;
  if (const Limits limits = limitsOf(kind, a, b); !limits.valid)
    return fail(ErrorCode::RuntimeFailed, "{}: {}, got {} and {}", args.opName(), limits.expectation, a, b);
  KERF_CHECK(fill(out, kind, a, b));
  return Value(std::move(out));
}

// normal(mean, std) with tensors

Result<Value> normalShape(const BoundArguments& args) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < 2; ++i)
    if (args.values[i].isTensor()) tensors.push_back(args.tensor(i));
  if (tensors.empty()) return newShape(args, DType::Float32);
  auto sizes = broadcastSizes(tensors);
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  return Value(metaTensor(tensors[0].dtype(), *sizes));
}
Result<Value> normalKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const bool numberStd = !args.values[1].isTensor();
  const bool numberMean = !args.values[0].isTensor();
  if (numberStd && args.number(1) < 0)
    return fail(ErrorCode::RuntimeFailed, "{}: expects std >= 0, got {}", args.opName(), args.number(1));
  KERF_CHECK(
      fill(out, Distribution::Normal, numberMean && numberStd ? args.number(0) : 0, numberStd ? args.number(1) : 1));
  if (numberStd && numberMean) return Value(std::move(out));
  Value result = out;
  if (!numberStd) {
    KERF_TRY(result, callOp("aten.mul.Tensor"_op, {result, args.values[1]}));
  }
  KERF_TRY(const Tensor shifted, callTensorOp("aten.add.Tensor"_op, {result, args.values[0]}));
  KERF_TRY(Tensor done, makeOutput(args));
  KERF_CHECK(copyElements(shifted, done));
  return Value(std::move(done));
}

constexpr OpTrait random = OpTrait::Random;
constexpr OpTrait inplaceRandom = OpTrait::Random | OpTrait::Inplace | OpTrait::Impure;

/// The functional form's numbers, copied into self.
Result<Value> intoSelfShape(const BoundArguments& args) { return args.values[0]; }
Result<Value> intoSelf(const BoundArguments& args) {
  ValueList values(args.values.begin(), args.values.end());
  if (!values.empty() && args.op->schema.arguments.back().name == "generator") values.pop_back();
  KERF_TRY(const Tensor drawn, callTensorOp(args.op->base, values));
  KERF_CHECK(copyElements(drawn, args.tensor(0)));
  return args.values[0];
}
constexpr OpRow inplace(const char* schema, const char* base) {
  return {schema, inplaceRandom, intoSelfShape, intoSelf, nullptr, base};
}
template <Distribution kind>
constexpr OpRow distribution(const char* schema) {
  return {schema, random, sameShape, distributionKernel<kind>};
}

#define KERF_NEW_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define KERF_LIKE_OPTIONS KERF_NEW_OPTIONS ", MemoryFormat? memory_format=None"
constexpr OpRow randomRows[] = {
    {"aten::rand(SymInt[] size, *, " KERF_NEW_OPTIONS ") -> Tensor", random, floatShape,
     unitKernel<Distribution::Uniform>},
    {"aten::rand.generator(SymInt[] size, *, Generator? generator, " KERF_NEW_OPTIONS ") -> Tensor", random, floatShape,
     unitKernel<Distribution::Uniform>},
    {"aten::rand_like(Tensor self, *, " KERF_LIKE_OPTIONS ") -> Tensor", random, floatShape,
     unitKernel<Distribution::Uniform>},
    {"rngprims::philox_rand(SymInt[] size, Tensor seed, Tensor offset, int[]? stride, Device? device=None, ScalarType? "
     "dtype=None) -> (Tensor, Tensor)",
     OpTrait::None, philoxShape, philoxKernel},
    {"aten::randn(SymInt[] size, *, " KERF_NEW_OPTIONS ") -> Tensor", random, floatShape,
     unitKernel<Distribution::Normal>},
    {"aten::randn.generator(SymInt[] size, *, Generator? generator, " KERF_NEW_OPTIONS ") -> Tensor", random,
     floatShape, unitKernel<Distribution::Normal>},
    {"aten::randn_like(Tensor self, *, " KERF_LIKE_OPTIONS ") -> Tensor", random, floatShape,
     unitKernel<Distribution::Normal>},
    {"aten::randint(SymInt high, SymInt[] size, *, " KERF_NEW_OPTIONS ") -> Tensor", random, integerShape,
     integersKernel},
    {"aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, " KERF_NEW_OPTIONS ") -> Tensor", random,
     integerShape, integersKernel},
    {"aten::randint.generator(SymInt high, SymInt[] size, *, Generator? generator, " KERF_NEW_OPTIONS ") -> Tensor",
     random, integerShape, integersKernel},
    {"aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, " KERF_NEW_OPTIONS
     ") -> Tensor",
     random, integerShape, integersKernel},
    {"aten::randint_like(Tensor self, SymInt high, *, " KERF_LIKE_OPTIONS ") -> Tensor", random, integerShape,
     integersKernel},
    {"aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, " KERF_LIKE_OPTIONS ") -> Tensor", random,
     integerShape, integersKernel},
    {"aten::random(Tensor self, *, Generator? generator=None) -> Tensor", random, realShape, anyIntegersKernel},
    {"aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", random, realShape,
     anyIntegersKernel},
    {"aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor", random, realShape,
     anyIntegersKernel},
    distribution<Distribution::Uniform>(
        "aten::uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor"),
    distribution<Distribution::Normal>(
        "aten::normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor"),
    distribution<Distribution::LogNormal>(
        "aten::log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor"),
    distribution<Distribution::Cauchy>(
        "aten::cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor"),
    distribution<Distribution::Exponential>(
        "aten::exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor"),
    distribution<Distribution::Geometric>(
        "aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor"),
    distribution<Distribution::Bernoulli>(
        "aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor"),
    {"aten::normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor", random, normalShape,
     normalKernel},
    {"aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor", random, normalShape,
     normalKernel},
    {"aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", random, normalShape,
     normalKernel},
    {"aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, " KERF_NEW_OPTIONS
     ") -> Tensor",
     random, normalShape, normalKernel},
    inplace("aten::uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
            "aten.uniform.default"),
    inplace("aten::normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)",
            "aten.normal_functional.default"),
    inplace("aten::log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)",
            "aten.log_normal.default"),
    inplace("aten::cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)",
            "aten.cauchy.default"),
    inplace("aten::exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)",
            "aten.exponential.default"),
    inplace("aten::geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
            "aten.geometric.default"),
    inplace("aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
            "aten.bernoulli.p"),
    inplace("aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
            "aten.bernoulli.Tensor"),
    inplace("aten::random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", "aten.random.default"),
    inplace("aten::random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)", "aten.random.to"),
    inplace("aten::random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
            "aten.random.from"),
};

const OpRegistration randomOps({.rows = randomRows});

}  // namespace

}  // namespace kerf::inline ops
