// Composite ops that graphs captured before decomposition contain: each a short program over other rows.
#include <algorithm>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

Result<Value> traceProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() != 2) return mismatch(args, "expects a matrix, got {} dimensions", self.dim());
  KERF_TRY(const Tensor diagonal, run("aten.diagonal.default"_op, {self}));
  return run.value("aten.sum.default"_op, {diagonal});
}

// std, var and their _mean forms with a bool `unbiased`

KeywordValues correction(const BoundArguments& args, std::string_view name) {
  const bool unbiased = args.boolean(args.position(name));
  return {{"correction", std::int64_t{unbiased ? 1 : 0}}};
}
/// (self, bool unbiased) → base.correction(self, None, correction=…)
Result<Value> wholeSpread(const BoundArguments& args, const OpRunner& run) {
  return run.value(args.op->base, {args.values[0], Value()}, correction(args, "unbiased"));
}
/// (self, int[1]? dim, bool unbiased, bool keepdim)
Result<Value> dimSpread(const BoundArguments& args, const OpRunner& run) {
  KeywordValues keywords = correction(args, "unbiased");
  keywords.emplace_back("keepdim", args.values[3]);
  return run.value(args.op->base, {args.values[0], args.values[1]}, keywords);
}

Result<Value> isfiniteProgram(const BoundArguments& args, const OpRunner& run) {
  if (isIntegral(args.tensor(0).dtype()))
    return run.value("aten.ones_like.default"_op, {args.values[0]}, {{"dtype", DType::Bool}});
  KERF_TRY(const Tensor same, run("aten.eq.Tensor"_op, {args.values[0], args.values[0]}));
  KERF_TRY(const Tensor size, run("aten.abs.default"_op, {args.values[0]}));
  KERF_TRY(const Tensor below, run("aten.ne.Scalar"_op, {size, std::numeric_limits<double>::infinity()}));
  return run.value("aten.mul.Tensor"_op, {same, below});
}

Result<Value> l1Program(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor difference, run("aten.sub.Tensor"_op, {args.values[0], args.values[1]}));
  KERF_TRY(const Tensor loss, run("aten.abs.default"_op, {difference}));
  if (args.integer(2) == 0) return Value(loss);
  return run.value(args.integer(2) == 1 ? "aten.mean.default"_op : "aten.sum.default"_op, {loss});
}

Result<Value> takeAlongProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor &self = args.tensor(0), &indices = args.tensor(1);
  if (args.none(2)) {
    KERF_TRY(const Tensor flat, run("aten.reshape.default"_op, {self, intList({-1})}));
    KERF_TRY(const Tensor positions, run("aten.reshape.default"_op, {indices, intList({-1})}));
    return run.value("aten.gather.default"_op, {flat, std::int64_t{0}, positions});
  }
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  if (self.dim() != indices.dim()) return mismatch(args, "self and indices must have as many dimensions");
  SymSizes selfSizes = self.symSizes(), indexSizes = indices.symSizes();
  for (std::size_t d = 0; d < selfSizes.size(); ++d) {
    if (std::int64_t(d) == dim) continue;
    if (guardOrFalse(selfSizes[d] != indexSizes[d]) && guardOrFalse(selfSizes[d] != 1) &&
        guardOrFalse(indexSizes[d] != 1))
      return mismatch(args, "shapes do not broadcast in dimension {}", d);
    selfSizes[d] = indexSizes[d] = guardOrFalse(selfSizes[d] == 1) ? indexSizes[d] : selfSizes[d];
  }
  KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {self, intList(selfSizes)}));
  KERF_TRY(const Tensor positions, run("aten.expand.default"_op, {indices, intList(indexSizes)}));
  return run.value("aten.gather.default"_op, {wide, dim, positions});
}

/// Elements that the mask chose, in order, padded with zeros to the source's shape.
/// The chosen gradients, then zeros. No size depends on the mask: each chosen one is put at its number (from 1), the
/// others at 0, which is cut off. More of them than the source had are out of bounds.
Result<Value> maskedScatterBackward(const BoundArguments& args, const OpRunner& run) {
  const SymSizes sizes = args.symSizes(2);
  KERF_TRY(const SymInt count, checkedCount(sizes));
  KERF_TRY(const SymSizes wide, broadcastSizes(args.tensor(0).symSizes(), args.tensor(1).symSizes()));
  KERF_TRY(const SymInt given, checkedCount(wide));
  const Value line = intList(SymSizes{given});
  KERF_TRY(Tensor gradients, run("aten.expand.default"_op, {args.values[0], intList(wide)}));
  KERF_TRY(gradients, run("aten.reshape.default"_op, {gradients, line}));
  KERF_TRY(Tensor mask, run("aten.expand.default"_op, {args.values[1], intList(wide)}));
  KERF_TRY(mask, run("aten.reshape.default"_op, {mask, line}));
  KERF_TRY(const Tensor numbers, run("aten.cumsum.default"_op, {mask, std::int64_t{0}}));
  KERF_TRY(const Tensor places, run("aten.mul.Tensor"_op, {numbers, mask}));
  KERF_TRY(const Tensor zeros, run("aten.new_zeros.default"_op, {gradients, intList({count + 1})}));
  KERF_TRY(const Tensor filled, run("aten.index_put.default"_op, {zeros, ValueList{places}, gradients}));
  KERF_TRY(const Tensor kept, run("aten.slice.Tensor"_op, {filled, std::int64_t{0}, std::int64_t{1}}));
  KERF_TRY(const Tensor own, run("aten.clone.default"_op, {kept}));
  return run.value("aten.view.default"_op, {own, intList(sizes)});
}

