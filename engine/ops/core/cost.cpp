#include "engine/ops/core/cost.h"

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {
namespace {

double elementsOf(const ValueList& values) {
  double total = 0;
  for (const Value& value : values)
    if (value.isTensor())
      total += double(value.tensor().numel());
    else if (value.isList())
      total += elementsOf(value.list());
  return total;
}

}  // namespace

RecomputeCost recomputeCostOf(const OpInfo& op) {
  if (has(op.traits, OpTrait::Random | OpTrait::Impure | OpTrait::Inplace)) return RecomputeCost::Never;
  if (has(op.traits, OpTrait::Matmul | OpTrait::Convolution) || op.flops) return RecomputeCost::ComputeIntensive;
  if (has(op.traits, OpTrait::View)) return RecomputeCost::Free;
  return has(op.traits, OpTrait::Pointwise) ? RecomputeCost::Fusible : RecomputeCost::Reads;
}

std::optional<double> flopsOf(const BoundArguments& args, const ValueList& results) {
  const OpInfo& op = *args.op;
  if (op.flops) return op.flops(args, results);
  if (has(op.traits, OpTrait::View)) return 0.0;
  if (has(op.traits, OpTrait::Pointwise)) return elementsOf(results);
  if (has(op.traits, OpTrait::Reduction)) return elementsOf(args.values);
  return {};
}

}  // namespace kerf::inline ops
