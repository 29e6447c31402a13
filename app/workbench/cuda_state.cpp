#include "app/workbench/cuda_state.h"

#include <fmt/format.h>

#include "engine/backend/cuda/driver.h"
#include "engine/codegen_cuda/nvrtc.h"

namespace kerf::workbench {

std::string cudaState() {
  const auto compiler = nvrtcVersion();
  const bool hasDriver = CudaDriver::installed().has_value();
  if (compiler && hasDriver) return fmt::format("NVRTC {} and a driver: used by the backend cuda", *compiler);
  if (compiler) return fmt::format("NVRTC {}, no driver: code is shown, not run", *compiler);
  return hasDriver ? "a driver, no NVRTC: not used" : "not found: not used";
}

}  // namespace kerf::workbench
