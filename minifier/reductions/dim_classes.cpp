// dimClasses(): symbols that guards did not fix are what can be chosen.
#include "minifier/reductions/dim_classes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "engine/ir/value_meta.h"
#include "engine/ops/core/graph_symbols.h"
#include "engine/ops/core/op_registry.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline minifier::inline reductions {

namespace {

struct Place {
  std::size_t input, dim;
  std::string name;
};

/// A dense tensor's strides as products of the sizes; none if it has holes or overlaps.
std::optional<std::vector<Dim>> denseStrides(const Tensor& tensor, const std::vector<Dim>& sizes) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t d) { return std::pair(tensor.strides()[d], -std::int64_t(d)); });
  std::vector<Dim> strides(sizes.size());
  Dim next = dim(1);
  for (const std::size_t d : order) {
    if (tensor.sizes()[d] == 0 || (tensor.sizes()[d] != 1 && tensor.strides()[d] != *next.hint)) return std::nullopt;
    strides[d] = next;
    if (sizes[d].text.empty()) continue;  // 1
    next.text = next.text.empty() ? sizes[d].text : next.text + "*" + sizes[d].text;
    next.hint = *next.hint * *sizes[d].hint;
  }
  return strides;
}

/// Makes the dimensions symbols; their places.
std::vector<Place> symbolise(GraphModule& module, const ValueList& inputs) {
  std::vector<Place> places;
  const std::vector<NodeId> placeholders = module.graph.placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), inputs.size()); ++i) {
    if (!inputs[i].isTensor() || !inputs[i].tensor().defined()) continue;
    const Tensor& tensor = inputs[i].tensor();
    TensorMeta meta = metaOf(tensor);
    for (std::size_t d = 0; d < meta.sizes.size(); ++d) {
      if (tensor.sizes()[d] < 2) continue;
      meta.sizes[d] = Dim{fmt::format("z{}", places.size()), tensor.sizes()[d]};
      places.push_back({i, d, meta.sizes[d].text});
    }
    if (auto strides = denseStrides(tensor, meta.sizes)) meta.strides = std::move(*strides);
    module.graph.setValueMeta(placeholders[i], {std::move(meta)});
  }
  return places;
}

}  // namespace

std::vector<DimClass> dimClasses(const Candidate& candidate) {
  GraphModule module = candidate.module;
  module.symbolRanges.clear();
  const std::vector<Place> places = symbolise(module, candidate.inputs);
  ShapeEnv env;
  addGraphSymbols(module, env);
  (void)propagateShapes(module, env);  // what came before an error is known to be linked
  const ShapeEnv::Scope scope(env);
  std::map<std::string, DimClass> classes;
  for (const Place& place : places) {
    const std::int64_t present = candidate.inputs[place.input].tensor().sizes()[place.dim];
    const auto symbol = env.parse(place.name);
    const std::string size = symbol ? env.text(*symbol) : std::to_string(present);
    std::set<std::string> roots;
    collectSymbols(size, roots);
    const bool isFree = roots.size() == 1;
    DimClass& found = classes[isFree ? *roots.begin() : std::to_string(present)];
    found.symbol = isFree ? *roots.begin() : "";
    found.places.push_back({place.input, place.dim, isFree ? size : ""});
    if (!isFree || size == found.symbol) found.present = present;
  }
  std::vector<DimClass> list;
  for (auto& [name, found] : classes)
    if (found.present > 1) list.push_back(std::move(found));
  std::ranges::sort(list, {},
                    [](const DimClass& dims) { return std::pair(dims.places.front().input, dims.places.front().dim); });
  return list;
}

}  // namespace kerf::inline minifier::inline reductions
