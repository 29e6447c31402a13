// Decompositions of writes at indices and of the backward ops of views.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

/// An index along `dim`, and nothing before it.
std::vector<Formula> along(std::int64_t dim, const Formula& index) {
  std::vector<Formula> indices;
  indices.resize(std::size_t(dim));
  indices.push_back(index);
  return indices;
}

/// Zeros of the size that the op's second argument gives, with the gradient in its place by `scatter`.
Result<Value> scattered(const BoundArguments& args, const OpRunner& run, OpId scatter) {
  Formulas p(args, run);
  std::vector<Formula> values{newZeros(p[0], args.symSizes(1)), p[0]};
  for (std::size_t i = 2; i < args.values.size(); ++i) values.push_back(p[i]);
  return p.done({scatter, std::move(values)});
}
Result<Value> selectBackward(const BoundArguments& args, const OpRunner& run) {
  return scattered(args, run, "aten.select_scatter.default"_op);
}
Result<Value> sliceBackward(const BoundArguments& args, const OpRunner& run) {
  return scattered(args, run, "aten.slice_scatter.default"_op);
}
Result<Value> diagonalBackward(const BoundArguments& args, const OpRunner& run) {
  return scattered(args, run, "aten.diagonal_scatter.default"_op);
}

/// select_scatter(self, src, dim, index): src where a count along `dim` is the index.
Result<Value> selectScatter(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  SymInt index = args.symInteger(3);
  if (guardOrFalse(index < 0)) index = index + self.symSize(dim);
  SymSizes shape(self.symSizes().size(), 1);
  shape[std::size_t(dim)] = -1;
  Formulas p(args, run);
  const Formula mask = p(equals(view(arange(self.symSize(dim), DType::Int64, self.device()), shape), index));
  const Formula source = p(expand(unsqueeze(p[1], dim), self.symSizes()));
  return p.done(where(mask, source, p[0]));
}

/// One-dimensional forms of a tensor and an index that have no dimensions.
Formula atLeastOne(const Formula& a) { return a.dim() == 0 ? unsqueeze(a, 0) : a; }

Result<Value> indexSelect(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  Formulas p(args, run);
  const Formula where = p(atLeastOne(p[2]));
  if (self.dim() > 0) return p.done(index(p[0], along(dim, where)));
  const Formula empty = p({"aten.empty_like.default"_op, {p[0]}});
  return p.done({"aten.index_copy.default"_op, {empty, 0, where, {"aten.expand_as.default"_op, {p[0], where}}}});
}
/// Puts values at an index along a dimension; of a tensor without dimensions at its one element.
Result<Value> putAlong(const BoundArguments& args, const OpRunner& run, bool adds, const Formula& values) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  Formulas p(args, run);
  const Formula target = p(atLeastOne(p[0]));
  const Formula put = p(indexPut(target, along(dim, p(atLeastOne(p[2]))), values, adds));
  return p.done(self.dim() == 0 ? squeeze(put, 0) : contiguous(put));
}
Result<Value> indexCopy(const BoundArguments& args, const OpRunner& run) {
  return putAlong(args, run, false, args.values[3]);
}
/// index_add(self, dim, index, source, *, alpha)
Result<Value> indexAdd(const BoundArguments& args, const OpRunner& run) {
  const Formula source = args.values[3];
  return putAlong(args, run, true, args.number(4) == 1 ? source : source * args.values[4]);
}
bool isNotBFloat16(const BoundArguments& args) { return args.tensor(0).dtype() != DType::BFloat16; }

/// index_fill(self, dim, index, value): the value of a number or a 0-d tensor.
Result<Value> indexFill(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  Formulas p(args, run);
  const Formula target = p(atLeastOne(p[0]));
  SymSizes shape = target.sizes();
  if (!p.ok()) return p.done(target);
  shape[std::size_t(dim)] = args.tensor(2).symNumel();
  const bool isTensor = args.values[3].isTensor();
  const Formula value = isTensor ? to(p[3], self.dtype()) : scalarTensor(p[3], self.dtype(), self.device());
  const Formula filled = p({"aten.index_copy.default"_op, {target, dim, p[2], expand(value, shape)}});
  return p.done(self.dim() == 0 ? clone(squeeze(filled, 0)) : filled);
}

/// index_reduce(self, dim, index, source, reduce, *, include_self) with "mean": sums over counts.
Result<Value> indexReduceMean(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  const auto adds = [&](const Formula& to, const Formula& what) {
    return Formula("aten.index_add.default"_op, {to, args.values[1], args.values[2], what});
  };
  Formulas p(args, run);
  const Formula ones = p(onesLike(p[3]));
  Formula out = p[0], counts;
  if (args.boolean(5)) {
    counts = p(adds(onesLike(p[0]), ones));
  } else {
    out = p({"aten.index_fill.int_Scalar"_op, {p[0], p[1], p[2], 0}});
    counts = p(adds(zerosLike(p[0]), ones));
    counts = p(maskedFill(counts, counts < 1, 1));
  }
  out = p(adds(out, p[3]));
  if (!isIntegral(self.dtype())) return p.done(out / counts);
  return p.done({"aten.floor_divide.default"_op, {out, counts}});
}
bool takesMeans(const BoundArguments& args) {
  const DType dtype = args.tensor(0).dtype();
  return args.text(4) == "mean" && dtype != DType::Bool && dtype != DType::BFloat16;
}
/// _unsafe_index(self, indices): the index that checks.
Result<Value> unsafeIndex(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.index.Tensor"_op, args.values);
}

