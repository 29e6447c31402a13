// m of rule 5b: how much worse than the reference a result may be (formats A.4).
#include <algorithm>

#include "engine/accuracy/same_two_models.h"

namespace kerf::inline accuracy {

namespace {

double multiplierOf(const TensorMeta& meta, const SameOptions& options) {
  const auto sizes = meta.concreteSizes();
  if (!sizes) return 0;
  std::int64_t numel = 1;
  for (const std::int64_t size : *sizes) numel *= size;
  const bool isPixel = sizes->size() == 4 && (*sizes)[2] == 1 && (*sizes)[3] == 1;
  return multiplierOf(meta.dtype, numel, isPixel, options);
}

void collectReturned(const Argument& argument, std::vector<NodeId>& nodes) {
  if (const NodeId* id = argument.as<NodeId>()) nodes.push_back(*id);
  if (const ListArgument* list = argument.asList())
    for (const Argument& item : list->items) collectReturned(item, nodes);
}

}  // namespace

/// First match wins.
double multiplierOf(DType result, std::int64_t numel, bool isPixel, const SameOptions& options) {
  const bool larger = options.useLargerMultiplierForSmallerTensor;
  if (options.forceMaxMultiplier) return 10;
  if (larger && numel <= 10) return 10;
  if (larger && numel <= 500) return 8;
  if (numel < 1000 || isPixel || options.tolerance >= 2e-2) return 3;
  return result == DType::Float16 || result == DType::BFloat16 ? 3 : 2;
}

double leastMultiplierOf(const Graph& graph, const SameOptions& options) {
  std::vector<NodeId> returned;
  if (graph.outputNode().valid())
    for (const Argument& argument : graph.node(graph.outputNode()).args()) collectReturned(argument, returned);
  double least = 0;
  for (const NodeId id : returned) {
    const TensorMeta* meta = graph.node(id).meta().value.tensor();
    const double m = meta != nullptr && isFloating(meta->dtype) ? multiplierOf(*meta, options) : 0;
    if (m > 0) least = least == 0 ? m : std::min(least, m);
  }
  return least;
}

}  // namespace kerf::inline accuracy
