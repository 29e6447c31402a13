// The collectives of torch.distributed on tensors, over any Communicator.
#pragma once

#include "engine/distributed/group/communicator.h"

namespace kerf::inline distributed::inline group {

/// Element by element over `tensors`: sum, avg, product, min, max, band, bor, bxor. BadInput for other names.
Result<Tensor> reduceTensors(std::string_view op, const std::vector<Tensor>& tensors);

Result<Tensor> allReduce(Communicator& ranks, const Group& group, const Tensor& tensor, std::string_view op);
/// Joined along dimension `dim`, in the order of the group; sizes along it may differ.
Result<Tensor> allGather(Communicator& ranks, const Group& group, const Tensor& tensor, std::int64_t dim = 0);
/// Reduced, then this rank's part of dimension `dim`, split as torch.chunk does.
Result<Tensor> reduceScatter(Communicator& ranks, const Group& group, const Tensor& tensor, std::string_view op,
                             std::int64_t dim = 0);
/// Rows of dimension 0: `sent[i]` of them go to member i, `received[i]` come from it; both empty: equal parts.
/// BadInput where the sizes of two members do not fit.
Result<Tensor> allToAll(Communicator& ranks, const Group& group, const Tensor& tensor, const Sizes& received,
                        const Sizes& sent);
/// From sharded along `from` to sharded along `to`, of `size` elements in all along `from`.
Result<Tensor> exchangeShards(Communicator& ranks, const Group& group, const Tensor& tensor, std::int64_t from,
                              std::int64_t to);
Result<Tensor> broadcast(Communicator& ranks, const Group& group, const Tensor& tensor, int source);
/// Each member i sends to member `to[i]`; a member that nobody sends to gets zeros.
Result<Tensor> permute(Communicator& ranks, const Group& group, const Tensor& tensor, const std::vector<int>& to);
/// One JSON text (any text) of each member, by group rank.
Result<std::vector<std::string>> allGatherObject(Communicator& ranks, const Group& group, const std::string& json);
Result<void> barrier(Communicator& ranks, const Group& group);

/// What members must agree on.
CollectiveCall allReduceCall(const Tensor& tensor, std::string_view op);
CollectiveCall allGatherCall(const Tensor& tensor, std::int64_t dim);
CollectiveCall reduceScatterCall(const Tensor& tensor, std::string_view op);
CollectiveCall allToAllCall(const Tensor& tensor);
CollectiveCall broadcastCall(const Tensor& tensor, int source);

/// Part `index` of `count` along `dim`, as torch.chunk splits; may be empty.
Result<Tensor> chunkOf(const Tensor& tensor, std::int64_t dim, std::int64_t count, std::int64_t index);
/// "float32 [4, 3]".
std::string describe(const Tensor& tensor);

}  // namespace kerf::inline distributed::inline group
