#include "engine/distributed/nccl/nccl_ranks.h"

#include "engine/distributed/nccl/nccl_communicator.h"
#include "engine/distributed/nccl/nccl_kernels.h"
#include "engine/support/log.h"

namespace kerf::inline distributed::inline nccl {

Result<void> canRunNccl(int ranks) {
  KERF_CHECK(installedNccl());
  KERF_TRY(const int devices, cudaDevices());
  if (devices >= ranks) return {};
  return fail(ErrorCode::Environment, "{} ranks over NCCL need {} CUDA devices, this machine has {}", ranks, ranks,
              devices);
}

Result<void> runRankOverNccl(Communicator& control, int device, const RankBody& body,
                             std::chrono::milliseconds timeout) {
  const DeviceChoice choice(device);
  KERF_TRY(const NcclDevice own, NcclDevice::get());
  return runRankOverNccl(control, own, body, timeout);
}

Result<void> runRankOverNccl(Communicator& control, const NcclDevice& device, const RankBody& body,
                             std::chrono::milliseconds timeout) {
  NcclLink link(control, device, timeout);
  NcclCommunicator ranks(link);
  NcclKernels kernels(link);
  const DeviceRankLink::Scope scope(kernels);
  auto done = body(ranks);
  if (done) done = link.finish();
  if (!done) link.abandon();
  if (kernels.onDevice() + kernels.overHost() > 0)
    logAt(LogCategory::Run, LogLevel::Info, "rank {}: {} collectives of graphs on the device, {} over the host",
          link.rank(), kernels.onDevice(), kernels.overHost());
  return done;
}

std::vector<Result<void>> runRanksOverNccl(int ranks, const RankBody& body, const InProcessOptions& options) {
  if (const auto can = canRunNccl(ranks); !can) return std::vector<Result<void>>(std::size_t(ranks), can);
  return runRanks(
      ranks, [&](Communicator& control) { return runRankOverNccl(control, control.rank(), body, options.timeout); },
      options);
}

}  // namespace kerf::inline distributed::inline nccl
