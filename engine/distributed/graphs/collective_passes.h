// Passes over the collectives of a rank's graph: what compilers do to overlap them with other work. Ranks whose graphs
// issue the same collectives do so afterwards too.
#pragma once

#include <span>

#include "engine/ir/graph_module.h"

namespace kerf::inline distributed::inline graphs {

/// Collectives of one kind and group that do not need each other become one call of `maxBytes` at most:
///     g = all_reduce(a); h = all_reduce(b)   →   one = all_reduce(cat(a.flatten(), b.flatten())); g, h = its slices
Result<void> bucketCollectives(GraphModule& module, std::int64_t maxBytes = 200'000'000);
/// Every wait_tensor goes to where its value is first used.
Result<void> sinkWaits(GraphModule& module);
/// Every collective starts as soon as its operands are there, in the same order.
Result<void> raiseCollectives(GraphModule& module);

struct CollectivePass {
  std::string_view name;
  Result<void> (*run)(GraphModule&);
};
std::span<const CollectivePass> collectivePasses();

}  // namespace kerf::inline distributed::inline graphs
