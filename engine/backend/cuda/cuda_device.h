// CudaDevice: runs a program's steps on the GPU: generated kernels, matrix products, and the ops for which the device
// has kernels. What is left runs on the host, on what was downloaded for it.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/backend/cuda/cuda_code.h"
#include "engine/backend/cuda/device_blas_lt.h"
#include "engine/backend/cuda/device_graphs.h"
#include "engine/backend/cuda/device_ops.h"
#include "engine/runtime/step_device.h"

namespace kerf::inline backend {

class ResidentCall;

class CudaDevice : public StepDevice {
 public:
  /// `mutating`: indices of the nodes that may write into their operands. `cache`: folder of machine code.
  CudaDevice(std::vector<CudaStepCode> codes, std::unordered_set<std::uint32_t> mutating, std::filesystem::path cache);
  ~CudaDevice() override;

  /// Takes the device and starts its libraries now, so that the first run has only its own work to do. Environment
  /// where there is no device.
  Result<void> warmUp();
  Result<void> plan(const Program& program) override;
  Result<void> begin(const Program& program, const ValueList& slots) override;
  Result<void> launch(const Program& program, const Step& step, const ValueList& slots) override;
  Result<bool> multiply(const Program& program, const Step& step, const ValueList& args, const Tensor& out) override;
  Result<std::optional<Value>> call(const Program& program, const Step& step, const CallValues& call) override;
  Result<bool> checksIndex(const Step& step, const Step::IndexCheck& check, const Value& indices) override;
  Result<void> beforeStep(std::size_t step) override;
  Result<void> afterStep(std::size_t step) override;
  void programChanged() override;
  Result<void> toHost(const Value& value) override;
  void ranOnHost(const Step& step, const ValueList& operands) override;
  Result<void> hostMade(const Step& step, const Value& value) override;
  void hostWrote(const Value& value) override;
  Result<void> end(const Value& result) override;
  bool lastWasOnHost() const override { return m_lastWasOnHost; }
  Result<std::chrono::nanoseconds> timed(const std::function<Result<void>()>& work) override;
  Result<std::chrono::nanoseconds> timeRuns(int times) override;

 private:
  /// What the machine gives, from the first use on.
  struct Machine {
    explicit Machine(CudaDriver& driver, const std::filesystem::path& cache)
        : driver(driver),
          queue(driver),
          memory(queue),
          library(queue, cache),
          scratch(driver),
          checks(queue, library),
          graphs(queue) {}
    DeviceParts parts() { return {queue, memory, library, scratch, checks, blas.get(), dnn.get()}; }
    CudaDriver& driver;
    DeviceQueue queue;
    DeviceMemory memory;
    DeviceLibrary library;
    DeviceScratch scratch;
    DeviceChecks checks;
    DeviceGraphs graphs;
    std::unique_ptr<DeviceBlas> blas;
    std::unique_ptr<DeviceBlasLt> blasLt;
    std::unique_ptr<DeviceDnn> dnn;
    bool triedBlas = false, triedDnn = false;
  };

  Result<void> open();
  void close();
  void openBlas();
  void openDnn();
  Result<void> loadKernels();
  Result<void> makeShared();
  Result<std::vector<DeviceAddress>> placeSlots(const Program& program, const ValueList& slots);
  Result<void> spread(const Tensor& self, const Tensor& out);
  Result<bool> multiplyWithBias(const DeviceMatrix& a, const DeviceMatrix& b, const Tensor& bias,
                                const DeviceMatrix& out, DType dtype);
  Result<bool> convolve(const Program& program, const Step& step, const ValueList& args, const Tensor& out);
  Result<std::optional<Value>> runOp(const OpInfo& op, const Step& step, const CallValues& call);
  Result<void> deliver(const ResidentCall& call, const Value& result);
  Result<ValueList> makeResults(const DeviceOp& op, const Step& step, const BoundArguments& args);

  const std::vector<CudaStepCode> m_codes;
  const std::unordered_set<std::uint32_t> m_mutating;
  const std::filesystem::path m_cache;
  std::unordered_map<std::string, std::size_t> m_byStep;
  std::unique_ptr<Machine> m_machine;
  std::vector<void*> m_functions;
  DeviceAddress m_counters = 0, m_parts = 0;  ///< what blocks of one kernel share: KernelShape::countersBytes
  DeviceAddress m_arena = 0;
  std::int64_t m_arenaBytes = 0;
  bool m_lastWasOnHost = false;
};

}  // namespace kerf::inline backend
