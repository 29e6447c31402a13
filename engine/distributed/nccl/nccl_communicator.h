// NcclCommunicator: the collectives of a rank over NCCL, for tensors of the host: they go to the device and come back.
#pragma once

#include "engine/distributed/nccl/nccl_link.h"

namespace kerf::inline distributed::inline nccl {

class NcclCommunicator : public Communicator, public OwnCollectives {
 public:
  explicit NcclCommunicator(NcclLink& link) : m_link(link) {}

  int rank() const override { return m_link.rank(); }
  int worldSize() const override { return m_link.control().worldSize(); }
  OwnCollectives* own() override { return this; }
  Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) override;
  /// Messages between two ranks go over the communicator on which the ranks meet: NCCL's wait for each other.
  Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) override;
  Result<Tensor> receive(const Group& group, int from, int tag) override;

  Result<std::optional<Tensor>> allReduce(const Group& group, const CollectiveCall& call, const Tensor& tensor,
                                          std::string_view op) override;
  Result<std::optional<Tensor>> reduceScatter(const Group& group, const CollectiveCall& call,
                                              const std::vector<Tensor>& pieces, std::string_view op) override;
  Result<std::vector<Tensor>> exchange(const Group& group, const CollectiveCall& call,
                                       const std::vector<Tensor>& pieces) override;
  Result<Tensor> broadcast(const Group& group, const CollectiveCall& call, const Tensor& tensor, int source) override;

 private:
  class Place;
  NcclLink& m_link;
};

}  // namespace kerf::inline distributed::inline nccl