Result<Value> unsafeIndexPut(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done({"aten.index_put.default"_op, {p[0], p[1], p[2], p[3]}});
}

Result<Value> take(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(index(p(reshape(p[0], {-1})), {p[1]}));
}
/// put(self, index, source, accumulate)
Result<Value> put(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula flat = p(flatten(p[0]));
  const Formula source = p(reshape(p[2], args.tensor(1).symSizes()));
  return p.done(reshape(indexPut(flat, {p[1]}, source, args.boolean(3)), args.tensor(0).symSizes()));
}

/// roll(self, shifts, dims): one dimension after the other, by an index that runs round.
Result<Value> roll(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  SymSizes shifts = args.symSizes(1);
  Sizes dims = args.sizes(2);
  Formulas p(args, run);
  if (guardOrFalse(self.symNumel() == 0)) return p.done(clone(p[0]));
  const bool flat = dims.empty() && shifts.size() == 1;
  if (flat) dims = {0};
  if (shifts.size() != dims.size() || shifts.empty())
    return mismatch(args, "{} shifts for {} dims", shifts.size(), dims.size());
  Formula x = flat ? p(flatten(p[0])) : p[0];
  for (std::size_t i = 0; i < dims.size() && p.ok(); ++i) {
    KERF_TRY(const std::int64_t dim, wrapDim(args, dims[i], x.dim()));
    if (x.dim() == 0) return mismatch(args, "a tensor without dimensions has nothing to roll along");
    const SymInt size = x.sizes()[std::size_t(dim)];
    const Formula turn = p(arange(size, DType::Int64, self.device()) + floorMod(size - shifts[i], size));
    x = p({"aten.index_select.default"_op, {x, dim, {"aten.fmod.Scalar"_op, {turn, size}}}});
  }
  return p.done(flat ? view(x, self.symSizes()) : x);
}

/// The elements of matrices on and below (above) a diagonal.
template <bool lower>
Result<Value> trilOrTriu(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() < 2) return mismatch(args, "needs at least 2 dimensions, got {}", self.dim());
  const SymInt rows = self.symSizes().end()[-2], columns = self.symSizes().back();
  Formulas p(args, run);
  const Formula across = p(unsqueeze(arange(columns, DType::Int64, self.device()), -2));
  const Formula down = p(unsqueeze(arange(rows, DType::Int64, self.device()), -1));
  const Formula mask = p(lower ? across - down <= p[1] : across - down >= p[1]);
  if (self.dtype() == DType::Bool) return p.done(contiguous({"aten.logical_and.default"_op, {mask, p[0]}}));
  return p.done(contiguous(where(mask, p[0], 0)));
}

/// unfold_backward(grad, input_sizes, dim, size, step): every window's gradient is added where it was taken.
Result<Value> unfoldBackward(const BoundArguments& args, const OpRunner& run) {
  const SymSizes sizes = args.symSizes(1);
  Formulas p(args, run);
  if (sizes.empty()) return p.done({"aten.squeeze_copy.dim"_op, {p[0], 0}});
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), std::int64_t(sizes.size())));
  const Formula count = arange(sizes[std::size_t(dim)], DType::Int32, args.tensor(0).device());
  const Formula taken = p(flatten({"aten.unfold.default"_op, {count, 0, p[3], p[4]}}));
  const Formula moved({"aten.movedim.int"_op, {p[0], -1, dim + 1}});
  const Formula flows = p(flatten(moved, dim, dim + 1));
  const Formula zeros = p(newZeros(flows, sizes));
  return p.done(contiguous({"aten._unsafe_index_put.default"_op, {zeros, listOf(along(dim, taken)), flows, true}}));
}

constexpr OpFacts scatterDecompositionsTable[] = {
    decomposes("aten::select_backward", selectBackward),
    decomposes("aten::slice_backward", sliceBackward),
    decomposes("aten::diagonal_backward", diagonalBackward),
    decomposes("aten::select_scatter", selectScatter),
    decomposes("aten::index_select", indexSelect),
    decomposes("aten::index_copy", indexCopy),
    decomposes("aten::index_add", indexAdd),
    decomposes("aten::index_fill", indexFill),
    decomposes("aten::_unsafe_index", unsafeIndex),
    decomposes("aten::_unsafe_index_put", unsafeIndexPut),
    decomposes("aten::take", take),
    decomposes("aten::put", put),
    decomposes("aten::roll", roll),
    decomposes("aten::tril", trilOrTriu<true>),
    decomposes("aten::triu", trilOrTriu<false>),
    decomposes("aten::unfold_backward", unfoldBackward),
};

constexpr TableProgram inductor[] = {
    {"aten::index_add", indexAdd, isNotBFloat16},
    {"aten::index_reduce", indexReduceMean, takesMeans},
};

const OpRegistration scatterDecompositions({.facts = scatterDecompositionsTable, .programs = inductor});

}  // namespace

}  // namespace kerf::inline ops
