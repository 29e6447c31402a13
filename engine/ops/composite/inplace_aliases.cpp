// In-place ops that write what a functional op under another name, or without such a form, gives.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

/// The order of c10's categories of dtypes: a result may be written into its own category or a later one.
int categoryOf(DType dtype) {
  if (isComplex(dtype)) return 3;
  if (isFloating(dtype)) return 2;
  return dtype == DType::Bool ? 0 : 1;
}

/// Writes the base's result into self.
Result<Value> writeBase(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value out, callBase(args, run));
  const Tensor& self = args.tensor(0);
  if (!checkEqual(out.tensor().symSizes(), self.symSizes()))
    return mismatch(args, "the result's shape [{}] does not fit self", fmt::join(out.tensor().symSizes(), ", "));
  if (categoryOf(out.tensor().dtype()) > categoryOf(self.dtype()))
    return mismatch(args, "result type {} can't be cast to the desired output type {}",
                    dtypeInfo(out.tensor().dtype()).torchName, dtypeInfo(self.dtype()).torchName);
  return run.value("aten.copy_.default"_op, {args.values[0], out}, {});
}

constexpr OpRow inplace(const char* schema, const char* base) {
  return compositeRow(writeBase, schema, OpTrait::Inplace | OpTrait::Impure, base);
}
#define KERF_INPLACE1(name, base) inplace("aten::" name "(Tensor(a!) self) -> Tensor(a!)", "aten." base ".default")

constexpr OpRow inplaceRows[] = {
    KERF_INPLACE1("absolute_", "abs"),
    KERF_INPLACE1("arccos_", "acos"),
    KERF_INPLACE1("arccosh_", "acosh"),
    KERF_INPLACE1("arcsin_", "asin"),
    KERF_INPLACE1("arcsinh_", "asinh"),
    KERF_INPLACE1("arctan_", "atan"),
    KERF_INPLACE1("arctanh_", "atanh"),
    KERF_INPLACE1("conj_physical_", "conj_physical"),
    KERF_INPLACE1("fix_", "trunc"),
    KERF_INPLACE1("mish_", "mish"),
    KERF_INPLACE1("negative_", "neg"),
    KERF_INPLACE1("relu6_", "relu6"),
    KERF_INPLACE1("selu_", "selu"),
    inplace("aten::gelu_(Tensor(a!) self, *, str approximate='none') -> Tensor(a!)", "aten.gelu.default"),
    inplace("aten::arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.atan2.default"),
    inplace("aten::clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)", "aten.clamp.default"),
    inplace("aten::clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)",
            "aten.clamp.Tensor"),
    inplace("aten::greater_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.gt.Tensor"),
    inplace("aten::greater_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten.gt.Scalar"),
    inplace("aten::greater_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.ge.Tensor"),
    inplace("aten::greater_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten.ge.Scalar"),
    inplace("aten::less_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.lt.Tensor"),
    inplace("aten::less_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten.lt.Scalar"),
    inplace("aten::less_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.le.Tensor"),
    inplace("aten::less_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten.le.Scalar"),
    inplace("aten::not_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.ne.Tensor"),
    inplace("aten::not_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten.ne.Scalar"),
};

const OpRegistration inplaceAliasOps({.rows = inplaceRows});

}  // namespace
}  // namespace kerf::inline ops
