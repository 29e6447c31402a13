// quantized_decomposed.*: quantization on plain tensors as PyTorch's exported graphs write it, step by step in float32.
#include <cmath>
#include <limits>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Value named(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return args.values[i];
  return {};
}

DType dtypeOf(const BoundArguments& args, std::string_view name, DType otherwise) {
  const Value value = named(args, name);
  const auto* dtype = value.as<DType>();
  return dtype ? *dtype : otherwise;
}

Result<Tensor> cast(const OpRunner& run, const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return run("prims.convert_element_type.default"_op, {x, dtype});
}

/// PyTorch takes float32, and halves as such; float64 comes from casts of whole graphs.
Result<Tensor> floatInput(const BoundArguments& args, const OpRunner& run, const Tensor& x) {
  if (!isFloating(x.dtype())) return mismatch(args, "argument 'input' must be a tensor of floats");
  const bool reduced = x.dtype() == DType::Float16 || x.dtype() == DType::BFloat16;
  return reduced ? cast(run, x, DType::Float32) : Result<Tensor>(x);
}

/// Within quant_min and quant_max: numbers, or the one element of tensors (the .tensor2 forms).
Result<Tensor> limited(const BoundArguments& args, const OpRunner& run, const Tensor& q) {
  Value low = named(args, "quant_min"), high = named(args, "quant_max");
  if (!low.isTensor()) return run("aten.clamp.default"_op, {q, low, high});
  KERF_TRY(low, run("aten.reshape.default"_op, {low, intList(Sizes())}));
  KERF_TRY(high, run("aten.reshape.default"_op, {high, intList(Sizes())}));
  return run("aten.clamp.Tensor"_op, {q, low, high});
}

/// clamp(round(x * inverse) + zero, low, high) in the target dtype.
Result<Value> quantize(const BoundArguments& args, const OpRunner& run, const Tensor& x, const Value& inverse,
                       const Value& zero, bool roundLast = false) {
  KERF_TRY(Tensor q, run("aten.mul.Tensor"_op, {x, inverse}));
  if (roundLast) {
    KERF_TRY(q, run("aten.add.Tensor"_op, {q, zero}));
    KERF_TRY(q, run("aten.round.default"_op, {q}));
  } else {
    KERF_TRY(q, run("aten.round.default"_op, {q}));
    KERF_TRY(q, run("aten.add.Tensor"_op, {q, zero}));
  }
  KERF_TRY(q, limited(args, run, q));
  KERF_TRY(q, cast(run, q, *named(args, "dtype").as<DType>()));
  return Value(std::move(q));
}

/// 1 / scale for a number or a tensor.
Result<Value> inverseOf(const OpRunner& run, const Value& scale) {
  if (const auto* number = scale.as<double>()) return Value(1.0 / *number);
  KERF_TRY(Tensor inverse, run("aten.reciprocal.default"_op, {scale}));
  return Value(std::move(inverse));
}

Result<Value> perTensor(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor x, floatInput(args, run, args.tensor(0)));
  KERF_TRY(const Value inverse, inverseOf(run, args.values[1]));
  return quantize(args, run, x, inverse, args.values[2]);
}

/// (x - zero) * scale in out_dtype or float32.
Result<Value> backPerTensor(const BoundArguments& args, const OpRunner& run) {
  const DType dtype = dtypeOf(args, "out_dtype", DType::Float32);
  KERF_TRY(Tensor x, cast(run, args.tensor(0), dtype));
  KERF_TRY(x, run("aten.sub.Tensor"_op, {x, args.values[2]}));
  KERF_TRY(x, run("aten.mul.Tensor"_op, {x, args.values[1]}));
  KERF_TRY(x, cast(run, x, dtype));
  return Value(std::move(x));
}

/// One number per index of `axis`, seen with the rank of x.
Result<Value> alongAxis(const BoundArguments& args, const OpRunner& run, const Value& values, const Tensor& x) {
  if (!values.isTensor()) return values;
  KERF_TRY(const std::int64_t axis, wrapDim(args, named(args, "axis").asSymInt().value_or(SymInt(0)), x.dim()));
  if (values.tensor().dim() != 1 || guardOrFalse(values.tensor().symSize(0) != x.symSize(axis)))
    return mismatch(args, "needs one scale and zero point for each of the {} channels", x.symSize(axis));
  SymSizes sizes(x.symSizes().size(), 1);
  sizes[std::size_t(axis)] = x.symSize(axis);
  KERF_TRY(Tensor wide, run("aten.reshape.default"_op, {values, intList(sizes)}));
  return Value(std::move(wide));
}

