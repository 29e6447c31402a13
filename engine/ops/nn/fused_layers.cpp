// Fused layers: RMS norm with gradient, a biased product with its activation, grouped matrix products, and the loss
// scaler's updates.
#include <cmath>
#include <limits>

#include "engine/mathlib/gemm.h"
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

// RMS norm: x / sqrt(mean(x²) + eps) · weight, computed in float32 or wider

DType wideOf(DType dtype) { return dtype == DType::Float64 ? dtype : DType::Float32; }

Result<Value> normalizedDims(const BoundArguments& args, const Tensor& x, const SymSizes& shape) {
  const SymSizes& sizes = x.symSizes();
  const std::size_t rank = sizes.size();
  if (shape.empty() || shape.size() > rank ||
      !checkEqual(shape, SymSizes(sizes.end() - std::ptrdiff_t(shape.size()), sizes.end())))
    return mismatch(args, "the input of shape [{}] does not end with the normalized shape [{}]", fmt::join(sizes, ", "),
                    fmt::join(shape, ", "));
  Sizes dims;
  for (std::size_t i = rank - shape.size(); i < rank; ++i) dims.push_back(std::int64_t(i));
  return intList(dims);
}

Result<Value> rmsNorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor& x = args.tensor(0);
  if (!isFloating(x.dtype())) return mismatch(args, "needs a floating point input");
  KERF_TRY(const Value dims, normalizedDims(args, x, args.symSizes(1)));
  const DType wide = wideOf(x.dtype());
  const double epsilon = args.numberIf(3).value_or(
      wide == DType::Float64 ? std::numeric_limits<double>::epsilon() : double(std::numeric_limits<float>::epsilon()));
  KERF_TRY(const Tensor up, run("prims.convert_element_type.default"_op, {x, wide}));
  KERF_TRY(const Tensor squares, run("aten.mul.Tensor"_op, {up, up}));
  KERF_TRY(const Tensor mean, run("aten.mean.dim"_op, {squares, dims, true}));
  KERF_TRY(const Tensor shifted, run("aten.add.Tensor"_op, {mean, epsilon}));
  KERF_TRY(const Tensor inverse, run("aten.rsqrt.default"_op, {shifted}));
  KERF_TRY(Tensor out, run("aten.mul.Tensor"_op, {up, inverse}));
  if (!args.none(2)) {
    KERF_TRY(out, run("aten.mul.Tensor"_op, {out, args.values[2]}));
  }
  KERF_TRY(out, run("prims.convert_element_type.default"_op, {out, x.dtype()}));
  return Value(ValueList{out, inverse});
}

/// dx = r (g w - x̂ mean(g w x̂)), dw = Σ g x̂ with x̂ = x r
Result<Value> rmsNormBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& x = args.tensor(1);
  KERF_TRY(const Value dims, normalizedDims(args, x, args.symSizes(2)));
  const DType wide = wideOf(x.dtype());
  KERF_TRY(const Tensor grad, run("prims.convert_element_type.default"_op, {args.values[0], wide}));
  KERF_TRY(const Tensor up, run("prims.convert_element_type.default"_op, {x, wide}));
  KERF_TRY(const Tensor unit, run("aten.mul.Tensor"_op, {up, args.values[3]}));
  Tensor weighted = grad;
  if (!args.none(4)) {
    KERF_TRY(weighted, run("aten.mul.Tensor"_op, {grad, args.values[4]}));
  }
  KERF_TRY(const Tensor products, run("aten.mul.Tensor"_op, {weighted, unit}));
  KERF_TRY(const Tensor mean, run("aten.mean.dim"_op, {products, dims, true}));
  KERF_TRY(const Tensor along, run("aten.mul.Tensor"_op, {unit, mean}));
  KERF_TRY(const Tensor across, run("aten.sub.Tensor"_op, {weighted, along}));
  KERF_TRY(Tensor input, run("aten.mul.Tensor"_op, {across, args.values[3]}));
  KERF_TRY(input, run("prims.convert_element_type.default"_op, {input, x.dtype()}));
  ValueList outs{input, Value()};
  const Value mask = args.values[5];
  const bool wantsWeight =
      mask.isList() && mask.list().size() > 1 && mask.list()[1].as<bool>() && *mask.list()[1].as<bool>();
  if (!args.none(4) && wantsWeight) {
    Sizes batch;
    for (std::size_t i = 0; i < std::size_t(x.dim()) - args.symSizes(2).size(); ++i) batch.push_back(std::int64_t(i));
    KERF_TRY(Tensor weight, run("aten.mul.Tensor"_op, {grad, unit}));
    if (!batch.empty()) {
      KERF_TRY(weight, run("aten.sum.dim_IntList"_op, {weight, intList(batch)}));
    }
    KERF_TRY(weight, run("prims.convert_element_type.default"_op, {weight, args.tensor(4).dtype()}));
    outs[1] = weight;
  }
  return Value(std::move(outs));
}

// _grouped_mm: groups are runs of rows (or of the inner dimension) that end at `offs`

