// Decompositions of views and joins into the few views that graphs keep (permute, view, slice, squeeze, unsqueeze).
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

Formula alias(const Formula& a) { return {"aten.alias.default"_op, {a}}; }

Result<Value> detachLiftOrLiftFresh(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(alias(p[0]));
}
Result<Value> positiveLiftOrDetach(const BoundArguments& args, const OpRunner&) { return args.values[0]; }
Result<Value> liftFreshCopy(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(clone(p[0]));
}

/// transpose(self, dim0, dim1)
Result<Value> transpose(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::int64_t rank = args.tensor(0).dim();
  KERF_TRY(const std::int64_t a, wrapDim(args, args.integer(1), rank));
  KERF_TRY(const std::int64_t b, wrapDim(args, args.integer(2), rank));
  if (rank <= 1 || a == b) return p.done(alias(p[0]));
  Sizes order;
  for (std::int64_t d = 0; d < rank; ++d) order.push_back(d == a ? b : d == b ? a : d);
  return p.done(permute(p[0], order));
}
Result<Value> tOfMatrix(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::int64_t rank = args.tensor(0).dim();
  if (rank > 2) return mismatch(args, "needs at most 2 dimensions, got {}", rank);
  return p.done({"aten.transpose.int"_op, {p[0], 0, rank < 2 ? 0 : 1}});
}

/// A view where strides allow it, else of a copy.
Result<Value> reshapeProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymSizes sizes, inferSize(args, args.symSizes(1), self.symNumel()));
  if (viewStrides(self, sizes)) return p.done({"aten.view.default"_op, {p[0], p[1]}});
  return p.done({"aten._unsafe_view.default"_op, {clone(p[0], MemoryFormat::Contiguous), p[1]}});
}
Result<Value> unsafeView(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done({"aten.view.default"_op, {p[0], p[1]}});
}

/// squeeze of the dimensions among `dims` that have one element.
Result<Value> squeezed(const BoundArguments& args, const OpRunner& run, const Sizes& dims) {
  Formulas p(args, run);
  Sizes single;
  for (const std::int64_t d : dims)
    if (guardOrFalse(args.tensor(0).symSize(d) == 1)) single.push_back(d);
  return p.done(single.empty() ? alias(p[0]) : squeeze(p[0], single));
}
Result<Value> squeezeAll(const BoundArguments& args, const OpRunner& run) {
  Sizes dims;
  for (std::int64_t d = 0; d < args.tensor(0).dim(); ++d) dims.push_back(d);
  return squeezed(args, run, dims);
}
Result<Value> squeezeDim(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  return squeezed(args, run, args.tensor(0).dim() == 0 ? Sizes{} : Sizes{dim});
}

/// narrow(self, dim, start, length)
Result<Value> narrow(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  SymInt start = args.symInteger(2);
  if (guardOrFalse(start < 0)) start = start + args.tensor(0).symSize(dim);
  return p.done(slice(p[0], args.integer(1), start, start + args.symInteger(3)));
}
/// split(self, size, dim): all pieces but the last have that size.
Result<Value> split(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const SymInt size = args.symInteger(1), whole = self.symSize(dim);
  if (self.dim() == 0 || guardOrFalse(size < 0)) return mismatch(args, "cannot split by {}", size);
  if (guardOrFalse(size == 0)) return ValueList{args.values[0]};
  const std::int64_t count = floorDiv(whole + size - SymInt(1), size);
  SymSizes sizes(std::size_t(std::max<std::int64_t>(count, 1)), size);
  sizes.back() = size - (size * SymInt(std::int64_t(sizes.size())) - whole);
  return run.value("aten.split_with_sizes.default"_op, {args.values[0], intList(sizes), dim});
}
Result<Value> chunk(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  if (self.dim() == 0 || args.integer(1) <= 0) return mismatch(args, "cannot make {} chunks", args.integer(1));
  const SymInt chunks = args.integer(1), whole = self.symSize(dim);
  const SymInt size = floorDiv(whole + chunks - SymInt(1), chunks);
  if (guardOrFalse(size == 0))
    return run.value("aten.split_with_sizes.default"_op,
                     {args.values[0], intList(SymSizes(std::size_t(args.integer(1)), 0)), args.values[2]});
  return run.value("aten.split.Tensor"_op, {args.values[0], size, args.values[2]});
}
template <bool bySizes>
Result<Value> unsafeSplit(const BoundArguments& args, const OpRunner& run) {
  return run.value(bySizes ? "aten.split_with_sizes.default"_op : "aten.split.Tensor"_op, args.values);
}
/// unbind(self, dim): slices of one, squeezed.
Result<Value> unbind(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  if (self.dim() == 0) return mismatch(args, "needs at least 1 dimension");
  const std::int64_t count = self.symSize(dim);
  Formulas p(args, run);
  std::vector<Formula> items;
  for (std::int64_t i = 0; i < count; ++i) items.push_back(p(slice(p[0], dim, i, i + 1)));
  for (Formula& item : items) item = squeeze(item, dim);
  return p.done(items);
}
/// stack(tensors, dim): cat and view; of unsqueezed ones for the last dimension.
Result<Value> stack(const BoundArguments& args, const OpRunner& run) {
  const std::vector<Tensor> tensors = args.tensors(0);
  if (tensors.empty()) return mismatch(args, "needs at least one tensor");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), tensors[0].dim() + 1));
  for (const Tensor& tensor : tensors)
    if (!checkEqual(tensor.symSizes(), tensors[0].symSizes())) return mismatch(args, "tensors differ in their sizes");
  Formulas p(args, run);
  std::vector<Formula> parts(tensors.begin(), tensors.end());
  if (dim == tensors[0].dim()) {
    for (Formula& part : parts) part = p(unsqueeze(part, dim));
    return p.done(cat(parts, dim));
  }
  SymSizes sizes = tensors[0].symSizes();
  sizes.insert(sizes.begin() + dim, SymInt(std::int64_t(tensors.size())));
  return p.done(view(cat(parts, dim), sizes));
}