Result<Value> maskedScatterBackwardShape(const BoundArguments& args) {
  return Value(metaTensor(args.tensor(0).dtype(), args.symSizes(2)));
}

/// dist(self, other, p): the norm of the difference.
Result<Value> distProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor difference, run("aten.sub.Tensor"_op, {args.values[0], args.values[1]}));
  return run.value("aten.linalg_vector_norm.default"_op, {difference, args.values[2]});
}

Result<Value> allTrueProgram(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dtype() != DType::Bool) return mismatch(args, "argument 'self' must be a bool tensor");
  return run.value(args.op->base, {args.values[0]});
}

Result<Value> fliplrProgram(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dim() < 2) return mismatch(args, "expects at least 2 dimensions");
  return run.value("aten.flip.default"_op, {args.values[0], intList({1})});
}
Result<Value> flipudProgram(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(0).dim() < 1) return mismatch(args, "expects at least 1 dimension");
  return run.value("aten.flip.default"_op, {args.values[0], intList({0})});
}

Result<Value> msortProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value sorted, run.value("aten.sort.default"_op, {args.values[0], std::int64_t{0}, false}));
  return sorted.list()[0];
}

/// float_power computes in float64 whatever the operands.
Result<Value> floatPowerProgram(const BoundArguments& args, const OpRunner& run) {
  ValueList operands;
  for (const Value& value : args.values) {
    if (!value.isTensor()) {
      operands.push_back(value);
      continue;
    }
    KERF_TRY(Value wide, run.value("aten._to_copy.default"_op, {value}, {{"dtype", DType::Float64}}));
    operands.push_back(std::move(wide));
  }
  return run.value(args.op->base, operands);
}

/// sum of |x|^p with the dtype given for the computation and the result.
Result<Value> typedNorm(const BoundArguments& args, const OpRunner& run) {
  const bool whole = args.values.size() == 3;
  const Value dtype = args.values[whole ? 2 : 4];
  KERF_TRY(const Value wide, run.value("aten._to_copy.default"_op, {args.values[0]}, {{"dtype", dtype}}));
  if (whole) return run.value("aten.norm.ScalarOpt_dim"_op, {wide, args.values[1], intList({}), false});
  return run.value("aten.norm.ScalarOpt_dim"_op, {wide, args.values[1], args.values[2], args.values[3]});
}

constexpr OpRow based(Composite program, const char* schema, const char* base, OpTrait traits = OpTrait::None) {
  return compositeRow(program, schema, traits, base);
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr OpRow spreadRows[] = {
    compositeRow(traceProgram, "aten::trace(Tensor self) -> Tensor", reduction),
    based(wholeSpread, "aten::std(Tensor self, bool unbiased=True) -> Tensor", "aten.std.correction", reduction),
    based(wholeSpread, "aten::var(Tensor self, bool unbiased=True) -> Tensor", "aten.var.correction", reduction),
    based(wholeSpread, "aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
          "aten.std_mean.correction", reduction),
    based(wholeSpread, "aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
          "aten.var_mean.correction", reduction),
    based(dimSpread, "aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
          "aten.std.correction", reduction),
    based(dimSpread, "aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
          "aten.var.correction", reduction),
    based(dimSpread,
          "aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, "
          "Tensor)",
          "aten.std_mean.correction", reduction),
    based(dimSpread,
          "aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, "
          "Tensor)",
          "aten.var_mean.correction", reduction),
    compositeRow(isfiniteProgram, "aten::isfinite(Tensor self) -> Tensor"),
    compositeRow(l1Program, "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", reduction),
    compositeRow(takeAlongProgram, "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor"),
    {"aten::masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor", OpTrait::None,
     maskedScatterBackwardShape, nullptr, nullptr, nullptr, maskedScatterBackward},
    compositeRow(distProgram, "aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", reduction),
    based(allTrueProgram, "aten::_is_all_true(Tensor self) -> Tensor", "aten.all.default", reduction),
    based(allTrueProgram, "aten::_is_any_true(Tensor self) -> Tensor", "aten.any.default", reduction),
    compositeRow(fliplrProgram, "aten::fliplr(Tensor self) -> Tensor"),
    compositeRow(flipudProgram, "aten::flipud(Tensor self) -> Tensor"),
    compositeRow(msortProgram, "aten::msort(Tensor self) -> Tensor"),
    based(floatPowerProgram, "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
          "aten.pow.Tensor_Scalar"),
    based(floatPowerProgram, "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
          "aten.pow.Tensor_Tensor"),
    based(floatPowerProgram, "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", "aten.pow.Scalar"),
    compositeRow(typedNorm, "aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
                 reduction),
    compositeRow(typedNorm,
                 "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, "
                 "ScalarType dtype) -> Tensor",
                 reduction),
};

const OpRegistration spreadOps({.rows = spreadRows});

}  // namespace

}  // namespace kerf::inline ops