Result<Value> perChannel(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor x, floatInput(args, run, args.tensor(0)));
  if (x.dim() == 0) return mismatch(args, "needs an input with dimensions");
  KERF_TRY(const Value scale, alongAxis(args, run, args.values[1], x));
  KERF_TRY(const Value zero, alongAxis(args, run, args.values[2], x));
  KERF_TRY(const Value inverse, inverseOf(run, scale));
  return quantize(args, run, x, inverse, zero);
}

Result<Value> backPerChannel(const BoundArguments& args, const OpRunner& run) {
  const DType dtype = dtypeOf(args, "out_dtype", DType::Float32);
  Tensor x = args.tensor(0);
  if (x.dim() == 0) return mismatch(args, "needs an input with dimensions");
  KERF_TRY(const Value scale, alongAxis(args, run, args.values[1], x));
  KERF_TRY(x, cast(run, x, dtype));
  if (!args.none(2)) {
    KERF_TRY(const Value zero, alongAxis(args, run, args.values[2], x));
    KERF_TRY(x, run("aten.sub.Tensor"_op, {x, zero}));
  }
  KERF_TRY(x, run("aten.mul.Tensor"_op, {x, scale}));
  KERF_TRY(x, cast(run, x, dtype));
  return Value(std::move(x));
}

// Parameters from data

Result<Value> chooseParameters(const BoundArguments& args, const OpRunner& run) {
  const bool symmetric = args.op->schema.name.find("symmetric") != std::string::npos;
  const double low = args.number(1), high = args.number(2);
  if (low >= high) return mismatch(args, "quant_min {} is not below quant_max {}", low, high);
  KERF_TRY(Tensor least, run("aten.amin.default"_op, {args.values[0]}));
  KERF_TRY(Tensor most, run("aten.amax.default"_op, {args.values[0]}));
  KERF_TRY(least, run("aten.clamp_max.default"_op, {least, 0.0}));
  KERF_TRY(most, run("aten.clamp_min.default"_op, {most, 0.0}));
  Tensor scale, zero;
  if (symmetric) {
    KERF_TRY(const Tensor negated, run("aten.neg.default"_op, {least}));
    KERF_TRY(const Tensor bound, run("aten.maximum.default"_op, {negated, most}));
    KERF_TRY(scale, run("aten.div.Tensor"_op, {bound, (high - low) / 2}));
    KERF_TRY(scale, run("aten.clamp_min.default"_op, {scale, args.values[3]}));
    const bool isUnsigned = *args.dtypeIf(4) == DType::UInt8;
    KERF_TRY(zero, run("aten.full_like.default"_op, {scale, isUnsigned ? 128.0 : 0.0}));
  } else {
    KERF_TRY(const Tensor span, run("aten.sub.Tensor"_op, {most, least}));
    KERF_TRY(scale, run("aten.div.Tensor"_op, {span, high - low}));
    KERF_TRY(scale, run("aten.clamp_min.default"_op, {scale, args.values[3]}));
    KERF_TRY(zero, run("aten.div.Tensor"_op, {least, scale}));
    KERF_TRY(zero, run("aten.round.default"_op, {zero}));
    KERF_TRY(zero, run("aten.rsub.Scalar"_op, {zero, low}));
    KERF_TRY(zero, run("aten.clamp.default"_op, {zero, low, high}));
  }
  KERF_TRY(scale, cast(run, scale, DType::Float64));
  KERF_TRY(zero, cast(run, zero, DType::Int64));
  KERF_TRY(scale, run("aten.reshape.default"_op, {scale, intList({1})}));
  KERF_TRY(zero, run("aten.reshape.default"_op, {zero, intList({1})}));
  return Value(ValueList{scale, zero});
}

