// DeviceChecks: whether all values of tensors of indices lie within bounds, asked on the device before a kernel reads
// memory by them, and answered when the run ends.
#pragma once

#include "engine/backend/cuda/device_library.h"

namespace kerf::inline backend {

/// What is said where an index lies outside.
struct IndexBounds {
  std::string opName, node;
  std::int64_t size = 0, dim = 0;
  bool mayBeNegative = false;
};

class DeviceChecks {
 public:
  DeviceChecks(DeviceQueue& queue, DeviceLibrary& library) : m_queue(queue), m_library(library) {}
  ~DeviceChecks() { m_queue.driver().release(m_found); }
  DeviceChecks(const DeviceChecks&) = delete;
  DeviceChecks& operator=(const DeviceChecks&) = delete;

  /// A run begins.
  Result<void> begin();
  /// Asks it of `indices`, of an integer dtype, whose first element lies at `address`. UnsupportedOp for other dtypes.
  Result<void> add(const Tensor& indices, DeviceAddress address, IndexBounds bounds);
  /// The number by which kernels of the library tell of an index outside themselves.
  std::uint64_t announce(IndexBounds bounds);
  /// A word that is not 0 once an index lay outside: the check's number; behind it the index.
  DeviceAddress found() const { return m_found; }
  /// RuntimeFailed in the words of the op's own kernel.
  Result<void> finish();

 private:
  DeviceQueue& m_queue;
  DeviceLibrary& m_library;
  DeviceAddress m_found = 0;
  std::vector<IndexBounds> m_bounds;  ///< by number - 1
};

}  // namespace kerf::inline backend