Result<Value> groupedShape(const BoundArguments& args) {
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  const bool flatA = a.dim() == 2, flatB = b.dim() == 2;
  if ((a.dim() != 2 && a.dim() != 3) || (b.dim() != 2 && b.dim() != 3))
    return mismatch(args, "needs 2 or 3 dimensions");
  const auto isTaken = [](DType dtype) {
    return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
  };
  if (!isTaken(a.dtype()) || a.dtype() != b.dtype())
    return mismatch(args, "needs two float32, bfloat16 or float16 matrices of one dtype");
  if (!args.none(2) && args.tensor(2).dtype() != DType::Int32) return mismatch(args, "offsets have to be int32");
  if (!args.none(3)) return mismatch(args, "bias is not supported yet");
  const bool splits = flatA || flatB;
  if (splits && (args.none(2) || args.tensor(2).dim() != 1)) return mismatch(args, "needs offsets of one dimension");
  if (!guardOrTrue(a.symSizes().back() == b.symSize(b.dim() - 2))) return mismatch(args, "inner dimensions do not fit");
  const SymInt groups = splits ? args.tensor(2).symSize(0) : a.symSize(0);
  if ((!flatA && !guardOrTrue(a.symSize(0) == groups)) || (!flatB && !guardOrTrue(b.symSize(0) == groups)))
    return mismatch(args, "needs {} groups", groups);
  const SymInt rows = a.symSize(a.dim() - 2), columns = b.symSizes().back();
  const DType dtype = args.dtypeIf(4).value_or(a.dtype());
  const bool batched = flatA == flatB;
  return Value(metaTensor(dtype, batched ? SymSizes{groups, rows, columns} : SymSizes{rows, columns}));
}

Tensor part(const Tensor& t, std::int64_t dim, std::int64_t begin, std::int64_t end) {
  Sizes sizes = t.sizes();
  sizes[std::size_t(dim)] = end - begin;
  return t.viewAs(sizes, t.strides(), t.offset() + begin * t.stride(dim));
}
Tensor layer(const Tensor& t, std::int64_t index) {
  return t.viewAs({t.size(1), t.size(2)}, {t.stride(1), t.stride(2)}, t.offset() + index * t.stride(0));
}

Result<Value> groupedKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  const bool flatA = a.dim() == 2, flatB = b.dim() == 2;
  const std::int64_t groups = flatA || flatB ? args.tensor(2).size(0) : a.size(0);
  const std::int64_t split = flatA && flatB ? a.size(1) : flatA ? a.size(0) : flatB ? b.size(1) : 0;
  std::int64_t begin = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t end = flatA || flatB ? args.tensor(2).itemAsInt(g) : 0;
    if (end < begin || end > split)
      return fail(ErrorCode::RuntimeFailed, "{}: offset {} is not between {} and {}", args.opName(), end, begin, split);
    const Tensor left = flatA ? part(a, flatB ? 1 : 0, begin, end) : layer(a, g);
    const Tensor right = flatB ? part(b, flatA ? 0 : 1, begin, end) : layer(b, g);
    const Tensor target = flatA == flatB ? layer(out, g) : part(out, flatA ? 0 : 1, begin, end);
    KERF_TRY(const Tensor wideLeft, left.to(DType::Float32));
    KERF_TRY(const Tensor wideRight, right.to(DType::Float32));
    KERF_TRY(Tensor wide, Tensor::zeros(DType::Float32, target.sizes()));
    if (wide.numel() > 0) KERF_CHECK(gemm(wideLeft, wideRight, wide));
    KERF_CHECK(copyElements(wide, target));
    begin = end;
  }
  return Value(std::move(out));
}

// Loss scaling

Result<void> wantNumber(const BoundArguments& args, std::size_t i) {
  if (args.tensor(i).numel() == 1) return {};
  return mismatch(args, "argument '{}' must hold one number", args.op->schema.arguments[i].name);
}

struct Unscaled {
  std::vector<Doubles> values;
  double found = 0;
};
Result<Unscaled> unscaled(const BoundArguments& args) {
  KERF_CHECK(wantNumber(args, 1));
  KERF_CHECK(wantNumber(args, 2));
  Unscaled result{{}, args.tensor(1).itemAsDouble()};
  const double inverse = args.tensor(2).itemAsDouble();
  for (const Tensor& tensor : args.tensors(0)) {
    KERF_TRY(Doubles x, doublesOf(tensor));
    for (double& value : x) {
      if (!std::isfinite(value)) result.found = 1;
      if (inverse != 1) value *= inverse;
    }
    result.values.push_back(std::move(x));
  }
  return result;
}