Result<Value> choosePerToken(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor sizes, run("aten.abs.default"_op, {args.values[0]}));
  KERF_TRY(Tensor scale, run("aten.amax.default"_op, {sizes, intList({-1}), true}));
  if (scale.dtype() == DType::Float16) {
    KERF_TRY(scale, cast(run, scale, DType::Float32));
  }
  if (*args.dtypeIf(1) != DType::Int8) return mismatch(args, "supports torch.int8 only");
  KERF_TRY(scale, run("aten.clamp_min.default"_op, {scale, 1e-5}));
  KERF_TRY(scale, run("aten.div.Tensor"_op, {scale, 127.0}));
  KERF_TRY(const Tensor zero, run("aten.zeros_like.default"_op, {scale}));
  return Value(ValueList{scale, zero});
}

Result<Value> chooseAsymmetricPerToken(const BoundArguments& args, const OpRunner& run) {
  constexpr double low = -128, high = 127;
  KERF_TRY(Tensor least, run("aten.amin.default"_op, {args.values[0], intList({-1}), true}));
  KERF_TRY(Tensor most, run("aten.amax.default"_op, {args.values[0], intList({-1}), true}));
  KERF_TRY(least, run("aten.clamp_max.default"_op, {least, 0.0}));
  KERF_TRY(most, run("aten.clamp_min.default"_op, {most, 0.0}));
  KERF_TRY(Tensor scale, run("aten.sub.Tensor"_op, {most, least}));
  KERF_TRY(scale, run("aten.div.Tensor"_op, {scale, high - low}));
  KERF_TRY(scale, run("aten.clamp_min.default"_op, {scale, double(std::numeric_limits<float>::epsilon())}));
  KERF_TRY(const Tensor bottom, run("aten.div.Tensor"_op, {least, scale}));
  KERF_TRY(const Tensor top, run("aten.div.Tensor"_op, {most, scale}));
  KERF_TRY(const Tensor fromBottom, run("aten.add.Tensor"_op, {bottom, low}));
  KERF_TRY(const Tensor fromTop, run("aten.add.Tensor"_op, {top, high}));
  KERF_TRY(const Tensor errors, run("aten.add.Tensor"_op, {fromBottom, fromTop}));
  KERF_TRY(const Tensor useBottom, run("aten.gt.Scalar"_op, {errors, 0.0}));
  KERF_TRY(const Tensor zeroBottom, run("aten.rsub.Scalar"_op, {bottom, low}));
  KERF_TRY(const Tensor zeroTop, run("aten.rsub.Scalar"_op, {top, high}));
  KERF_TRY(Tensor zero, run("aten.where.self"_op, {useBottom, zeroBottom, zeroTop}));
  KERF_TRY(zero, run("aten.clamp.default"_op, {zero, low, high}));
  KERF_TRY(zero, run("aten.round.default"_op, {zero}));
  KERF_TRY(scale, cast(run, scale, DType::Float64));
  KERF_TRY(zero, cast(run, zero, DType::Int64));
  return Value(ValueList{scale, zero});
}

// Per token and per group of channels

Result<Value> perToken(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor x, floatInput(args, run, args.tensor(0)));
  KERF_TRY(const Value inverse, inverseOf(run, args.values[1]));
  return quantize(args, run, x, inverse, args.values[2], true);
}
Result<Value> backPerToken(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(Tensor x, run("aten.sub.Tensor"_op, {args.values[0], args.values[2]}));
  KERF_TRY(x, run("aten.mul.Tensor"_op, {x, args.values[1]}));
  KERF_TRY(x, cast(run, x, *named(args, "output_dtype").as<DType>()));
  return Value(std::move(x));
}

