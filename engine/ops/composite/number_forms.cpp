// Overloads of set, repetition and layer ops that take a number, a list or a rarer set of arguments.
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

/// A Python number as torch.scalar_tensor makes it: int64, bool or float32.
Result<Value> asTensor(const OpRunner& run, const Value& number) {
  const DType dtype = number.as<bool>() ? DType::Bool : number.asSymInt() ? DType::Int64 : DType::Float32;
  return run.value("aten.scalar_tensor.default"_op, {number}, {{"dtype", dtype}});
}

/// The base op with the first Scalar argument made a tensor; the rest by name.
Result<Value> withTensor(const BoundArguments& args, const OpRunner& run) {
  const OpInfo* base = findOp(args.op->base);
  if (!base) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", args.opName());
  ValueList positional;
  KeywordValues keywords;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    Value value = args.values[i];
    if (args.op->schema.arguments[i].type == "Scalar") {
      KERF_TRY(value, asTensor(run, value));
    }
    if (args.op->schema.arguments[i].keywordOnly)
      keywords.emplace_back(args.op->schema.arguments[i].name, std::move(value));
    else
      positional.push_back(std::move(value));
  }
  return run.value(args.op->base, positional, keywords);
}

constexpr OpRow tensorForm(const char* schema, const char* base) {
  return compositeRow(withTensor, schema, none, base);
}

// repeat_interleave(self, repeats, dim, *, output_size)

Result<Value> repeatTensor(const BoundArguments& args, const OpRunner& run) {
  Value self = args.values[0];
  std::int64_t dim = 0;
  if (args.none(2)) {
    KERF_TRY(self, run.value("aten.reshape.default"_op, {self, intList({-1})}));
  } else {
    KERF_TRY(dim, wrapDim(args, args.integer(2), args.tensor(0).dim()));
  }
  Tensor repeats = args.tensor(1);
  const SymInt length = self.tensor().dim() == 0 ? SymInt(1) : self.tensor().symSize(dim);
  if (guardOrFalse(repeats.symNumel() != 1) && guardOrFalse(repeats.symNumel() != length))
    return mismatch(args, "argument 'repeats' has {} entries for a dimension of {}", repeats.symNumel(), length);
  if (repeats.dim() == 0 || (guardOrFalse(repeats.symSize(0) == 1) && !guardOrFalse(length == 1))) {
    KERF_TRY(const Tensor line, run("aten.reshape.default"_op, {repeats, intList({1})}));
    KERF_TRY(repeats, run("aten.expand.default"_op, {line, intList({length})}));
  }
  KeywordValues total;
  if (!args.none(3)) total.emplace_back("output_size", args.values[3]);
  KERF_TRY(const Tensor index, run("aten.repeat_interleave.Tensor"_op, {repeats}, total));
  return run.value("aten.index_select.default"_op, {self, dim, index});
}

Result<Value> repeatNumber(const BoundArguments& args, const OpRunner& run) {
  Value self = args.values[0];
  std::int64_t dim = 0;
  const SymInt repeats = args.symInteger(1);
  if (guardOrFalse(repeats < 0)) return mismatch(args, "argument 'repeats' is negative");
  if (args.none(2)) {
    KERF_TRY(self, run.value("aten.reshape.default"_op, {self, intList({-1})}));
  } else {
    KERF_TRY(dim, wrapDim(args, args.integer(2), args.tensor(0).dim()));
  }
  if (self.tensor().dim() == 0) {
    KERF_TRY(self, run.value("aten.reshape.default"_op, {self, intList({1})}));
  }
  SymSizes wide = self.tensor().symSizes(), flat = wide;
  wide.insert(wide.begin() + dim + 1, repeats);
  KERF_TRY(flat[std::size_t(dim)], checkedCount({flat[std::size_t(dim)], repeats}));
  KERF_TRY(const Tensor lifted, run("aten.unsqueeze.default"_op, {self, dim + 1}));
  KERF_TRY(const Tensor repeated, run("aten.expand.default"_op, {lifted, intList(wide)}));
  KERF_TRY(const Tensor dense, run("aten.clone.default"_op, {repeated}, {{"memory_format", MemoryFormat::Contiguous}}));
  return run.value("aten.view.default"_op, {dense, intList(flat)});
}

// _weight_norm_interface(v, g, dim): w = v * g / |v|, norms over all dimensions but `dim`

