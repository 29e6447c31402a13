// DeviceDnn: convolutions by cuDNN, through its graphs of operations, where the machine has it.
#pragma once

#include <map>

#include "engine/backend/cuda/device_queue.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline backend {

/// Which of its three tensors a convolution computes from the other two.
enum class ConvolutionPart : std::uint8_t { Output, Input, Weight };

/// A convolution of 2 or 3 spatial dimensions as cuDNN knows it: sizes and strides of input [N, C, …], weight
/// [K, C / groups, …] and output [N, K, …], all of one dtype.
struct DnnConvolution {
  ConvolutionPart part = ConvolutionPart::Output;
  DType dtype = DType::Float32;
  Sizes input, inputStrides, weight, weightStrides, output, outputStrides;
  Sizes padding, stride, dilation;
  auto operator<=>(const DnnConvolution&) const = default;
};

class DeviceDnn {
 public:
  /// Works on the driver's stream. Environment where there is no cuDNN 9 or 8.
  static Result<std::unique_ptr<DeviceDnn>> open(DeviceQueue& queue);
  ~DeviceDnn();
  DeviceDnn(const DeviceDnn&) = delete;
  DeviceDnn& operator=(const DeviceDnn&) = delete;

  /// False where cuDNN has no engine for it. float32 is not rounded to TF32.
  Result<bool> convolve(const DnnConvolution& call, DeviceAddress input, DeviceAddress weight, DeviceAddress output);
  const std::string& version() const { return m_version; }

 private:
  struct Functions;
  class Descriptor;
  struct Plan;
  DeviceDnn(DeviceQueue& queue, std::unique_ptr<Functions> functions);
  Result<Plan*> planFor(const DnnConvolution& call);
  std::unique_ptr<Plan> makePlan(const DnnConvolution& call) const;
  bool choosePlan(const Descriptor& graph, int mode, DType dtype, Plan& plan) const;
  Result<void> execute(Plan& plan, DeviceAddress input, DeviceAddress weight, DeviceAddress output);

  DeviceQueue& m_queue;
  std::unique_ptr<Functions> m_f;
  void* m_handle = nullptr;
  DeviceAddress m_workspace = 0;
  std::int64_t m_workspaceBytes = 0;
  std::string m_version;
  std::map<DnnConvolution, std::unique_ptr<Plan>> m_plans;
};

}  // namespace kerf::inline backend
