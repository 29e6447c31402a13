// NcclKernels: the collectives of a compiled graph on tensors that lie on the device already, and stay there.
#pragma once

#include "engine/backend/cuda/device_link.h"
#include "engine/distributed/nccl/nccl_link.h"

namespace kerf::inline distributed::inline nccl {

/// Groups are those of the thread's RankKernels; where it has none, nothing is taken.
class NcclKernels : public DeviceRankLink {
 public:
  explicit NcclKernels(NcclLink& link) : m_link(link) {}
  Result<bool> collective(const DeviceCall& call) override;

 private:
  NcclLink& m_link;
};

}  // namespace kerf::inline distributed::inline nccl