Result<Value> weightNorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor &v = args.tensor(0), &g = args.tensor(1);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), v.dim()));
  if (dim != 0 && dim != v.dim() - 1)
    return mismatch(args, "argument 'dim' must be the first or the last, got {}", dim);
  Sizes others;
  for (std::int64_t d = 0; d < v.dim(); ++d)
    if (d != dim) others.push_back(d);
  KERF_TRY(const Tensor norms, run("aten.norm.ScalarOpt_dim"_op, {v, 2.0, intList(others), true}));
  KERF_TRY(const Tensor scale, run("aten.div.Tensor"_op, {g, norms}));
  KERF_TRY(Tensor w, run("aten.mul.Tensor"_op, {v, scale}));
  if (args.op->schema.returns.size() == 1) return Value(std::move(w));
  return Value(ValueList{std::move(w), norms});
}

/// (grad_w, saved_v, saved_g, saved_norms, dim) → gradients by v and g.
Result<Value> weightNormBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& v = args.tensor(1);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(4), v.dim()));
  Sizes others;
  for (std::int64_t d = 0; d < v.dim(); ++d)
    if (d != dim) others.push_back(d);
  KERF_TRY(const Tensor product, run("aten.mul.Tensor"_op, {args.values[0], v}));
  KERF_TRY(const Tensor sums, run("aten.sum.dim_IntList"_op, {product, intList(others), true}));
  KERF_TRY(const Tensor gradG, run("aten.div.Tensor"_op, {sums, args.values[3]}));
  KERF_TRY(const Tensor scale, run("aten.div.Tensor"_op, {args.values[2], args.values[3]}));
  KERF_TRY(const Tensor share, run("aten.div.Tensor"_op, {gradG, args.values[3]}));
  KERF_TRY(const Tensor along, run("aten.mul.Tensor"_op, {v, share}));
  KERF_TRY(const Tensor across, run("aten.sub.Tensor"_op, {args.values[0], along}));
  KERF_TRY(Tensor gradV, run("aten.mul.Tensor"_op, {scale, across}));
  return Value(ValueList{std::move(gradV), gradG});
}

/// native_dropout_backward(grad_output, mask, scale)
Result<Value> dropoutBackward(const BoundArguments& args, const OpRunner& run) {
  if (args.tensor(1).dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  KERF_TRY(const Tensor kept, run("aten.mul.Tensor"_op, {args.values[0], args.values[1]}));
  return run.value("aten.mul.Scalar"_op, {kept, args.values[2]});
}

// (self, bool is_causal …) of torch.special

Result<Value> specialSoftmax(const BoundArguments& args, const OpRunner& run) {
  return run.value(args.op->base, {args.values[0], args.values[1], args.values[2]});
}
constexpr OpRow softmaxForm(const char* schema, const char* base) {
  return compositeRow(specialSoftmax, schema, OpTrait::Reduction, base);
}

Result<Value> nanMean(const BoundArguments& args, const OpRunner& run) {
  if (!isFloating(args.tensor(0).dtype())) return mismatch(args, "argument 'self' must be floating point");
  KERF_TRY(const Tensor isNan, run("aten.isnan.default"_op, {args.values[0]}));
  KERF_TRY(const Tensor isNumber, run("aten.logical_not.default"_op, {isNan}));
  KERF_TRY(const Tensor count, run("aten.sum.dim_IntList"_op, {isNumber, args.values[1], args.values[2]}));
  KERF_TRY(const Tensor sum, run("aten.nansum.default"_op, {args.values[0], args.values[1], args.values[2]},
                                 {{"dtype", args.values[3]}}));
  return run.value("aten.div.Tensor"_op, {sum, count});
}

constexpr OpRow numberFormRows[] = {
    tensorForm("aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> "
               "Tensor",
               "aten.bucketize.Tensor"),
    tensorForm("aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool "
               "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
               "aten.searchsorted.Tensor"),
    tensorForm("aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
               "invert=False) -> Tensor",
               "aten.isin.Tensor_Tensor"),
    tensorForm("aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
               "invert=False) -> Tensor",
               "aten.isin.Tensor_Tensor"),
    compositeRow(repeatTensor,
                 "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
                 "SymInt? output_size=None) -> Tensor",
                 OpTrait::DataDependent),
    compositeRow(repeatNumber,
                 "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
                 "output_size=None) -> Tensor"),
    compositeRow(weightNorm, "aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)"),
    compositeRow(weightNorm, "aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor"),
    compositeRow(weightNormBackward,
                 "aten::_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor "
                 "saved_g, Tensor saved_norms, int dim) -> (Tensor, Tensor)"),
    compositeRow(dropoutBackward,
                 "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor"),
    softmaxForm("aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "aten.softmax.int"),
    softmaxForm("aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                "aten.log_softmax.int"),
    compositeRow(
        nanMean,
        "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        OpTrait::Reduction),
};

const OpRegistration numberFormOps({.rows = numberFormRows});

}  // namespace

}  // namespace kerf::inline ops
