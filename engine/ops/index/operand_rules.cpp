// What PyTorch refuses of indices, and of what is written at them.
#include <algorithm>
#include <array>

#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

Result<void> wholeIndex(const BoundArguments& args) {
  const Tensor* index = operandNamed(args, "index");
  if (!index || index->dtype() == DType::Int64 || index->dtype() == DType::Int32) return {};
  if (guardOrFalse(index->symNumel() == 0)) return {};  // then no kernel looks at it
  return mismatch(args, "'index' must be int64 or int32, got {}", nameOf(index->dtype()));
}

Result<void> longIndex(const BoundArguments& args) {
  const Tensor* index = operandNamed(args, "index");
  if (!index || index->dtype() == DType::Int64) return {};
  return mismatch(args, "'index' must be int64, got {}", nameOf(index->dtype()));
}

/// x[indices]: integers of some kinds, or truths.
Result<void> indexTensors(const BoundArguments& args) {
  constexpr std::array allowed{DType::Int64, DType::Int32, DType::UInt8, DType::Bool};
  if (!args.values[1].isList()) return {};
  if (args.values[1].list().empty()) return mismatch(args, "needs at least one index");
  for (const Tensor& index : args.tensors(1)) {
    const bool given = index.defined() || index.dim() > 0 || index.dtype() != DType::Float32;
    if (given && std::ranges::find(allowed, index.dtype()) == allowed.end())
      return mismatch(args, "tensors used as indices must be int64, int32, uint8 or bool, got {}",
                      nameOf(index.dtype()));
  }
  return {};
}

template <std::size_t source>
Result<void> oneDtypeWith(const BoundArguments& args) {
  const Tensor *self = args.tensorIf(0), *other = args.tensorIf(source);
  if (!self || !other || self->dtype() == other->dtype()) return {};
  return mismatch(args, "self and {} must have one dtype, got {} and {}", args.op->schema.arguments[source].name,
                  nameOf(self->dtype()), nameOf(other->dtype()));
}

Result<void> scatterWord(const BoundArguments& args) {
  const std::string reduce = textNamed(args, "reduce");
  if (reduce == "add" || reduce == "multiply") return {};
  return mismatch(args, "reduce must be 'add' or 'multiply', got '{}'", reduce);
}

Result<void> reductionWord(const BoundArguments& args) {
  constexpr std::string_view words[] = {"sum", "prod", "mean", "amax", "amin"};
  const std::string reduce = textNamed(args, "reduce");
  const bool takesSum = args.op->schema.name.starts_with("aten::scatter_reduce");
  if (std::ranges::find(words, reduce) != std::end(words) && (takesSum || reduce != "sum")) return {};
  return mismatch(args, "reduce must be one of {}prod, mean, amax and amin, got '{}'", takesSum ? "sum, " : "", reduce);
}

Result<void> rolledDims(const BoundArguments& args) {
  const std::size_t shifts = args.values[1].isList() ? args.values[1].list().size() : 1;
  const Sizes dims = args.sizes(2);
  if (shifts == 0) return mismatch(args, "needs a shift");
  if (dims.empty() && shifts != 1) return mismatch(args, "without dims there must be one shift, got {}", shifts);
  if (!dims.empty() && shifts != dims.size()) return mismatch(args, "{} shifts for {} dims", shifts, dims.size());
  for (const std::int64_t dim : dims) KERF_CHECK(wrapDim(args, dim, args.tensor(0).dim()));
  return {};
}

/// A window that is farther away than addresses count.
Result<void> unfoldedStep(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0 || self.isSymbolic()) return {};
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  std::int64_t stride = 0;
  if (__builtin_mul_overflow(self.stride(dim), args.integer(3), &stride))
    return mismatch(args, "the view reaches outside of the storage");
  return {};
}

Result<void> longVector(const BoundArguments& args) {
  if (args.values[0].isTensor() && args.tensor(0).dtype() != DType::Int64)
    return mismatch(args, "needs an int64 tensor, got {}", nameOf(args.tensor(0).dtype()));
  return {};
}

constexpr OperandRule indexRules[] = {
    {"aten::gather aten::scatter aten::scatter_ aten::scatter_add aten::scatter_add_ aten::scatter_reduce "
     "aten::scatter_reduce_ aten::index_reduce aten::index_reduce_",
     wholeIndex},
    {"aten::take aten::index_fill aten::index_fill_ aten::index_copy aten::index_copy_ aten::put aten::put_",
     longIndex},
    {"aten::index aten::_unsafe_index", indexTensors},
    {"aten::index_add aten::index_add_ aten::index_copy aten::index_copy_ aten::index_reduce aten::index_reduce_",
     oneDtypeWith<3>},
    {"aten::index_put aten::index_put_ aten::_unsafe_index_put aten::put aten::put_ aten::masked_scatter "
     "aten::masked_scatter_",
     oneDtypeWith<2>},
    {"aten::scatter.reduce aten::scatter_.reduce aten::scatter.value_reduce aten::scatter_.value_reduce", scatterWord},
    {"aten::scatter_reduce aten::scatter_reduce_ aten::index_reduce aten::index_reduce_", reductionWord},
    {"aten::roll", rolledDims},
    {"aten::unfold aten::unfold_copy", unfoldedStep},
    {"aten::one_hot", longVector},
};

const OperandChecks indexChecks({.rules = indexRules});

}  // namespace
}  // namespace kerf::inline ops