/// x as rows of one group each, and the parameters as a column.
struct Groups {
  Tensor x;
  Value scale, zero;
};
Result<Groups> groupsOf(const BoundArguments& args, const OpRunner& run) {
  const Tensor& x = args.tensor(0);
  const std::int64_t size = args.integer(args.position("group_size"));
  if (x.dim() == 0 || size <= 1 || guardOrFalse(floorMod(x.symSizes().back(), size) != 0))
    return mismatch(args, "the last dimension must be a multiple of the group size {}", size);
  const SymInt count = floorDiv(x.symNumel(), size);
  const SymSizes rows{count, size}, column{count, 1};
  Groups groups;
  KERF_TRY(groups.x, run("aten.reshape.default"_op, {x, intList(rows)}));
  KERF_TRY(const Tensor scale, run("aten.reshape.default"_op, {args.values[1], intList(column)}));
  groups.scale = scale;
  if (!args.none(2)) {
    KERF_TRY(const Tensor zero, run("aten.reshape.default"_op, {args.values[2], intList(column)}));
    groups.zero = zero;
  }
  return groups;
}
Result<Value> perGroup(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Groups groups, groupsOf(args, run));
  KERF_TRY(const Tensor x, floatInput(args, run, groups.x));
  KERF_TRY(const Value inverse, inverseOf(run, groups.scale));
  KERF_TRY(const Value q, quantize(args, run, x, inverse, groups.zero, true));
  return run.value("aten.reshape.default"_op, {q, intList(args.tensor(0).symSizes())});
}
Result<Value> backPerGroup(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Groups groups, groupsOf(args, run));
  Tensor x = groups.x;
  if (!groups.zero.isNone()) {
    KERF_TRY(x, run("aten.sub.Tensor"_op, {x, groups.zero}));
  }
  KERF_TRY(x, run("aten.mul.Tensor"_op, {x, groups.scale}));
  KERF_TRY(x, cast(run, x, dtypeOf(args, "output_dtype", DType::Float32)));
  return run.value("aten.reshape.default"_op, {x, intList(args.tensor(0).symSizes())});
}

Result<Value> fakePerChannel(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.fake_quantize_per_channel_affine.default"_op, args.values);
}

#define KERF_QD "quantized_decomposed::"
#define KERF_RANGE ", int quant_min, int quant_max, ScalarType dtype"
constexpr OpRow quantizedDecomposedRows[] = {
    compositeRow(perTensor,
                 KERF_QD "quantize_per_tensor(Tensor input, float scale, int zero_point" KERF_RANGE ") -> Tensor"),
    compositeRow(perTensor, KERF_QD
                 "quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point" KERF_RANGE ") -> Tensor"),
    compositeRow(perTensor, KERF_QD "quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor "
                                    "quant_min, Tensor quant_max, ScalarType dtype) -> Tensor"),
    compositeRow(backPerTensor, KERF_QD "dequantize_per_tensor(Tensor input, float scale, int zero_point" KERF_RANGE
                                        ", *, ScalarType? out_dtype=None) -> Tensor"),
    compositeRow(backPerTensor,
                 KERF_QD "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point" KERF_RANGE
                         ", *, ScalarType? out_dtype=None) -> Tensor"),
    compositeRow(backPerTensor,
                 KERF_QD "dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor "
                         "quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> "
                         "Tensor"),
    compositeRow(chooseParameters,
                 KERF_QD "choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, "
                         "ScalarType dtype) -> (Tensor, Tensor)"),
    compositeRow(chooseParameters,
                 KERF_QD "choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, "
                         "float eps, ScalarType dtype) -> (Tensor, Tensor)"),
    compositeRow(perChannel, KERF_QD "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int "
                                     "axis" KERF_RANGE ") -> Tensor"),
    compositeRow(backPerChannel, KERF_QD "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int "
                                         "axis" KERF_RANGE ", *, ScalarType? out_dtype=None) -> Tensor"),
    compositeRow(choosePerToken,
                 KERF_QD "choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)"),
    compositeRow(chooseAsymmetricPerToken,
                 KERF_QD "choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)"),
    compositeRow(chooseAsymmetricPerToken, KERF_QD
                 "_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor)"),
    compositeRow(perToken,
                 KERF_QD "quantize_per_token(Tensor input, Tensor scales, Tensor zero_points" KERF_RANGE ") -> Tensor"),
    compositeRow(backPerToken, KERF_QD "dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points" KERF_RANGE
                                       ", ScalarType output_dtype) -> Tensor"),
    compositeRow(perGroup, KERF_QD "quantize_per_channel_group(Tensor input, Tensor scales, Tensor "
                                   "zero_points" KERF_RANGE ", int group_size=128) -> Tensor"),
    compositeRow(backPerGroup,
                 KERF_QD "dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? "
                         "zero_points" KERF_RANGE ", int group_size=128, ScalarType? output_dtype=None) -> Tensor"),
    compositeRow(fakePerChannel, KERF_QD "fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int "
                                         "axis, int quant_min, int quant_max) -> Tensor"),
};

const OpRegistration quantizedDecomposedOps({.rows = quantizedDecomposedRows});

}  // namespace

}  // namespace kerf::inline ops

#undef KERF_RANGE
