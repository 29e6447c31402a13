// DeviceBlasLt: products of matrices with a bias added to every row, in one kernel, by cuBLASLt.
#pragma once

#include <array>
#include <map>

#include "engine/backend/cuda/device_blas.h"

namespace kerf::inline backend {

class DeviceBlasLt {
 public:
  /// Environment where there is no cuBLASLt.
  static Result<std::unique_ptr<DeviceBlasLt>> open(CudaDriver& driver);
  ~DeviceBlasLt();
  DeviceBlasLt(const DeviceBlasLt&) = delete;
  DeviceBlasLt& operator=(const DeviceBlasLt&) = delete;

  /// Whether cuBLASLt has a kernel for it.
  bool takes(const DeviceMatrix& a, const DeviceMatrix& b, DeviceAddress bias, const DeviceMatrix& out, DType dtype);
  /// out = a·b + bias, whose elements are one for each column of `out`, beside each other; what takes() said yes to.
  /// Arithmetic as DeviceBlas::multiply.
  Result<void> multiply(const DeviceMatrix& a, const DeviceMatrix& b, DeviceAddress bias, const DeviceMatrix& out,
                        DType dtype);

 private:
  struct Functions;
  struct Plan;
  using Key = std::array<std::int64_t, 9>;  ///< sizes, distances, transpositions, type and alignment
  DeviceBlasLt(std::unique_ptr<Functions> functions, CudaDriver& driver);
  std::unique_ptr<Plan> makePlan(const Key& key, DeviceAddress bias) const;
  Plan* planFor(const DeviceMatrix& a, const DeviceMatrix& b, DeviceAddress bias, const DeviceMatrix& out, DType dtype);

  std::unique_ptr<Functions> m_f;
  CudaDriver& m_driver;
  void* m_handle = nullptr;
  DeviceAddress m_workspace = 0;
  std::map<Key, std::unique_ptr<Plan>> m_plans;
};

}  // namespace kerf::inline backend
