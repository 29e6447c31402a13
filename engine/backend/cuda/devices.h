// Devices of this process: how many there are, and which one a thread works with.
#pragma once

#include "engine/backend/cuda/driver.h"

namespace kerf::inline backend {

/// How many devices the process sees; never asked before a fork. Environment where there is no driver.
Result<int> cudaDevices();

/// "sm_90": of the thread's device, without opening it. Environment where there is none.
Result<std::string> deviceArchitecture();

/// The device that CudaDriver::get() gives this thread, for a scope: ranks of one process have one each. The first one
/// where nothing is chosen.
class DeviceChoice {
 public:
  explicit DeviceChoice(int number);
  ~DeviceChoice();
  static int current();
  DeviceChoice(const DeviceChoice&) = delete;
  DeviceChoice& operator=(const DeviceChoice&) = delete;

 private:
  int m_before;
};

/// Functions of libcuda for what is asked without waiting, declared after its documentation.
struct EventFunctions {
  int (*query)(void* event) = nullptr;  ///< 0: what came before the event has been done; 600 (CUDA_ERROR_NOT_READY)
  int (*destroy)(void* event) = nullptr;
};
/// Environment where there is no driver, or one that lacks them.
Result<EventFunctions> eventFunctions();

}  // namespace kerf::inline backend
