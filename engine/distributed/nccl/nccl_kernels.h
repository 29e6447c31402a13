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

  /// Collectives of graphs so far that NCCL took where they lay on the device, and that went over the host.
  int onDevice() const { return m_onDevice; }
  int overHost() const { return m_overHost; }

 private:
  Result<bool> take(const DeviceCall& call, std::string_view name);
  NcclLink& m_link;
  int m_onDevice = 0, m_overHost = 0;
};

}  // namespace kerf::inline distributed::inline nccl
