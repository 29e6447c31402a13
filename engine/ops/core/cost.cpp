#include "engine/ops/core/cost.h"

#include "engine/ops/core/op_call.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

/// By the hints of symbolic sizes; none where one depends on data.
std::optional<double> elementsOf(const Tensor& tensor) {
  if (!tensor.isSymbolic()) return double(tensor.numel());
  const auto hint = ShapeEnv::current()->hint(tensor.symNumel());
  return hint ? std::optional(double(*hint)) : std::nullopt;
}

std::optional<double> elementsOf(const ValueList& values) {
  double total = 0;
  for (const Value& value : values) {
    std::optional<double> count = 0;
    if (value.isTensor()) count = elementsOf(value.tensor());
    if (value.isList()) count = elementsOf(value.list());
    if (!count) return {};
    total += *count;
  }
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
