// Gradients of views. All are linear.
#include <algorithm>
#include <limits>

#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

void same(Backward& b) { b.give(0, b.grad()); }

void reshaped(Backward& b) { b.give(0, reshape(b.grad(), b.sizes())); }
/// A tangent need not be laid out as its tensor, so that the view may be a copy.
std::vector<Formula> reshapedTangent(Forward& f) { return {reshape(f.tangent(), f.call.result().symSizes())}; }

void permuted(Backward& b) {
  const Sizes order = b.args.sizes(1);
  Sizes inverse(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    const std::int64_t at = order[d] < 0 ? order[d] + std::int64_t(order.size()) : order[d];
    inverse[std::size_t(at)] = std::int64_t(d);
  }
  b.give(0, permute(b.grad(), inverse));
}
void transposed(Backward& b) { b.give(0, {"aten.transpose.int"_op, {b.grad(), b[1], b[2]}}); }
void matrixTransposed(Backward& b) { b.give(0, {"aten.t.default"_op, {b.grad()}}); }
void unsqueezed(Backward& b) { b.give(0, {"aten.squeeze.dim"_op, {b.grad(), b[1]}}); }

/// Every squeeze: the dimensions of one that went are put back.
void squeezed(Backward& b) {
  const std::int64_t rank = b.dims(), gone = rank - b.call.result().dim();
  Sizes candidates;
  if (b.args.values.size() > 1) candidates = b.args.values[1].isList() ? b.args.sizes(1) : Sizes{b.args.integer(1)};
  for (std::int64_t& dim : candidates) dim = dim < 0 ? dim + rank : dim;
  Formula grad = b.grad();
  for (std::int64_t d = 0; d < rank && gone > 0; ++d) {
    const bool listed = b.args.values.size() == 1 || std::ranges::find(candidates, d) != candidates.end();
    if (listed && guardOrFalse(b.sizes()[std::size_t(d)] == 1)) grad = unsqueeze(grad, d);
  }
  b.give(0, grad);
}

constexpr std::int64_t toTheEnd = std::numeric_limits<std::int64_t>::max();

void sliced(Backward& b) {
  const SymInt start = b.args.symIntegerIf(2).value_or(0), end = b.args.symIntegerIf(3).value_or(toTheEnd);
  b.give(0, {"aten.slice_backward.default"_op, {b.grad(), intList(b.sizes()), b[1], start, end, b[4]}});
}
/// narrow(self, dim, start, length)
void narrowed(Backward& b) {
  const SymInt start = b.args.symInteger(2), length = b.args.symInteger(3);
  const SymInt first = guardOrFalse(start < 0) ? start + b.sizes()[std::size_t(b.dim(1))] : start;
  b.give(0, {"aten.slice_backward.default"_op, {b.grad(), intList(b.sizes()), b[1], first, first + length, 1}});
}
void selected(Backward& b) {
  b.give(0, {"aten.select_backward.default"_op, {b.grad(), intList(b.sizes()), b[1], b[2]}});
}
void diagonal(Backward& b) {
  b.give(0, {"aten.diagonal_backward.default"_op, {b.grad(), intList(b.sizes()), b[1], b[2], b[3]}});
}
void unfolded(Backward& b) {
  b.give(0, {"aten.unfold_backward.default"_op, {b.grad(), intList(b.sizes()), b[1], b[2], b[3]}});
}

/// split, chunk: the pieces side by side along the dimension that argument 2 gives.
void split(Backward& b) { b.give(0, cat(b.listedGrads(), b.dim(2))); }
void unbound(Backward& b) { b.give(0, {"aten.stack.default"_op, {listOf(b.listedGrads()), b.dim(1)}}); }

// as_strided: through a tensor that holds the memory of both

struct Geometry {
  SymSizes sizes;
  SymSizes strides;
  SymInt offset = 0;

  SymInt extent() const {
    SymInt last = offset;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (guardOrFalse(sizes[d] == 0)) return 0;
      last += (sizes[d] - 1) * strides[d];
    }
    return last + 1;
  }
  /// Whether two elements may share memory: some dimension steps over less than those with smaller strides cover.
  bool mayOverlap() const {
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (!guardOrFalse(sizes[d] == 1)) order.push_back(d);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return guardOrFalse(strides[a] < strides[b]); });
    SymInt covered = 1;
    for (const std::size_t d : order) {
      if (guardOrTrue(strides[d] < covered)) return true;
      covered += (sizes[d] - 1) * strides[d];
    }
    return false;
  }
  Formula of(const Formula& memory) const {
    return {"aten.as_strided.default"_op, {memory, intList(sizes), intList(strides), offset}};
  }
};

