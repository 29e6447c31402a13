// The functions of torch.fft: sizes, normalization and defaults on top of ATen's three transforms.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/complex_values.h"

namespace kerf::inline ops {
namespace {

Value named(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return args.values[i];
  return {};
}

/// ATen's normalization mode: 0 none, 1 by the root of the length, 2 by the length.
Result<std::int64_t> modeOf(const BoundArguments& args, bool forward) {
  const Value norm = named(args, "norm");
  const std::string text = norm.as<std::string>() ? *norm.as<std::string>() : "backward";
  if (text == "ortho") return 1;
  if (text == "backward") return forward ? 0 : 2;
  if (text == "forward") return forward ? 2 : 0;
  return mismatch(args, "invalid normalization mode: \"{}\"", text);
}

/// Integers become float32; complex where wanted.
Result<Tensor> promoted(const OpRunner& run, const Tensor& x, bool complex) {
  DType dtype = toFloating(x.dtype());
  if (dtype == DType::BFloat16) dtype = DType::Float32;
  if (complex) dtype = toComplex(dtype);
  return dtype == x.dtype() ? Result<Tensor>(x) : run("prims.convert_element_type.default"_op, {x, dtype});
}

/// Cut or padded with zeros at the end of a dimension.
Result<Tensor> resized(const BoundArguments& args, const OpRunner& run, const Tensor& x, std::int64_t dim,
                       SymInt size) {
  if (guardOrFalse(size < 1) || (!size.isSymbolic() && size > (std::int64_t{1} << 40)))
    return mismatch(args, "invalid number of data points ({}) specified", size);
  if (guardOrFalse(x.symSize(dim) == size)) return x;
  if (guardOrFalse(x.symSize(dim) > size)) return run("aten.slice.Tensor"_op, {x, dim, std::int64_t{0}, size});
  SymSizes padding(std::size_t(2 * (x.dim() - dim)), 0);
  padding.back() = size - x.symSize(dim);
  return run("aten.constant_pad_nd.default"_op, {x, intList(padding), 0.0});
}

struct Plan {
  Tensor x;
  Sizes dims;
  SymInt lastSize = 0;  ///< length of a real result
};

enum class Kind : std::uint8_t { Complex, ToHalf, FromHalf };

/// One dimension with n, or several with s: the input at the sizes of the transform.
Result<Plan> planOf(const BoundArguments& args, const OpRunner& run, Kind kind) {
  Plan plan{args.tensor(0), {}, 0};
  const Value n = named(args, "n"), s = named(args, "s"), dim = named(args, "dim");
  SymSizes sizes;
  if (const auto one = dim.asSymInt()) {
    plan.dims = {*one};
    if (const auto length = n.asSymInt()) sizes = {*length};
  } else {
    if (s.isList()) sizes = args.symSizes(1);
    if (dim.isList()) plan.dims = args.sizes(2);
    const std::int64_t count = s.isList() ? std::int64_t(sizes.size()) : plan.x.dim();
    if (!dim.isList())
      for (std::int64_t d = plan.x.dim() - count; d < plan.x.dim(); ++d) plan.dims.push_back(d);
    if (s.isList() && sizes.size() != plan.dims.size()) return mismatch(args, "dim and s must have the same length");
  }
  KERF_TRY(plan.dims, wrapDims(args, plan.dims, plan.x.dim()));
  if (plan.x.dim() == 0 || plan.dims.empty()) return mismatch(args, "must transform at least one axis");
  if (kind == Kind::ToHalf && isComplex(plan.x.dtype())) return mismatch(args, "expects a real input tensor");
  KERF_TRY(plan.x, promoted(run, plan.x, kind == Kind::FromHalf || (kind == Kind::Complex && plan.dims.size() > 1)));
  sizes.resize(plan.dims.size(), -1);
  for (std::size_t i = 0; i < plan.dims.size(); ++i) {
    const bool half = kind == Kind::FromHalf && i + 1 == plan.dims.size();
    const bool isGiven = !guardOrFalse(sizes[i] == -1);
    SymInt size = isGiven ? sizes[i] : plan.x.symSize(plan.dims[i]);
    if (half) {
      plan.lastSize = isGiven ? sizes[i] : 2 * (size - 1);
      size = floorDiv(plan.lastSize, 2) + 1;
    }
    KERF_TRY(plan.x, resized(args, run, plan.x, plan.dims[i], size));
  }
  return plan;
}

template <bool forward>
Result<Value> complexTransform(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Plan plan, planOf(args, run, Kind::Complex));
  KERF_TRY(const std::int64_t mode, modeOf(args, forward));
  if (isComplex(plan.x.dtype()))
    return run.value("aten._fft_c2c.default"_op, {plan.x, intList(plan.dims), mode, forward});
  KERF_TRY(Tensor out, run("aten._fft_r2c.default"_op, {plan.x, intList(plan.dims), mode, false}));
  if (!forward) {
    KERF_TRY(out, run("aten._conj_physical.default"_op, {out}));
  }
  return Value(std::move(out));
}

template <bool forward>
Result<Value> toHalf(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Plan plan, planOf(args, run, Kind::ToHalf));
  KERF_TRY(const std::int64_t mode, modeOf(args, forward));
  KERF_TRY(Tensor out, run("aten._fft_r2c.default"_op, {plan.x, intList(plan.dims), mode, true}));
  if (!forward) {
    KERF_TRY(out, run("aten._conj_physical.default"_op, {out}));
  }
  return Value(std::move(out));
}

template <bool forward>
Result<Value> fromHalf(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(Plan plan, planOf(args, run, Kind::FromHalf));
  KERF_TRY(const std::int64_t mode, modeOf(args, forward));
  if (forward) {
    KERF_TRY(plan.x, run("aten._conj_physical.default"_op, {plan.x}));
  }
  return run.value("aten._fft_c2r.default"_op, {plan.x, intList(plan.dims), mode, plan.lastSize});
}

