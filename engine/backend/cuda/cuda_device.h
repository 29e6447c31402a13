// CudaDevice: runs a program's generated kernels and matrix products on the GPU. Other steps run on the host, on what
// was downloaded for them.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/backend/cuda/cuda_code.h"
#include "engine/backend/cuda/device_blas.h"
#include "engine/backend/cuda/device_memory.h"
#include "engine/runtime/step_device.h"

namespace kerf::inline backend {

class CudaDevice : public StepDevice {
 public:
  /// `mutating`: indices of the nodes that may write into their operands.
  CudaDevice(std::vector<CudaStepCode> codes, std::unordered_set<std::uint32_t> mutating);
  ~CudaDevice() override;

  /// Takes the device and starts its libraries now, so that the first run has only its own work to do. Environment
  /// where there is no device.
  Result<void> warmUp();
  Result<void> begin(const Program& program, const ValueList& slots) override;
  Result<void> launch(const Program& program, const Step& step, const ValueList& slots) override;
  Result<bool> multiply(const Step& step, const ValueList& args, const Tensor& out) override;
  Result<void> toHost(const Value& value) override;
  void ranOnHost(const Step& step, const ValueList& operands) override;
  void hostWrote(const Value& value) override;
  Result<void> end(const Value& result) override;
  Result<std::chrono::nanoseconds> timed(const std::function<Result<void>()>& work) override;

 private:
  Result<void> synchronize();
  Result<void> open();
  void openBlas();
  Result<void> loadKernels();
  Result<void> placeSlots(const Program& program, const ValueList& slots);
  Result<void> run(void* function, std::int64_t blocks, int threads, std::vector<std::uint64_t>& arguments,
                   std::string_view name) const;
  Result<void> spread(const Tensor& self, const Tensor& out);
  Result<DeviceAddress> addressOf(const Tensor& tensor, bool writes);

  const std::vector<CudaStepCode> m_codes;
  const std::unordered_set<std::uint32_t> m_mutating;
  std::unordered_map<std::string, std::size_t> m_byStep;
  CudaDriver* m_driver = nullptr;
  std::unique_ptr<DeviceMemory> m_memory;
  std::unique_ptr<DeviceBlas> m_blas;
  bool m_triedBlas = false;
  std::vector<void*> m_functions;
  void* m_spread = nullptr;
  DeviceAddress m_arena = 0;
  std::int64_t m_arenaBytes = 0;
};

}  // namespace kerf::inline backend
