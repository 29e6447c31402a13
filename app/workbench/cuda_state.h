// cudaState: what of CUDA this machine has, in one line.
#pragma once

#include <string>

namespace kerf::workbench {

/// "NVRTC 13.0 and a driver: used by the backend cuda", "NVRTC 13.0, no driver: code is shown, not run", or that both are missing.
/// Opens libraries, never the device.
std::string cudaState();

}  // namespace kerf::workbench
