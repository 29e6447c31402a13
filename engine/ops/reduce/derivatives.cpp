// Gradients and sharding of sums and means.
#include <algorithm>

#include "engine/ops/reduce/families.h"

namespace kerf::inline ops {
namespace {

/// The result's gradient with the reduced dimensions put back, as wide as self.
Result<Tensor> spread(const CallRecord& call, const Value& grad, CompositeSteps& s, SymInt& count) {
  const BoundArguments& args = call.args;
  const Tensor& self = args.tensor(0);
  count = self.symNumel();
  Tensor wide = grad.tensor();
  const bool dims = args.op->schema.arguments.size() > 2 && args.op->schema.arguments[1].name == "dim";
  if (dims && !args.sizes(1).empty()) {
    KERF_TRY(Sizes reduced, wrapDims(args, args.sizes(1), self.dim()));
    std::ranges::sort(reduced);
    count = 1;
    for (const std::int64_t dim : reduced) {
      if (self.dim() > 0) count *= self.symSize(dim);
      if (!args.boolean(2) && self.dim() > 0) wide = s("aten.unsqueeze.default"_op, {wide, dim});
    }
  }
  return s("aten.expand.default"_op, {wide, intList(self.symSizes())});
}

Result<ValueList> onlySelf(const CallRecord& call, CompositeSteps& s, Tensor gradient) {
  const DType dtype = call.args.tensor(0).dtype();
  if (gradient.dtype() != dtype) gradient = s("aten._to_copy.default"_op, {gradient}, {{"dtype", dtype}});
  ValueList grads(call.args.values.size());
  KERF_TRY(grads[0], s.done(gradient));
  return grads;
}

Result<ValueList> sum(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  SymInt count = 0;
  KERF_TRY(const Tensor wide, spread(call, grads[0], s, count));
  return onlySelf(call, s, wide);
}

Result<ValueList> mean(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  SymInt count = 0;
  KERF_TRY(const Tensor wide, spread(call, grads[0], s, count));
  return onlySelf(call, s, s("aten.div.Scalar"_op, {wide, count}));
}

constexpr OpFacts partial(const char* op, const char* reduction) {
  return {.op = op, .sharding = {ShardingKind::Reduction, reduction}};
}

constexpr OpFacts table[] = {
    linearGradient("aten::sum", sum), linearGradient("aten::mean", mean), partial("aten::sum", "sum"),
    partial("aten::mean", "avg"),     partial("aten::amax", "max"),       partial("aten::amin", "min"),
    partial("aten::prod", "product"), partial("aten::max", "max"),        partial("aten::min", "min"),
    partial("aten::any.dim", "or"),   partial("aten::any", "or"),         partial("aten::all", "and"),
};

}  // namespace

OpFactRows reductionDerivatives() { return table; }

}  // namespace kerf::inline ops
