// torch._prims reductions: explicit dimensions, no keepdim.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait reduction = OpTrait::Reduction;

/// prims.<name>(inp, dims, *, output_dtype) → base(inp, dims), converted.
Result<Value> overDims(const BoundArguments& args, const OpRunner& run) {
  if (args.none(1)) return mismatch(args, "argument 'dims' is needed");
  Tensor result;
  if (args.sizes(1).empty() && args.values[1].isList()) {
    KERF_TRY(result, run("aten.clone.default"_op, {args.values[0]}));
  } else {
    KERF_TRY(result, run(args.op->base, {args.values[0], args.values[1]}));
  }
  const Value dtype = args.values.back();
  if (dtype.isNone()) return Value(std::move(result));
  return run.value("aten._to_copy.default"_op, {result}, {{"dtype", dtype}});
}

/// prims.var(inp, dims, correction, *, output_dtype)
Result<Value> variance(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor result,
           run("aten.var.correction"_op, {args.values[0], args.values[1]}, {{"correction", args.values[2]}}));
  if (args.none(3)) return Value(result);
  return run.value("aten._to_copy.default"_op, {result}, {{"dtype", args.values[3]}});
}

Result<Value> xorShape(const BoundArguments& args) {
  if (!isIntegral(args.tensor(0).dtype())) return mismatch(args, "argument 'inp' must be integers or bool");
  KERF_TRY(const ReducedDims dims, reducedDims(args, args.tensor(0), args.values[1], false, EmptyDims::None));
  return Value(metaTensor(args.dtypeIf(2).value_or(args.tensor(0).dtype()), dims.outSizes));
}

struct XorStep {
  static std::int64_t apply(std::int64_t a, std::int64_t b) { return a ^ b; }
};

Result<Value> xorKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const ReducedDims dims, reducedDims(args, args.tensor(0), args.values[1], false, EmptyDims::None));
  KERF_TRY(const auto values, (reduceStates<std::int64_t>(args.tensor(0), dims, FoldOp<std::int64_t, XorStep>{0})));
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

constexpr OpRow based(const char* schema, const char* base) { return compositeRow(overDims, schema, reduction, base); }

constexpr OpRow primsReductionRows[] = {
    {"prims::xor_sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", reduction, xorShape,
     xorKernel},
    based("prims::sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", "aten.sum.dim_IntList"),
    based("prims::amax(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", "aten.amax.default"),
    based("prims::amin(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", "aten.amin.default"),
    compositeRow(variance,
                 "prims::var(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? output_dtype=None) -> "
                 "Tensor",
                 reduction),
};

const OpRegistration primsReductionOps({.rows = primsReductionRows});

}  // namespace

}  // namespace kerf::inline ops
