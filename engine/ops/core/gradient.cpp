#include "engine/ops/core/gradient.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

bool isDifferentiable(const Value& value) {
  if (value.isList()) return std::ranges::any_of(value.list(), isDifferentiable);
  return value.isTensor() && (isFloating(value.tensor().dtype()) || isComplex(value.tensor().dtype()));
}

/// Sizes and dtype of the argument.
Tensor like(CompositeSteps& s, const Tensor& flow, const Tensor& argument) {
  const Tensor summed = sumToSize(s, flow, argument.symSizes());
  if (summed.dtype() == argument.dtype()) return summed;
  if (isComplex(summed.dtype()) && !isComplex(argument.dtype())) return s("aten.real.default"_op, {summed});
  return s("aten._to_copy.default"_op, {summed}, {{"dtype", argument.dtype()}});
}

/// Ones of a sum; the first is taken as it is. Lists item by item.
void addTo(CompositeSteps& s, Value& total, const Value& part) {
  if (total.isTensor() && part.isTensor()) {
    total = s("aten.add.Tensor"_op, {total, part});
  } else if (total.isList() && part.isList()) {
    ValueList items = total.list();
    for (std::size_t i = 0; i < items.size(); ++i) addTo(s, items[i], part.list()[i]);
    total = Value(std::move(items));
  } else {
    total = part;
  }
}

/// A tangent with zeros for what has none.
Value filledIn(CompositeSteps& s, const Value& tangent, const Value& argument) {
  if (argument.isTensor()) return tangent.isTensor() ? tangent : Value(s("aten.zeros_like.default"_op, {argument}));
  if (!argument.isList()) return argument;
  ValueList items;
  for (std::size_t i = 0; i < argument.list().size(); ++i)
    items.push_back(filledIn(s, tangent.isList() ? tangent.list()[i] : Value(), argument.list()[i]));
  return Value(std::move(items));
}

}  // namespace

bool CallRecord::wants(std::size_t i) const {
  return (wanted.empty() || wanted[i]) && isDifferentiable(args.values[i]);
}

Tensor orZeros(CompositeSteps& steps, const CallRecord& call, const ValueList& grads, std::size_t k) {
  if (grads[k].isTensor()) return grads[k].tensor();
  return steps("aten.zeros_like.default"_op, {call.results[k]});
}

Result<ValueList> nothingFlows(const CallRecord& call, const ValueList&, const OpRunner&) {
  return ValueList(call.args.values.size());
}
Result<Value> noTangent(const CallRecord&, const ValueList&, const OpRunner&) { return Value(); }

Result<ValueList> noDerivative(const CallRecord& call, const ValueList&, const OpRunner&) {
  return fail(ErrorCode::UnsupportedOp, "{} has no derivative in PyTorch", call.args.opName());
}
Result<Value> noDerivativeTangent(const CallRecord& call, const ValueList&, const OpRunner&) {
  return fail(ErrorCode::UnsupportedOp, "{} has no derivative in PyTorch", call.args.opName());
}

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
    if (!call.wants(i)) continue;
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
    if (flow.isTensor()) addTo(s, total, flow);
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
    replaced.values[i] = filledIn(s, tangents[i], call.args.values[i]);
    KERF_TRY(const Value part, callRow(*call.args.op, replaced, run));
    addTo(s, total, part);
  }
  KERF_CHECK(s.done({}));
  return total;
}

Result<Value> linearJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  CompositeSteps s(run);
  BoundArguments replaced = call.args;
  for (std::size_t i = 0; i < tangents.size(); ++i)
    if (isDifferentiable(call.args.values[i])) replaced.values[i] = filledIn(s, tangents[i], call.args.values[i]);
  KERF_CHECK(s.done({}));
  return callRow(*call.args.op, replaced, run);
}

}  // namespace kerf::inline ops
