// What this machine's CUDA device can do at best, for shares of its roofline.
#pragma once

#include "engine/support/result.h"

namespace kerf::inline backend {

struct DeviceRates {
  double copy = 0;     ///< bytes read and written a second by a copy beyond the caches
  double product = 0;  ///< operations a second of a product of float32 matrices; 0 without cuBLAS
};
/// Environment where there is no device.
Result<DeviceRates> measuredDeviceRates();

}  // namespace kerf::inline backend