/// Signals that are Hermitian in the last dimension: the other dimensions are transformed as usual.
Result<Value> fromHermitian(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(Plan plan, planOf(args, run, Kind::FromHalf));
  KERF_TRY(const std::int64_t mode, modeOf(args, true));
  const Sizes leading(plan.dims.begin(), plan.dims.end() - 1);
  if (!leading.empty()) {
    KERF_TRY(plan.x, run("aten._fft_c2c.default"_op, {plan.x, intList(leading), mode, true}));
  }
  KERF_TRY(plan.x, run("aten._conj_physical.default"_op, {plan.x}));
  return run.value("aten._fft_c2r.default"_op, {plan.x, intList({plan.dims.back()}), mode, plan.lastSize});
}

Result<Value> toHermitian(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Plan plan, planOf(args, run, Kind::ToHalf));
  KERF_TRY(const std::int64_t mode, modeOf(args, false));
  const Sizes leading(plan.dims.begin(), plan.dims.end() - 1);
  KERF_TRY(Tensor half, run("aten._fft_r2c.default"_op, {plan.x, intList({plan.dims.back()}), mode, true}));
  KERF_TRY(half, run("aten._conj_physical.default"_op, {half}));
  if (leading.empty()) return Value(std::move(half));
  return run.value("aten._fft_c2c.default"_op, {half, intList(leading), mode, false});
}

template <bool inverse>
Result<Value> shifted(const BoundArguments& args, const OpRunner& run) {
  const Tensor& x = args.tensor(0);
  Sizes dims = args.sizes(1);
  SymSizes shifts;
  if (args.none(1))
    for (std::int64_t d = 0; d < x.dim(); ++d) dims.push_back(d);
  KERF_TRY(dims, wrapDims(args, dims, x.dim()));
  for (std::int64_t dim : dims)
    shifts.push_back(x.dim() == 0 ? SymInt(0) : floorDiv(x.symSize(dim) + (inverse ? 1 : 0), 2));
  if (dims.empty()) return run.value("aten.clone.default"_op, {x});
  return run.value("aten.roll.default"_op, {x, intList(shifts), intList(dims)});
}

/// Frequencies k / (n d), of half a spectrum or of all with the negative ones behind.
template <bool half>
Result<Value> frequencies(const BoundArguments& args, const OpRunner& run) {
  const std::int64_t n = args.integer(0);
  if (n < 1 || n > (std::int64_t{1} << 40)) return mismatch(args, "n must be positive, got {}", n);
  const DType dtype = args.dtypeIf(2).value_or(DType::Float32);
  const KeywordValues options{{"dtype", dtype}};
  Tensor k;
  if (half) {
    KERF_TRY(k, run("aten.arange.default"_op, {n / 2 + 1}, options));
  } else {
    KERF_TRY(const Tensor positive, run("aten.arange.start"_op, {std::int64_t{0}, (n - 1) / 2 + 1}, options));
    KERF_TRY(const Tensor negative, run("aten.arange.start"_op, {-(n / 2), std::int64_t{0}}, options));
    KERF_TRY(k, run("aten.cat.default"_op, {Value(ValueList{positive, negative})}));
  }
  return run.value("aten.mul.Tensor"_op, {k, 1 / (double(n) * args.number(1))});
}

#define KERF_ONE "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"
#define KERF_TWO "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor"
#define KERF_MANY "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"
#define KERF_FREQUENCY                                                                               \
  "(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? " \
  "pin_memory=None) -> Tensor"
constexpr OpRow fftFunctionRows[] = {
    compositeRow(complexTransform<true>, "aten::fft_fft" KERF_ONE),
    compositeRow(complexTransform<false>, "aten::fft_ifft" KERF_ONE),
    compositeRow(toHalf<true>, "aten::fft_rfft" KERF_ONE),
    compositeRow(fromHalf<false>, "aten::fft_irfft" KERF_ONE),
    compositeRow(fromHalf<true>, "aten::fft_hfft" KERF_ONE),
    compositeRow(toHalf<false>, "aten::fft_ihfft" KERF_ONE),
    compositeRow(complexTransform<true>, "aten::fft_fft2" KERF_TWO),
    compositeRow(complexTransform<false>, "aten::fft_ifft2" KERF_TWO),
    compositeRow(toHalf<true>, "aten::fft_rfft2" KERF_TWO),
    compositeRow(fromHalf<false>, "aten::fft_irfft2" KERF_TWO),
    compositeRow(complexTransform<true>, "aten::fft_fftn" KERF_MANY),
    compositeRow(complexTransform<false>, "aten::fft_ifftn" KERF_MANY),
    compositeRow(toHalf<true>, "aten::fft_rfftn" KERF_MANY),
    compositeRow(fromHalf<false>, "aten::fft_irfftn" KERF_MANY),
    compositeRow(fromHermitian, "aten::fft_hfft2" KERF_TWO),
    compositeRow(fromHermitian, "aten::fft_hfftn" KERF_MANY),
    compositeRow(toHermitian, "aten::fft_ihfft2" KERF_TWO),
    compositeRow(toHermitian, "aten::fft_ihfftn" KERF_MANY),
    compositeRow(shifted<false>, "aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor"),
    compositeRow(shifted<true>, "aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor"),
    compositeRow(frequencies<false>, "aten::fft_fftfreq" KERF_FREQUENCY),
    compositeRow(frequencies<true>, "aten::fft_rfftfreq" KERF_FREQUENCY),
};

const OpRegistration fftFunctionOps({.rows = fftFunctionRows});

}  // namespace

}  // namespace kerf::inline ops