Result<Value> nothing(const BoundArguments&) { return Value(); }
Result<Value> unscaleInplace(const BoundArguments& args) {
  KERF_TRY(const Unscaled result, unscaled(args));
  const std::vector<Tensor> tensors = args.tensors(0);
  for (std::size_t i = 0; i < tensors.size(); ++i) KERF_CHECK(writeValues(result.values[i], tensors[i]));
  KERF_CHECK(writeValues(Doubles{result.found}, args.tensor(1)));
  return Value();
}
Result<Value> unscaleShape(const BoundArguments& args) {
  ValueList metas;
  for (const Tensor& t : args.tensors(0)) metas.emplace_back(metaTensor(t.dtype(), t.symSizes(), t.symStrides()));
  return Value(ValueList{Value(std::move(metas)), metaTensor(args.tensor(1).dtype(), args.tensor(1).symSizes())});
}
Result<Value> unscaleKernel(const BoundArguments& args) {
  KERF_TRY(const Unscaled result, unscaled(args));
  KERF_TRY(const Value metas, runShapeRule(args));
  ValueList outs;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    KERF_TRY(Tensor out, allocate(metas.list()[0].list()[i].tensor()));
    KERF_CHECK(writeValues(result.values[i], out));
    outs.emplace_back(std::move(out));
  }
  KERF_TRY(Tensor found, allocate(metas.list()[1].tensor()));
  KERF_CHECK(writeValues(Doubles{result.found}, found));
  return Value(ValueList{Value(std::move(outs)), found});
}

/// Backs off after an overflow, grows after `growth_interval` good steps in a row.
struct Scale {
  double scale, tracker;
};
Result<Scale> updatedScale(const BoundArguments& args) {
  for (std::size_t i : {0, 1, 2}) KERF_CHECK(wantNumber(args, i));
  Scale s{args.tensor(0).itemAsDouble(), args.tensor(1).itemAsDouble()};
  if (args.tensor(2).itemAsDouble() != 0) return Scale{s.scale * args.number(4), 0};
  if (s.tracker + 1 != args.number(5)) return Scale{s.scale, s.tracker + 1};
  const double grown = float(s.scale * args.number(3));
  return Scale{std::isfinite(grown) ? grown : s.scale, 0};
}
Result<Value> selfShape(const BoundArguments& args) { return args.values[0]; }
Result<Value> updateInplace(const BoundArguments& args) {
  KERF_TRY(const Scale s, updatedScale(args));
  KERF_CHECK(writeValues(Doubles{s.scale}, args.tensor(0)));
  KERF_CHECK(writeValues(Doubles{s.tracker}, args.tensor(1)));
  return args.values[0];
}
Result<Value> updateShape(const BoundArguments& args) {
  return Value(ValueList{metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes()),
                         metaTensor(args.tensor(1).dtype(), args.tensor(1).symSizes())});
}
Result<Value> updateKernel(const BoundArguments& args) {
  KERF_TRY(const Scale s, updatedScale(args));
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_CHECK(writeValues(Doubles{s.scale}, outs[0]));
  KERF_CHECK(writeValues(Doubles{s.tracker}, outs[1]));
  return tensorList(outs);
}

/// _addmm_activation(self, mat1, mat2, *, beta, alpha, use_gelu): gelu by tanh on CUDA, by erf elsewhere.
Result<Value> addmmActivation(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor sum, run("aten.addmm.default"_op, {args.values[0], args.values[1], args.values[2]},
                                 {{"beta", args.values[3]}, {"alpha", args.values[4]}}));
  if (!args.boolean(5)) return run.value("aten.relu.default"_op, {sum});
  const std::string formula = args.tensor(1).device().type == "cuda" ? "tanh" : "none";
  return run.value("aten.gelu.default"_op, {sum}, {{"approximate", formula}});
}

constexpr OpTrait inplace = OpTrait::Inplace | OpTrait::Impure;
constexpr OpRow fusedLayerRows[] = {
    compositeRow(
        addmmActivation,
        "aten::_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool "
        "use_gelu=False) -> Tensor"),
    compositeRow(rmsNorm,
                 "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> "
                 "(Tensor, Tensor)"),
    compositeRow(rmsNormBackward,
                 "aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, "
                 "Tensor rstd, Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)"),
    {"aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> "
     "Tensor",
     OpTrait::Matmul, groupedShape, groupedKernel},
    {"aten::_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> "
     "()",
     inplace, nothing, unscaleInplace},
    {"aten::_amp_foreach_non_finite_check_and_unscale(Tensor[] self, Tensor found_inf, Tensor inv_scale) -> (Tensor[] "
     "self_out, Tensor found_inf_out)",
     OpTrait::None, unscaleShape, unscaleKernel},
    {"aten::_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float "
     "scale_growth_factor, float scale_backoff_factor, int growth_interval) -> Tensor(a!)",
     inplace, selfShape, updateInplace},
    {"aten::_amp_update_scale(Tensor self, Tensor growth_tracker, Tensor found_inf, float scale_growth_factor, float "
     "scale_backoff_factor, int growth_interval) -> (Tensor, Tensor growth_tracker_out)",
     OpTrait::None, updateShape, updateKernel},
};

const OpRegistration fusedLayerOps({.rows = fusedLayerRows});

}  // namespace

}  // namespace kerf::inline ops