/// The positions in memory of each element, as a list.
Formula positions(const Geometry& view, SymInt extent, const Formula& like) {
  const Formula all = arange(extent, DType::Int64, like.tensor().device());
  return reshape(view.of(all), SymSizes{-1});
}

/// `grad` at its places in memory, added up where they are the same.
Formula placed(const Formula& grad, const Geometry& view, SymInt extent) {
  const Formula memory = newZeros(grad, SymSizes{extent});
  if (view.mayOverlap())
    return {"aten.index_add.default"_op, {memory, 0, positions(view, extent, grad), reshape(grad, SymSizes{-1})}};
  const Formula written("aten.copy.default"_op, {view.of(memory), grad});
  return {"aten.as_strided_scatter.default"_op,
          {memory, written, intList(view.sizes), intList(view.strides), view.offset}};
}

/// An input element that others share memory with has its part of what flows there.
Formula shared(Backward& b, const Formula& memory, const Geometry& input, SymInt extent) {
  if (!input.mayOverlap()) return memory;
  const Formula ones = b(onesLike(b[0]));
  const Formula count("aten.index_add.default"_op, {newZeros(ones, SymSizes{extent}), 0, positions(input, extent, ones),
                                                    reshape(ones, SymSizes{-1})});
  return memory / count;
}

void strided(Backward& b) {
  const Tensor& self = b.args.tensor(0);
  Geometry input{self.symSizes(), self.symStrides(), self.symOffset()};
  Geometry output{b.args.symSizes(1), b.args.symSizes(2), b.args.symIntegerIf(3).value_or(self.symOffset())};
  const SymInt first = symMin(input.offset, output.offset);
  input.offset -= first;
  output.offset -= first;
  const SymInt extent = symMax(input.extent(), output.extent());
  b.give(0, input.of(shared(b, placed(b.grad(), output, extent), input, extent)));
}
/// By the tensor's own layout, which the tangent may lack.
std::vector<Formula> stridedTangent(Forward& f) {
  const Tensor& self = f.args.tensor(0);
  const SymInt offset = f.args.symIntegerIf(3).value_or(self.symOffset()) - self.symOffset();
  const Geometry input{self.symSizes(), self.symStrides(), 0};
  const Geometry output{f.args.symSizes(1), f.args.symSizes(2), offset};
  const Formula memory = placed(f.tangent(), input, symMax(input.extent(), output.extent()));
  return {output.of(memory)};
}

constexpr OpFacts viewDerivativesTable[] = {
    linear<same>("aten::alias"),
    linear<same>("aten::lift"),
    linear<same>("aten::lift_fresh"),
    linear<same>("aten::positive"),
    notDifferentiable("aten::detach"),
    notDifferentiable("aten::view.dtype"),
    differentiable<reshaped, reshapedTangent>("aten::view"),
    differentiable<reshaped, reshapedTangent>("aten::_unsafe_view"),
    differentiable<reshaped, reshapedTangent>("aten::reshape"),
    linear<permuted>("aten::permute"),
    linear<transposed>("aten::transpose.int"),
    linear<matrixTransposed>("aten::t"),
    linear<same>("aten::expand"),
    linear<unsqueezed>("aten::unsqueeze"),
    linear<squeezed>("aten::squeeze"),
    linear<sliced>("aten::slice.Tensor"),
    linear<narrowed>("aten::narrow"),
    linear<selected>("aten::select.int"),
    linear<diagonal>("aten::diagonal"),
    linear<unfolded>("aten::unfold"),
    linear<split>("aten::split.Tensor"),
    linear<split>("aten::split_with_sizes"),
    linear<split>("aten::unsafe_split.Tensor"),
    linear<split>("aten::unsafe_split_with_sizes"),
    linear<split>("aten::chunk"),
    linear<unbound>("aten::unbind.int"),
    differentiable<strided, stridedTangent>("aten::as_strided"),
    withoutDerivative("aten::resize_"),
    withoutDerivative("aten::resize_as_"),
};

const OpRegistration viewDerivatives({.facts = viewDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
