// Gradients of copies that move elements, and of the scatter and backward forms of views.
#include <algorithm>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// cat(tensors, dim): each gets its slice.
void concatenated(Backward& b) {
  const std::int64_t rank = std::max<std::int64_t>(b.call.result().dim(), 1), given = b.args.integer(1);
  const std::int64_t dim = given < 0 ? given + rank : given;
  std::vector<Formula> parts;
  SymInt begin = 0;
  for (const Tensor& tensor : b.args.tensors(0)) {
    const bool legacyEmpty = tensor.dim() == 1 && guardOrFalse(tensor.symSize(0) == 0);
    const SymInt end = legacyEmpty ? begin : begin + tensor.symSize(dim);
    parts.push_back(legacyEmpty ? zerosLike(tensor) : slice(b.grad(), dim, begin, end));
    begin = end;
  }
  b.give(0, parts);
}

void stacked(Backward& b) { b.give(0, b.several({"aten.unbind.int"_op, {b.grad(), b[1]}})); }

/// repeat(self, repeats): what every copy of an element gets. Each repeated dimension is split into copies and size.
void repeated(Backward& b) {
  const SymSizes repeats = b.args.symSizes(1);
  const std::size_t lead = repeats.size() - b.sizes().size();
  SymSizes split;
  Sizes copies;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (guardOrFalse(repeats[d] == 0)) return b.give(0, zerosLike(b[0]));
    if (d < lead || !guardOrFalse(repeats[d] == 1)) {
      copies.push_back(std::int64_t(split.size()));
      split.push_back(repeats[d]);
    }
    if (d >= lead) split.push_back(b.sizes()[d - lead]);
  }
  b.give(0, copies.empty() ? b.grad() : sum(reshape(b.grad(), split), copies));
}

void flipped(Backward& b) { b.give(0, {"aten.flip.default"_op, {b.grad(), b[1]}}); }
void rolled(Backward& b) {
  SymSizes shifts = b.args.symSizes(1), back;
  for (std::size_t d = 0; d < shifts.size(); ++d) back.push_back(-shifts[d]);
  b.give(0, {"aten.roll.default"_op, {b.grad(), intList(back), b[2]}});
}
void lowerTriangle(Backward& b) { b.give(0, {"aten.tril.default"_op, {b.grad(), b[1]}}); }
void upperTriangle(Backward& b) { b.give(0, {"aten.triu.default"_op, {b.grad(), b[1]}}); }

void padded(Backward& b) {
  const SymSizes pad = b.args.symSizes(1);
  SymSizes back;
  for (std::size_t d = 0; d < pad.size(); ++d) back.push_back(-pad[d]);
  b.give(0, {"aten.constant_pad_nd.default"_op, {b.grad(), intList(back)}});
}
std::vector<Formula> paddedTangent(Forward& f) { return {{"aten.constant_pad_nd.default"_op, {f.tangent(), f[1]}}}; }

/// im2col(self, kernel, dilation, padding, stride) and col2im(self, size, kernel, dilation, padding, stride)
void columns(Backward& b) {
  const SymSizes& own = b.sizes();
  const SymSizes image{own[own.size() - 2], own[own.size() - 1]};
  b.give(0, {"aten.col2im.default"_op, {b.grad(), intList(image), b[1], b[2], b[3], b[4]}});
}
void image(Backward& b) { b.give(0, {"aten.im2col.default"_op, {b.grad(), b[2], b[3], b[4], b[5]}}); }

// Backward ops of views: linear in the gradient

void selectedBack(Backward& b) { b.give(0, {"aten.select.int"_op, {b.grad(), b[2], b[3]}}); }
void slicedBack(Backward& b) { b.give(0, {"aten.slice.Tensor"_op, {b.grad(), b[2], b[3], b[4], b[5]}}); }
void diagonalBack(Backward& b) { b.give(0, {"aten.diagonal.default"_op, {b.grad(), b[2], b[3], b[4]}}); }
void unfoldedBack(Backward& b) { b.give(0, {"aten.unfold.default"_op, {b.grad(), b[2], b[3], b[4]}}); }

// Views written into: op(self, src, view arguments); what src covers does not flow to self

/// The arguments behind src.
std::vector<Formula> viewArguments(const Backward& b) {
  std::vector<Formula> rest;
  for (std::size_t i = 2; i < b.args.values.size(); ++i) rest.emplace_back(b.args.values[i]);
  return rest;
}
void scattered(Backward& b, OpId view) {
  const std::vector<Formula> rest = viewArguments(b);
  if (b.wants(0)) {
    std::vector<Formula> covered{b.grad(), newZeros(b.grad(), b.sizes(1))};
    covered.insert(covered.end(), rest.begin(), rest.end());
    b.give(0, {b.args.op->id, covered});
  }
  if (!b.wants(1)) return;
  std::vector<Formula> seen{b.grad()};
  seen.insert(seen.end(), rest.begin(), rest.end());
  b.give(1, {view, seen});
}
void selectScattered(Backward& b) { scattered(b, "aten.select.int"_op); }
void sliceScattered(Backward& b) { scattered(b, "aten.slice.Tensor"_op); }
void diagonalScattered(Backward& b) { scattered(b, "aten.diagonal.default"_op); }

/// as_strided_scatter(self, src, size, stride, offset): the gradient is laid out as self.
void stridedScattered(Backward& b) {
  const Tensor& self = b.args.tensor(0);
  const Formula like("aten.new_empty_strided.default"_op,
                     {b.grad(), intList(self.symSizes()), intList(self.symStrides())});
  const Formula grad("aten.copy.default"_op, {like, b.grad()});
  if (b.wants(0))
    b.give(0, {"aten.as_strided_scatter.default"_op, {grad, newZeros(grad, b.sizes(1)), b[2], b[3], b[4]}});
  b.give(1, {"aten.as_strided.default"_op, {grad, b[2], b[3], b[4]}});
}

constexpr OpFacts moveDerivativesTable[] = {
    jointlyLinear<concatenated>("aten::cat"),
    jointlyLinear<stacked>("aten::stack"),
    linear<repeated>("aten::repeat"),
    linear<flipped>("aten::flip"),
    linear<rolled>("aten::roll"),
    linear<lowerTriangle>("aten::tril"),
    linear<upperTriangle>("aten::triu"),
    differentiable<padded, paddedTangent>("aten::constant_pad_nd"),
    linear<columns>("aten::im2col"),
    linear<image>("aten::col2im"),
    linear<selectedBack>("aten::select_backward"),
    linear<slicedBack>("aten::slice_backward"),
    linear<diagonalBack>("aten::diagonal_backward"),
    linear<unfoldedBack>("aten::unfold_backward"),
    jointlyLinear<selectScattered>("aten::select_scatter"),
    jointlyLinear<sliceScattered>("aten::slice_scatter"),
    jointlyLinear<diagonalScattered>("aten::diagonal_scatter"),
    jointlyLinear<stridedScattered>("aten::as_strided_scatter"),
};

const OpRegistration moveDerivatives({.facts = moveDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
