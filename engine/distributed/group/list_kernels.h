// Collectives whose tensors stand in lists: one for each member of the group.
#pragma once

#include <string_view>

#include "engine/distributed/group/rank_kernels.h"

namespace kerf::inline distributed::inline group {

/// One collective of one rank.
struct RankCall : CollectiveArguments {
  Communicator& ranks;
  const Group& group;
};

/// Into a tensor that the caller gave. ShapeMismatch where it has another number of elements.
Result<void> writeInto(const Tensor& to, const Tensor& from);

using ListKernel = Result<void> (*)(const RankCall&);
/// c10d.allgather_, allgather_coalesced_, reduce_scatter_, gather_, scatter_ and alltoall_, by their names without the
/// namespace, which write into their first argument. Null for others.
ListKernel findListKernel(std::string_view name);

}  // namespace kerf::inline distributed::inline group
