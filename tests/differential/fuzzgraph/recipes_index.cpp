// Arguments of ops that move elements: indices in range, sizes that hold as many elements.
#include <algorithm>

#include "tests/differential/fuzzgraph/op_nature.h"
#include "tests/differential/fuzzgraph/recipes.h"

namespace kerf::fuzzgraph {
namespace {

const Sizes& sizesOf(const Operand& operand) { return operand.value.tensor().sizes(); }

/// Any tensor of the graph with dimensions and elements.
Operand source(CallDraft& draft, std::int64_t leastRank = 1) {
  auto known = draft.existing([&](const Tensor& t) { return t.dim() >= leastRank && t.numel() > 0; });
  if (known) return *known;
  return draft.build.fresh(draft.build.randomDType(), {3, 4, 2}, {});
}

std::int64_t setDim(CallDraft& draft, const Operand& tensor) {
  const std::int64_t rank = tensor.value.tensor().dim();
  const std::int64_t dim = draft.dice.between(0, rank - 1);
  draft.set("dim", Value(draft.dice.chance(25) ? dim - rank : dim));
  return dim;
}

Operand alike(CallDraft& draft, const Operand& tensor, const Sizes& sizes) {
  const DType dtype = tensor.value.tensor().dtype();
  auto known = draft.existing([&](const Tensor& t) { return t.dtype() == dtype && t.sizes() == sizes; });
  if (known && draft.dice.chance(50)) return *known;
  return draft.build.fresh(dtype, sizes, {-2, 2});
}

/// gather, scatter…: an index of the tensor's rank that stays inside of it.
bool elementwiseIndex(CallDraft& draft) {
  const Operand self = source(draft);
  draft.set("self", self);
  const std::int64_t dim = setDim(draft, self);
  Sizes sizes = sizesOf(self);
  for (std::int64_t& size : sizes) size = draft.dice.chance(60) ? size : draft.dice.between(1, size);
  const bool gathers = plainName(draft.op()) == "gather" || plainName(draft.op()) == "take_along_dim";
  if (gathers) sizes[std::size_t(dim)] = draft.dice.between(1, 5);
  draft.set(draft.has("indices") ? "indices" : "index", draft.indices(sizes, sizesOf(self)[std::size_t(dim)]));
  if (!draft.has("src")) return true;
  for (std::size_t d = 0; d < sizes.size(); ++d) sizes[d] += draft.dice.chance(15) ? 1 : 0;
  draft.set("src", alike(draft, self, sizes));
  return true;
}

/// index_select, index_add, …: a line of indices along one dimension.
bool lineIndex(CallDraft& draft) {
  const Operand self = source(draft);
  draft.set("self", self);
  const std::int64_t dim = setDim(draft, self);
  const std::int64_t extent = sizesOf(self)[std::size_t(dim)];
  const bool copies = plainName(draft.op()) == "index_copy";  // whose result is not defined for equal indices
  std::int64_t count = draft.dice.between(1, copies ? 1 : 4);
  draft.set("index", draft.indices({count}, extent));
  Sizes sizes = sizesOf(self);
  sizes[std::size_t(dim)] = count;
  if (draft.has("source")) draft.set("source", alike(draft, self, sizes));
  return true;
}

/// index.Tensor, index_put: indices for some of the dimensions, in any places.
bool manyIndices(CallDraft& draft) {
  const Operand self = source(draft);
  const Sizes& sizes = sizesOf(self);
  const Sizes shape = draft.dice.chance(60) ? Sizes{draft.dice.between(1, 4)} : Sizes{2, draft.dice.between(1, 3)};
  ArgumentList items;
  ValueList values;
  bool any = false;
  for (std::size_t d = 0; d < sizes.size() && (d == 0 || draft.dice.chance(70)); ++d) {
    Operand item;
    if (draft.dice.chance(65)) item = draft.indices(draft.dice.chance(20) ? Sizes{1} : shape, sizes[d]);
    any = any || !item.value.isNone();
    items.push_back(item.argument);
    values.push_back(item.value);
  }
  if (!any) return false;
  draft.set("self", self);
  draft.set("indices", Operand{Argument::list(items), Value(values)});
  if (draft.has("mask")) draft.set("mask", draft.bools(shape));
  if (!draft.has("values")) return true;
  const bool accumulates = draft.dice.chance(40);
  if (draft.has("accumulate")) draft.set("accumulate", Value(accumulates));
  const auto picked = shapeOf("torch.ops.aten.index.Tensor", {self.value, Value(values)});
  if (!picked) return false;
  // Of equal indices without accumulation any may win: all write one number.
  draft.set("values", alike(draft, self, accumulates ? picked->tensor().sizes() : Sizes{}));
  return true;
}

/// A list of sizes with as many elements.
Sizes reshaped(CallDraft& draft, std::int64_t count) {
  Sizes sizes;
  while (count > 1 && sizes.size() < 4) {
    std::vector<std::int64_t> factors;
    for (std::int64_t f = 1; f <= count; ++f)
      if (count % f == 0) factors.push_back(f);
    sizes.push_back(draft.dice.pick(factors));
    count /= sizes.back();
  }
  if (count > 1 || sizes.empty()) sizes.push_back(count);
  return sizes;
}

bool reshape(CallDraft& draft) {
  const bool dense = plainName(draft.op()) != "reshape";
  auto self = draft.existing([&](const Tensor& t) { return t.numel() > 0 && (!dense || t.isContiguous()); });
  if (!self) return false;
  draft.set("self", *self);
  const Sizes& old = sizesOf(*self);
  Sizes sizes = reshaped(draft, self->value.tensor().numel());
  if (old.size() > 1 && (draft.build.theme.symbolic || draft.dice.chance(50))) {  // two dimensions become one
    sizes.assign(old.begin() + 1, old.end());
    sizes[0] *= old[0];
  }
  if (draft.dice.chance(25)) sizes[draft.dice.below(sizes.size())] = -1;
  const std::string_view name = draft.has("size") ? "size" : "shape";
  if (!draft.has(name)) return true;
  draft.setSymSizes(name, sizes);
  return true;
}

bool expand(CallDraft& draft) {
  const Operand self = source(draft, 0);
  Sizes sizes = sizesOf(self);
  for (std::int64_t& size : sizes)
    if (size == 1 && draft.dice.chance(70)) size = draft.dice.between(1, 4);
  if (draft.dice.chance(40)) sizes.insert(sizes.begin(), draft.dice.between(1, 3));
  draft.set("self", self);
  draft.setSymSizes("size", sizes);
  return true;
}

bool narrow(CallDraft& draft) {
  const Operand self = source(draft);
  draft.set("self", self);
  const std::int64_t extent = sizesOf(self)[std::size_t(setDim(draft, self))];
  const std::int64_t start = draft.dice.between(0, extent - 1);
  draft.set("start", Value(start));
  draft.set("length", Value(draft.dice.between(0, extent - start)));
  return true;
}

bool splitSizes(CallDraft& draft) {
  const Operand self = source(draft);
  draft.set("self", self);
  std::int64_t rest = sizesOf(self)[std::size_t(setDim(draft, self))];
  Sizes parts;
  while (rest > 0 && parts.size() < 3) {
    parts.push_back(draft.dice.between(1, rest));
    rest -= parts.back();
  }
  if (rest > 0) parts.push_back(rest);
  draft.setSizes(draft.has("split_sizes") ? "split_sizes" : "split_size", parts);
  return true;
}

bool strided(CallDraft& draft) {
  auto self = draft.existing([](const Tensor& t) { return t.numel() > 3 && t.isContiguous() && t.offset() == 0; });
  if (!self) return false;
  const std::int64_t count = self->value.tensor().numel();
  const std::int64_t rows = draft.dice.between(1, 2), step = draft.dice.between(1, count / 2);
  const std::int64_t columns = draft.dice.between(1, std::max<std::int64_t>(1, count - (rows - 1) * step));
  draft.set("self", *self);
  draft.setSizes("size", {rows, columns});
  draft.setSizes("stride", {step, 1});
  draft.set("storage_offset", draft.dice.chance(50) ? Operand{} : CallDraft::constant(Value(std::int64_t{0})));
  if (draft.has("src")) {
    if (rows > 1 && columns > step) return false;  // elements that are written twice
    draft.set("src", alike(draft, *self, {rows, columns}));
  }
  return true;
}

/// slice_scatter, select_scatter, diagonal_scatter: a source of the view's sizes.
bool viewScatter(CallDraft& draft) {
  const std::string name = plainName(draft.op());
  const Operand self = source(draft, name == "diagonal_scatter" ? 2 : 1);
  draft.set("self", self);
  std::optional<Value> view;
  if (name == "diagonal_scatter") {
    view = shapeOf("torch.ops.aten.diagonal.default", {self.value});
  } else {
    const std::int64_t dim = setDim(draft, self);
    const std::int64_t extent = sizesOf(self)[std::size_t(dim)], at = draft.dice.between(0, extent - 1);
    if (name == "select_scatter") {
      draft.set("index", Value(at));
      view = shapeOf("torch.ops.aten.select.int", {self.value, Value(dim), Value(at)});
    } else {
      draft.set("start", Value(at));
      draft.set("end", Value(extent));
      const std::int64_t step = draft.dice.between(1, 2);
      draft.set("step", Value(step));
      view = shapeOf("torch.ops.aten.slice.Tensor", {self.value, Value(dim), Value(at), Value(extent), Value(step)});
    }
  }
  if (!view || (name == "diagonal_scatter" && (draft.set("offset", Value(std::int64_t{0})), false))) return false;
  if (name == "diagonal_scatter") {
    draft.set("dim1", Value(std::int64_t{0}));
    draft.set("dim2", Value(std::int64_t{1}));
  }
  draft.set("src", alike(draft, self, view->tensor().sizes()));
  return true;
}

bool unflatten(CallDraft& draft) {
  const Operand self = source(draft);
  draft.set("self", self);
  const std::int64_t extent = sizesOf(self)[std::size_t(setDim(draft, self))];
  draft.setSizes("sizes", reshaped(draft, extent));
  return true;
}

bool repeats(CallDraft& draft) {
  const Operand self = source(draft, 0);
  Sizes counts(std::size_t(self.value.tensor().dim()) + (draft.dice.chance(30) ? 1 : 0));
  for (std::int64_t& count : counts) count = draft.dice.between(1, 2);
  draft.set("self", self);
  draft.setSizes(draft.has("repeats") ? "repeats" : "dims", counts);
  return true;
}

bool unfold(CallDraft& draft) {
  const Operand self = source(draft);
  draft.set("self", self);
  const std::int64_t dim = draft.dice.between(0, self.value.tensor().dim() - 1);
  draft.set("dimension", Value(dim));
  draft.set("size", Value(draft.dice.between(1, sizesOf(self)[std::size_t(dim)])));
  draft.set("step", Value(draft.dice.between(1, 2)));
  return true;
}

/// put, take: flat indices.
bool flatIndex(CallDraft& draft) {
  const Operand self = source(draft);
  const Sizes sizes{draft.dice.between(1, 4)};
  draft.set("self", self);
  draft.set("index", draft.indices(sizes, self.value.tensor().numel()));
  if (draft.has("source")) draft.set("source", alike(draft, self, sizes));
  if (draft.has("accumulate")) draft.set("accumulate", Value(true));
  return true;
}

bool oneHot(CallDraft& draft) {
  draft.set("self", draft.indices(draft.dice.chance(50) ? Sizes{4} : Sizes{2, 3}, 5));
  draft.set("num_classes", Value(std::int64_t{5}));
  return true;
}

bool maskedSource(CallDraft& draft) {
  const Operand self = source(draft);
  draft.set("self", self);
  draft.set("mask", draft.bools(sizesOf(self)));
  draft.set("source", alike(draft, self, sizesOf(self)));
  return true;
}

constexpr RecipeRow rows[] = {
    {"gather take_along_dim scatter scatter_add scatter_reduce", elementwiseIndex},
    {"index_select index_add index_copy index_fill index_reduce", lineIndex},
    {"index index_put _unsafe_index _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate",
     manyIndices},
    {"view view_copy reshape _unsafe_view", reshape},
    {"expand expand_copy broadcast_to", expand},
    {"narrow narrow_copy", narrow},
    {"split_with_sizes split_with_sizes_copy unsafe_split_with_sizes", splitSizes},
    {"as_strided as_strided_copy as_strided_scatter", strided},
    {"slice_scatter select_scatter diagonal_scatter", viewScatter},
    {"unflatten", unflatten},
    {"repeat tile", repeats},
    {"unfold unfold_copy", unfold},
    {"put take", flatIndex},
    {"one_hot", oneHot},
    {"masked_scatter", maskedSource},
};

}  // namespace

std::span<const RecipeRow> indexRecipes() { return rows; }

}  // namespace kerf::fuzzgraph
