// DeviceBlas: matrix products on the device by cuBLAS, where the machine has it.
#pragma once

#include <functional>
#include <memory>

#include "engine/backend/cuda/driver.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline backend {

/// A matrix, or a batch of them, on the device.
struct DeviceMatrix {
  DeviceAddress address = 0;
  std::int64_t rows = 0, columns = 0;
  std::int64_t rowStride = 0, columnStride = 0, batchStride = 0;  ///< in elements
};

/// Element types of a product: that of the factors and that of the result, which may be float32 for 16-bit factors.
struct ProductTypes {
  DType factors, result;
  ProductTypes(DType both) : factors(both), result(both) {}  // NOLINT: mostly one type
  ProductTypes(DType of, DType to) : factors(of), result(to) {}
};

class DeviceBlas {
 public:
  /// Works on the driver's stream. Environment where there is no cuBLAS.
  static Result<std::unique_ptr<DeviceBlas>> open(CudaDriver& driver);
  using Multiply = std::function<Result<void>(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out,
                                              ProductTypes types, std::int64_t batch, double alpha, double beta)>;
  /// With this function in the place of the library's.
  static std::unique_ptr<DeviceBlas> over(CudaDriver& driver, Multiply multiply);
  ~DeviceBlas();

  /// Whether these strides and this dtype can be given to cuBLAS as they are.
  static bool takes(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out, DType dtype);
  /// out = alpha·a·b + beta·out for each of `batch`; float16 and bfloat16 are summed in float32, float32 is not rounded
  /// to TF32.
  Result<void> multiply(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& out, ProductTypes types,
                        std::int64_t batch, double alpha, double beta) const;

 private:
  struct Functions;
  DeviceBlas(std::unique_ptr<Functions> functions, CudaDriver& driver);
  std::unique_ptr<Functions> m_f;
  Multiply m_multiply;
  CudaDriver& m_driver;
  void* m_handle = nullptr;
  DeviceAddress m_workspace = 0;
};

}  // namespace kerf::inline backend
