// Reads by tensors of indices as loops.
//
//   before: embedding = aten.embedding(weight: [1000, 64], indices: [16])
//   after:  for i0 < 16: for i1 < 64: embedding[64*i0 + i1] = weight[64*indices[i0] + i1]
#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/index/writing.h"
#include "engine/ops/kernels/indexing.h"

namespace kerf::inline ops {
namespace {

using Call = const ElementCall&;

std::size_t wrapped(std::int64_t dim, std::size_t rank) {
  return std::size_t(dim < 0 ? dim + std::int64_t(rank) : dim);
}

bool isIndex(const Tensor& tensor) { return isIndexType(tensor.dtype()); }

// --- one index for whole rows

int embedding(Call c) {
  const SymSizes& sizes = c.bound.tensor(0).symSizes();
  const IndexMap at(c.map.begin(), c.map.end() - 1);
  const Place places[] = {{{}, c.operands.index(1, 0, at, {sizes[0], 0})}, {c.map.back()}};
  return c.operands.at(0, 0, places);
}

bool coversEmbedding(const BoundArguments& bound) { return bound.tensor(0).dim() == 2 && isIndex(bound.tensor(1)); }

int indexSelect(Call c) {
  const std::size_t dim = wrapped(c.bound.integer(1), c.map.size());
  const IndexMap at = c.bound.tensor(2).dim() == 0 ? IndexMap{} : IndexMap{c.map[dim]};
  std::vector<Place> places = affinePlaces(c.map);
  const SymInt size = c.bound.tensor(0).symSizes()[dim];
  places[dim] = {{}, c.operands.index(2, 0, at, {size, std::int64_t(dim)})};
  return c.operands.at(0, 0, places);
}

bool coversIndexSelect(const BoundArguments& bound) { return bound.tensor(0).dim() > 0 && isIndex(bound.tensor(2)); }

// --- an index for each element

int gather(Call c) {
  const std::size_t dim = wrapped(c.bound.integer(1), c.map.size());
  std::vector<Place> places = affinePlaces(c.map);
  const SymInt size = c.bound.tensor(0).symSizes()[dim];
  places[dim] = {{}, c.operands.index(2, 0, c.map, {size, std::int64_t(dim)})};
  return c.operands.at(0, 0, places);
}

bool coversGather(const BoundArguments& bound) {
  return bound.tensor(0).dim() > 0 && bound.tensor(2).dim() == bound.tensor(0).dim() && isIndex(bound.tensor(2));
}

// --- x[i, :, j]

/// Masks choose a number of elements that only running tells.
bool coversIndex(const BoundArguments& bound) {
  bool any = false;
  for (const Value& index : bound.values[1].list()) {
    if (index.isNone()) continue;
    if (!isIndex(index.tensor())) return false;
    any = true;
  }
  return any;
}

/// Places of an index tensor's element: it broadcasts to the index dimensions of the result.
IndexMap indexMapOf(const Tensor& index, const IndexMap& map, std::size_t firstDim, std::size_t indexDims) {
  IndexMap result;
  const std::size_t skipped = indexDims - index.symSizes().size();
  for (std::size_t d = 0; d < index.symSizes().size(); ++d)
    result.push_back(guardOrFalse(index.symSizes()[d] == 1) ? Affine{} : map[firstDim + skipped + d]);
  return result;
}

int index(Call c) {
  const Tensor& self = c.bound.tensor(0);
  const auto plan = planIndex(c.bound, self, c.bound.values[1]);
  if (!plan) return c.number(0);  // which the shape rule has refused
  const auto first = std::size_t(plan->firstIndexDim), indexDims = plan->indexSizes.size();
  std::vector<Place> places;
  std::size_t next = 0;  // dimension of the result that the next one without an index is
  for (std::size_t d = 0; d < plan->indices.size(); ++d) {
    if (!plan->indices[d]) {
      if (next == first) next += indexDims;
      places.push_back({c.map[next++]});
      continue;
    }
    const IndexMap at = indexMapOf(*plan->indices[d], c.map, first, indexDims);
    places.push_back({{}, c.operands.index(1, d, at, {self.symSizes()[d], std::int64_t(d), true})});
  }
  return c.operands.at(0, 0, places);
}

constexpr OpFacts indexLoweringsRows[] = {
    elementLowering("aten::embedding", embedding, coversEmbedding),
    elementLowering("aten::index_select", indexSelect, coversIndexSelect),
    elementLowering("aten::gather", gather, coversGather),
    elementLowering("aten::index", index, coversIndex),
    elementLowering("aten::_unsafe_index", index, coversIndex),
};

const OpRegistration indexLowerings({.facts = indexLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
