// DeviceOps: calls that are no generated kernel and no product of matrices, on the device.
#pragma once

#include <span>

#include "engine/backend/cuda/device_blas.h"
#include "engine/backend/cuda/device_checks.h"
#include "engine/backend/cuda/device_dnn.h"
#include "engine/backend/cuda/device_library.h"
#include "engine/backend/cuda/device_memory.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline backend {

/// Memory that one call needs until it is done, from the same place in every run.
class DeviceScratch {
 public:
  explicit DeviceScratch(CudaDriver& driver) : m_driver(driver) {}
  ~DeviceScratch();
  DeviceScratch(const DeviceScratch&) = delete;
  DeviceScratch& operator=(const DeviceScratch&) = delete;
  /// From now on all of it is free again.
  void reset() { m_used = 0; }
  Result<DeviceAddress> take(std::int64_t bytes);

 private:
  struct Piece {
    DeviceAddress address = 0;
    std::int64_t bytes = 0;
  };
  CudaDriver& m_driver;
  std::vector<Piece> m_pieces;
  std::size_t m_used = 0;
};

/// What a call on the device works with.
struct DeviceParts {
  DeviceQueue& queue;
  DeviceMemory& memory;
  DeviceLibrary& library;
  DeviceScratch& scratch;
  DeviceChecks& checks;
  DeviceBlas* blas = nullptr;  ///< null where the machine has none
  DeviceDnn* dnn = nullptr;
  /// What attention's scores take at most; where all of them take more, they go a block at a time.
  std::int64_t scoreBytes = std::int64_t{256} << 20;
  bool fusesAttention = true;  ///< where the kernel for tensor cores takes it

  /// Of the first element. Uploads what only the host has; `writes`: the host's bytes are old from now on.
  Result<DeviceAddress> addressOf(const Tensor& tensor, bool writes = false) const;
};

struct DeviceCall {
  const DeviceParts& on;
  const BoundArguments& args;
  const ValueList& outs;  ///< one Value per result
  const Tensor& out(std::size_t i) const { return outs[i].tensor(); }
  bool hasOut(std::size_t i) const { return i < outs.size() && outs[i].isTensor(); }
};

struct DeviceOp {
  std::string_view op;  ///< "aten.cumsum.default"
  /// What the host does in every run, before anything of it is given to the device: random numbers. May be null.
  Result<void> (*prepare)(const DeviceCall&) = nullptr;
  /// Gives the work to the device; false where it does not take these arguments, and nothing has been given.
  Result<bool> (*run)(const DeviceCall&) = nullptr;
  /// Results that prepare() has filled on the host, as bits.
  std::uint32_t filled = 0;
  bool inPlace = false;  ///< the result is the first argument
};

/// Null where the device has no kernel for this op.
const DeviceOp* findDeviceOp(std::string_view op);
/// Whether a call works on an empty list of tensors, of which nothing lies on a device.
bool worksOnNothing(const BoundArguments& call);

/// What sums of such elements are formed in on the device.
DType sumType(DType dtype);
/// T is what is read, O what is written, A what is combined in; FROM(x) and TO(x) go from T to A and from A to O.
KernelMacros typeMacros(DType from, DType to);

/// All of them, for all types of elements: what a machine without a device can compile.
std::vector<LibraryKernel> libraryKernels();
std::vector<LibraryKernel> attentionKernels();
std::string_view attentionSource();
std::vector<LibraryKernel> convolutionKernels();
std::vector<LibraryKernel> copyKernels();
std::vector<LibraryKernel> extremumKernels();
std::vector<LibraryKernel> flashKernels();
std::vector<LibraryKernel> integerKernels();
std::vector<LibraryKernel> lineKernels();
std::vector<LibraryKernel> linePutKernels();
std::vector<LibraryKernel> orderKernels();
std::vector<LibraryKernel> putKernels();
std::vector<LibraryKernel> scanKernels();
std::vector<LibraryKernel> sortKernels();

std::span<const DeviceOp> attentionDeviceOps();
std::span<const DeviceOp> convolutionDeviceOps();
std::span<const DeviceOp> copyDeviceOps();
std::span<const DeviceOp> extremumDeviceOps();
std::span<const DeviceOp> indexDeviceOps();
std::span<const DeviceOp> integerDeviceOps();
std::span<const DeviceOp> orderDeviceOps();
std::span<const DeviceOp> scanDeviceOps();
std::span<const DeviceOp> scatterDeviceOps();
/// Every table of them.
std::vector<std::span<const DeviceOp>> allDeviceOps();

}  // namespace kerf::inline backend
