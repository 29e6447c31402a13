// Sorting on the device: a stable radix sort of unsigned keys, 8 bits at a time, that needs nothing of the host.
#pragma once

#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {

/// Keys as they lie on the device.
struct DeviceKeys {
  DeviceAddress keys = 0;   ///< unsigned, `bytes` each: 4 or 8
  DeviceAddress order = 0;  ///< int32: where each of them was before; 0: where it is
  std::int64_t count = 0;   ///< below 2^31
  std::int64_t bytes = 4;
};

/// By their bits from `from` up to `to`, the smallest first; equal ones stay in their order. What `keys` names is written over.
Result<DeviceKeys> sortKeys(const DeviceParts& on, const DeviceKeys& keys, int from, int to);

/// "unsigned int" or "unsigned long long"
std::string keyType(std::int64_t bytes);

}  // namespace kerf::inline backend
