#include "engine/autograd/view_inverses.h"

#include <algorithm>

namespace kerf::inline autograd {
namespace {

/// One write through a view.
struct Inverse {
  const ViewStep& step;
  const Tensor& base;
  const Tensor& view;
  CompositeSteps& s;

  const BoundArguments bound() const { return {step.op, step.arguments}; }
  const Value& argument(std::size_t i) const { return step.arguments[i]; }
};

Result<Tensor> sameElements(const Inverse& i) { return i.view; }

/// Another shape for the same elements in the same order.
Result<Tensor> sizesOfBase(const Inverse& i) {
  return i.s("aten.reshape.default"_op, {i.view, intList(i.base.symSizes())});
}

Result<Tensor> permuted(const Inverse& i) {
  KERF_TRY(const Sizes order, wrapDims(i.bound(), i.bound().sizes(1), i.base.dim()));
  Sizes inverse(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) inverse[std::size_t(order[d])] = std::int64_t(d);
  return i.s("aten.permute.default"_op, {i.view, intList(inverse)});
}
Result<Tensor> transposed(const Inverse& i) {
  return i.s("aten.transpose.int"_op, {i.view, i.argument(1), i.argument(2)});
}
Result<Tensor> matrixTransposed(const Inverse& i) { return i.s("aten.t.default"_op, {i.view}); }

Result<Tensor> selected(const Inverse& i) {
  return i.s("aten.select_scatter.default"_op, {i.base, i.view, i.argument(1), i.argument(2)});
}
Result<Tensor> sliced(const Inverse& i) {
  return i.s("aten.slice_scatter.default"_op,
             {i.base, i.view, i.argument(1), i.argument(2), i.argument(3), i.argument(4)});
}
/// Elements [start, start + length of the view) of dimension `dim`.
Result<Tensor> piece(const Inverse& i, std::int64_t dim, const SymInt& start) {
  const SymInt end = start + i.view.symSize(dim);
  return i.s("aten.slice_scatter.default"_op, {i.base, i.view, dim, start, end});
}
Result<Tensor> narrowed(const Inverse& i) {
  KERF_TRY(const std::int64_t dim, wrapDim(i.bound(), i.bound().integer(1), i.base.dim()));
  return piece(i, dim, i.bound().symInteger(2));
}
Result<Tensor> splitPiece(const Inverse& i) {
  KERF_TRY(const std::int64_t dim, wrapDim(i.bound(), i.bound().integer(2), i.base.dim()));
  return piece(i, dim, i.bound().symInteger(1) * SymInt(i.step.item));
}
Result<Tensor> sizedPiece(const Inverse& i) {
  KERF_TRY(const std::int64_t dim, wrapDim(i.bound(), i.bound().integer(2), i.base.dim()));
  const SymSizes sizes = i.bound().symSizes(1);
  SymInt start = 0;
  for (int k = 0; k < i.step.item; ++k) start += sizes[std::size_t(k)];
  return piece(i, dim, start);
}
Result<Tensor> chunkPiece(const Inverse& i) {
  KERF_TRY(const std::int64_t dim, wrapDim(i.bound(), i.bound().integer(2), i.base.dim()));
  const SymInt chunks = i.bound().integer(1);
  return piece(i, dim, floorDiv(i.base.symSize(dim) + chunks - SymInt(1), chunks) * SymInt(i.step.item));
}
Result<Tensor> unbound(const Inverse& i) {
  return i.s("aten.select_scatter.default"_op, {i.base, i.view, i.argument(1), std::int64_t(i.step.item)});
}
Result<Tensor> diagonal(const Inverse& i) {
  return i.s("aten.diagonal_scatter.default"_op, {i.base, i.view, i.argument(1), i.argument(2), i.argument(3)});
}

Result<Tensor> otherDtype(const Inverse& i) { return i.s("aten.view.dtype"_op, {i.view, i.base.dtype()}); }
Result<Tensor> asComplex(const Inverse& i) { return i.s("aten.view_as_complex.default"_op, {i.view}); }
Result<Tensor> asReal(const Inverse& i) { return i.s("aten.view_as_real.default"_op, {i.view}); }
Result<Tensor> realPart(const Inverse& i) {
  if (!isComplex(i.base.dtype())) return i.view;
  return i.s("aten.complex.default"_op, {i.view, i.s("aten.imag.default"_op, {i.base})});
}
Result<Tensor> imaginaryPart(const Inverse& i) {
  return i.s("aten.complex.default"_op, {i.s("aten.real.default"_op, {i.base}), i.view});
}
/// An expand that widened nothing.
Result<Tensor> unexpanded(const Inverse& i) {
  if (i.base.symSizes().isIdentical(i.view.symSizes())) return i.view;
  return fail(ErrorCode::UnsupportedOp,
              "a write through aten.expand, where several elements are one, cannot be made functional");
}

struct Row {
  OpId op;
  Result<Tensor> (*invert)(const Inverse&);
};

const Row* findRow(OpId op) {
  static const Row rows[] = {
      {"aten.alias.default"_op, sameElements},
      {"aten.detach.default"_op, sameElements},
      {"aten.lift.default"_op, sameElements},
      {"aten.lift_fresh.default"_op, sameElements},
      {"aten.positive.default"_op, sameElements},
      {"aten.resolve_conj.default"_op, sameElements},
      {"aten.resolve_neg.default"_op, sameElements},
      {"aten.view.default"_op, sizesOfBase},
      {"aten.unsqueeze.default"_op, sizesOfBase},
      {"aten.squeeze.default"_op, sizesOfBase},
      {"aten.squeeze.dim"_op, sizesOfBase},
      {"aten.squeeze.dims"_op, sizesOfBase},
      {"aten.permute.default"_op, permuted},
      {"aten.transpose.int"_op, transposed},
      {"aten.t.default"_op, matrixTransposed},
      {"aten.expand.default"_op, unexpanded},
      {"aten.select.int"_op, selected},
      {"aten.slice.Tensor"_op, sliced},
      {"aten.narrow.default"_op, narrowed},
      {"aten.split.Tensor"_op, splitPiece},
      {"aten.split_with_sizes.default"_op, sizedPiece},
      {"aten.chunk.default"_op, chunkPiece},
      {"aten.unbind.int"_op, unbound},
      {"aten.diagonal.default"_op, diagonal},
      {"aten.view.dtype"_op, otherDtype},
      {"aten.view_as_real.default"_op, asComplex},
      {"aten.view_as_complex.default"_op, asReal},
      {"aten.real.default"_op, realPart},
      {"aten.imag.default"_op, imaginaryPart},
  };
  const auto* found = std::ranges::find(rows, op, &Row::op);
  return found == std::end(rows) ? nullptr : found;
}

}  // namespace

Result<Tensor> writeThrough(const ViewStep& step, const Tensor& base, const Tensor& view, const OpRunner& run) {
  const Row* row = findRow(step.op->id);
  if (row == nullptr)
    return fail(ErrorCode::UnsupportedOp, "a write through {} cannot be made functional",
                step.op->schema.qualifiedName());
  CompositeSteps s(run);
  KERF_TRY(const Tensor whole, row->invert({step, base, view, s}));
  KERF_CHECK(s.done({}));
  return whole;
}

}  // namespace kerf::inline autograd