bool isNothing(const Tensor& tensor, std::int64_t dim) {
  if (tensor.dim() == 1 && guardOrFalse(tensor.symSize(0) == 0)) return true;
  const std::int64_t d = dim < 0 ? dim + tensor.dim() : dim;
  return d >= 0 && d < tensor.dim() && guardOrFalse(tensor.symSize(d) == 0);
}
std::vector<Formula> withElements(const BoundArguments& args) {
  std::vector<Formula> parts;
  for (const Tensor& tensor : args.tensors(0))
    if (!isNothing(tensor, args.integer(1))) parts.emplace_back(tensor);
  return parts;
}
/// cat of one tensor is a copy; those without elements are left out.
Result<Value> catOfParts(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const std::vector<Formula> parts = withElements(args);
  if (parts.size() > 1) return p.done(cat(parts, args.integer(1)));
  const DType dtype = resultType(args.values[0].list());
  return p.done(parts[0].dtype() == dtype ? clone(parts[0]) : to(parts[0], dtype));
}
bool leavesPartsOut(const BoundArguments& args) {
  const std::size_t kept = withElements(args).size();
  return kept == 1 || (kept > 1 && kept < args.tensors(0).size());
}

constexpr OpFacts viewDecompositionsTable[] = {
    decomposes("aten::t", tOfMatrix),
    decomposes("aten::transpose.int", transpose),
    decomposes("aten::reshape", reshapeProgram),
    decomposes("aten::_unsafe_view", unsafeView),
    decomposes("aten::squeeze.", squeezeAll),  // the overload without a name
    decomposes("aten::squeeze.dim", squeezeDim),
    decomposes("aten::narrow", narrow),
    decomposes("aten::split.Tensor", split),
    decomposes("aten::chunk", chunk),
    decomposes("aten::unsafe_split.Tensor", unsafeSplit<false>),
    decomposes("aten::unsafe_split_with_sizes", unsafeSplit<true>),
    decomposes("aten::unbind.int", unbind),
    decomposes("aten::stack", stack),
    decomposes("aten::detach", detachLiftOrLiftFresh),
    decomposes("aten::lift_fresh", detachLiftOrLiftFresh),
    decomposes("aten::lift", detachLiftOrLiftFresh),
    decomposes("aten::lift_fresh_copy", liftFreshCopy),
    decomposes("aten::positive", positiveLiftOrDetach),
};

constexpr TableProgram inductor[] = {
    {"aten::cat", catOfParts, leavesPartsOut},
    {"aten::lift", positiveLiftOrDetach},
    {"aten::detach_", positiveLiftOrDetach, nullptr, DecompositionTable::Core},
};

const OpRegistration viewDecompositions({.facts = viewDecompositionsTable, .programs = inductor});

}  // namespace

}  // namespace kerf::inline ops
