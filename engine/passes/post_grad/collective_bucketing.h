// Collective bucketing: collectives of one kind and group that do not need each other, found and offered to hooks that
// may put each bucket into one call.
//
//     g = all_reduce(a, 'sum', 'dp'); h = all_reduce(b, 'sum', 'dp')      →      the bucket {g, h}
#pragma once

#include <functional>
#include <span>

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Calls in graph order, two or more, that differ in their input only; none is computed from another.
struct CollectiveBucket {
  OpId op;
  std::vector<NodeId> calls;
  std::int64_t bytes = 0;  ///< of the inputs; unknown sizes count nothing
  std::int64_t ranks = 1;  ///< of the group, where the call says so
};

/// Buckets of all_reduce, all_gather_into_tensor and reduce_scatter_tensor, each of at most `maxBytes`, in graph order.
std::vector<CollectiveBucket> collectiveBuckets(const Graph& graph, std::int64_t maxBytes);

/// May put the calls of buckets of one op together. What it leaves is linted as that of any pass.
using BucketingHook = std::function<Result<void>(GraphModule&, std::span<const CollectiveBucket>)>;

/// By op, as Inductor has a switch for each.
struct BucketingHooks {
  BucketingHook allGather = {}, reduceScatter = {}, allReduce = {};
};

/// Asks each hook for which there are buckets. Without hooks, as in the table, nothing changes: a process is the only
/// rank of its groups, and one rank has nothing to send.
Pass collectiveBucketingPass(BucketingHooks hooks);
Pass collectiveBucketingPass();

}  // namespace kerf::inline passes
