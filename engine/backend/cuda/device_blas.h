// DeviceBlas: matrix products on the device by cuBLAS, where the machine has it.
#pragma once

#include "engine/backend/cuda/driver.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline backend {

/// A matrix, or a batch of them, on the device.
struct DeviceMatrix {
  DeviceAddress address = 0;
  std::int64_t rows = 0, columns = 0;
  std::int64_t rowStride = 0, columnStride = 0, batchStride = 0;  ///< in elements
};

class DeviceBlas {
 public:
  /// Environment where there is no cuBLAS.
  static Result<std::unique_ptr<DeviceBlas>> open();
  ~DeviceBlas();

  /// Whether these strides and this dtype can be given to cuBLAS as they are.
  static bool takes(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out, DType dtype);
  /// out = alpha·a·b + beta·out for each of `batch`; float16 and bfloat16 are summed in float32, float32 is not rounded
  /// to TF32.
  Result<void> multiply(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out, DType dtype,
                        std::int64_t batch, double alpha, double beta) const;

 private:
  struct Functions;
  explicit DeviceBlas(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> m_f;
  void* m_handle = nullptr;
};

}  // namespace kerf::inline backend
