#include "engine/ops/core/gradient.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

bool isDifferentiable(const Value& value) { return value.isTensor() && isFloating(value.tensor().dtype()); }

/// Sizes and dtype of the argument.
Tensor like(CompositeSteps& s, const Tensor& flow, const Tensor& argument) {
  const Tensor summed = sumToSize(s, flow, argument.symSizes());
  if (summed.dtype() == argument.dtype()) return summed;
  return s("aten._to_copy.default"_op, {summed}, {{"dtype", argument.dtype()}});
}

/// Ones of a sum; the first is taken as it is.
void addTo(CompositeSteps& s, Value& total, const Tensor& part) {
  total = total.isTensor() ? s("aten.add.Tensor"_op, {total, part}) : part;
}

}  // namespace

Tensor sumToSize(CompositeSteps& steps, const Tensor& tensor, const SymSizes& sizes) {
  const SymSizes& own = tensor.symSizes();
  if (own.isIdentical(sizes) || own.size() < sizes.size()) return tensor;
  const std::size_t lead = own.size() - sizes.size();
  Sizes dims;
  for (std::size_t d = 0; d < own.size(); ++d)
    if (d < lead || (guardOrFalse(sizes[d - lead] == 1) && guardOrTrue(own[d] != 1))) dims.push_back(std::int64_t(d));
  const Tensor summed = dims.empty() ? tensor : steps("aten.sum.dim_IntList"_op, {tensor, intList(dims), true});
  return lead == 0 ? summed : steps("aten.view.default"_op, {summed, intList(sizes)});
}

Result<ValueList> gradientBySlope(Slope slope, const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  ValueList result(call.args.values.size());
  for (std::size_t i = 0; i < result.size() && grads[0].isTensor(); ++i) {
    if (!isDifferentiable(call.args.values[i])) continue;
    const Value flow = slope(s, call, grads[0].tensor(), i);
    if (flow.isTensor()) result[i] = like(s, flow.tensor(), call.args.tensor(i));
  }
  KERF_CHECK(s.done({}));
  return result;
}

Result<Value> jvpBySlope(Slope slope, const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  CompositeSteps s(run);
  Value total;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].isTensor()) continue;
    const Value flow = slope(s, call, tangents[i].tensor(), i);
    if (flow.isTensor()) addTo(s, total, flow.tensor());
  }
  if (!total.isTensor()) return s.done({});
  if (!total.tensor().symSizes().isIdentical(call.result().symSizes()))
    total = s("aten.expand.default"_op, {total, intList(call.result().symSizes())});
  return s.done(total.tensor());
}

Result<Value> multilinearJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  CompositeSteps s(run);
  Value total;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (tangents[i].isNone()) continue;
    BoundArguments replaced = call.args;
    replaced.values[i] = tangents[i];
    KERF_TRY(const Value part, callRow(*call.args.op, replaced, run));
    addTo(s, total, part.tensor());
  }
  return s.done(total.isTensor() ? total.tensor() : Tensor());
}

}  // namespace kerf::inline ops
