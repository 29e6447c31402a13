// Gradients of views, moves and embeddings. All of these are linear.
#include <limits>

#include "engine/ops/index/families.h"

namespace kerf::inline ops {
namespace {

using Grads = Result<ValueList>;

/// The gradient of argument `i`; nothing flows to the others.
Grads only(const CallRecord& call, CompositeSteps& s, std::size_t i, const Tensor& gradient) {
  ValueList grads(call.args.values.size());
  KERF_TRY(grads[i], s.done(gradient));
  return grads;
}

const SymSizes& sizesOf(const CallRecord& call) { return call.args.tensor(0).symSizes(); }

Grads reshaped(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  return only(call, s, 0, s("aten.reshape.default"_op, {grads[0], intList(sizesOf(call))}));
}

Grads permuted(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  KERF_TRY(const Sizes order, wrapDims(call.args, call.args.sizes(1), call.args.tensor(0).dim()));
  Sizes inverse(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) inverse[std::size_t(order[d])] = std::int64_t(d);
  CompositeSteps s(run);
  return only(call, s, 0, s("aten.permute.default"_op, {grads[0], intList(inverse)}));
}

Grads transposed(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  return only(call, s, 0, s("aten.transpose.int"_op, {grads[0], call.args.values[1], call.args.values[2]}));
}

Grads matrixTransposed(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  return only(call, s, 0, s("aten.t.default"_op, {grads[0]}));
}

Grads expanded(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  return only(call, s, 0, sumToSize(s, grads[0].tensor(), sizesOf(call)));
}

Grads unsqueezed(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  return only(call, s, 0, s("aten.squeeze.dim"_op, {grads[0], call.args.values[1]}));
}

Grads squeezed(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  if (call.result().dim() == call.args.tensor(0).dim()) return only(call, s, 0, grads[0].tensor());
  return only(call, s, 0, s("aten.unsqueeze.default"_op, {grads[0], call.args.values[1]}));
}

Grads sliced(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  const BoundArguments& args = call.args;
  CompositeSteps s(run);
  const SymInt start = args.symIntegerIf(2).value_or(0);
  const SymInt end = args.symIntegerIf(3).value_or(std::numeric_limits<std::int64_t>::max());
  return only(call, s, 0,
              s("aten.slice_backward.default"_op,
                {grads[0], intList(sizesOf(call)), args.values[1], start, end, args.values[4]}));
}

Grads selected(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  return only(call, s, 0,
              s("aten.select_backward.default"_op,
                {grads[0], intList(sizesOf(call)), call.args.values[1], call.args.values[2]}));
}

/// gather(self, dim, index): elements add up where they were taken.
Grads gathered(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  const Tensor zeros = s("aten.new_zeros.default"_op, {grads[0], intList(sizesOf(call))});
  return only(call, s, 0,
              s("aten.scatter_add.default"_op, {zeros, call.args.values[1], call.args.values[2], grads[0]}));
}

Grads indexSelected(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  CompositeSteps s(run);
  const Tensor zeros = s("aten.new_zeros.default"_op, {grads[0], intList(sizesOf(call))});
  return only(call, s, 0, s("aten.index_add.default"_op, {zeros, call.args.values[1], call.args.values[2], grads[0]}));
}

/// embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse).
Grads embedded(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  const BoundArguments& args = call.args;
  CompositeSteps s(run);
  return only(call, s, 0,
              s("aten.embedding_dense_backward.default"_op,
                {grads[0], args.values[1], sizesOf(call)[0], args.values[2], args.values[3]}));
}

/// cat(tensors, dim): each gets its slice.
Grads concatenated(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  KERF_TRY(const std::int64_t dim, wrapDim(call.args, call.args.integer(1), call.result().dim()));
  CompositeSteps s(run);
  ValueList parts;
  SymInt begin = 0;
  for (const Tensor& tensor : call.args.tensors(0)) {
    const bool legacyEmpty = tensor.dim() == 1 && guardOrFalse(tensor.symSize(0) == 0);
    const SymInt end = legacyEmpty ? begin : begin + tensor.symSize(dim);
    parts.push_back(legacyEmpty ? s("aten.zeros_like.default"_op, {tensor})
                                : s("aten.slice.Tensor"_op, {grads[0], dim, begin, end}));
    begin = end;
  }
  KERF_CHECK(s.done({}));
  return ValueList{Value(std::move(parts)), Value()};
}

constexpr OpFacts table[] = {
    linearGradient("aten::view", reshaped),
    linearGradient("aten::_unsafe_view", reshaped),
    linearGradient("aten::reshape", reshaped),
    linearGradient("aten::permute", permuted),
    linearGradient("aten::transpose.int", transposed),
    linearGradient("aten::t", matrixTransposed),
    linearGradient("aten::expand", expanded),
    linearGradient("aten::unsqueeze", unsqueezed),
    linearGradient("aten::squeeze.dim", squeezed),
    linearGradient("aten::slice.Tensor", sliced),
    linearGradient("aten::select.int", selected),
    linearGradient("aten::gather", gathered),
    linearGradient("aten::index_select", indexSelected),
    linearGradient("aten::embedding", embedded),
    linearGradient("aten::cat", concatenated),
};

}  // namespace

OpFactRows indexDerivatives() { return table; }

}  // namespace kerf::inline ops
