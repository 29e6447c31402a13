// CudaDriver: CUDA's driver and cuBLAS as far as compiled graphs need them, opened where the machine has them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline backend {

using DeviceAddress = std::uint64_t;

/// Functions of libcuda, declared after its documentation: its headers are not needed to build.
struct DriverFunctions {
  int (*init)(unsigned) = nullptr;
  int (*errorName)(int, const char**) = nullptr;
  int (*deviceCount)(int*) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*attribute)(int*, int attribute, int device) = nullptr;
  int (*name)(char*, int, int device) = nullptr;
  int (*totalMemory)(std::size_t*, int device) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*setCurrent)(void* context) = nullptr;
  int (*allocate)(DeviceAddress*, std::size_t) = nullptr;
  int (*release)(DeviceAddress) = nullptr;
  int (*upload)(DeviceAddress, const void*, std::size_t, void* stream) = nullptr;
  int (*download)(void*, DeviceAddress, std::size_t, void* stream) = nullptr;
  int (*copy)(DeviceAddress to, DeviceAddress from, std::size_t, void* stream) = nullptr;
  int (*clear)(DeviceAddress, unsigned char, std::size_t, void* stream) = nullptr;
  int (*streamCreate)(void** stream, unsigned flags) = nullptr;
  int (*streamSynchronize)(void* stream) = nullptr;
  int (*loadModule)(void** module, const void* image) = nullptr;
  int (*function)(void** function, void* module, const char* name) = nullptr;
  int (*setAttribute)(void* function, int attribute, int value) = nullptr;
  int (*launch)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                void* stream, void** arguments, void** extra) = nullptr;
  int (*eventCreate)(void**, unsigned) = nullptr;
  int (*eventRecord)(void*, void* stream) = nullptr;
  int (*eventSynchronize)(void*) = nullptr;
  int (*eventElapsed)(float* milliseconds, void*, void*) = nullptr;
  int (*beginCapture)(void* stream, int mode) = nullptr;
  int (*endCapture)(void* stream, void** graph) = nullptr;
  int (*instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
  int (*launchGraph)(void* executable, void* stream) = nullptr;
  int (*destroyExecutable)(void* executable) = nullptr;
  int (*destroyGraph)(void* graph) = nullptr;
  int (*graphNodes)(void* graph, void** nodes, std::size_t* count) = nullptr;
};

/// One device of this process, shared by all threads that chose it. What fails on it names the driver's error
/// ("CUDA_ERROR_ILLEGAL_ADDRESS").
class CudaDriver {
 public:
  /// The process's one; made at the first call, never before a fork. Environment where there is no driver or no device.
  static Result<CudaDriver*> get();
  /// With these functions in place of the driver's: what tests run on the host.
  static std::unique_ptr<CudaDriver> over(const DriverFunctions& functions, int processors = 1);
  /// Environment where there is no driver; the device is not asked.
  static Result<void> installed();

  const std::string& deviceName() const { return m_name; }
  const std::string& architecture() const { return m_architecture; }  ///< "sm_90"
  int processors() const { return m_processors; }
  std::int64_t totalBytes() const { return m_totalBytes; }
  /// On which everything runs, in order.
  void* stream() const { return m_stream; }

  /// From now on the calling thread works with the device.
  Result<void> enter() const { return check(m_f.setCurrent(m_context), "taking the CUDA device"); }
  /// RuntimeFailed saying what could not be done.
  Result<void> check(int status, std::string_view doing) const;
  /// Memory that was released is handed out again; where the device has no more, all of that goes back to it first.
  Result<DeviceAddress> allocate(std::int64_t bytes);
  /// What the stream has still to do may use it: who gets it next works on the same stream.
  void release(DeviceAddress address);
  /// Done when it returns. Kernels that were started before may still run: they must not use this memory.
  Result<void> upload(DeviceAddress to, const void* from, std::int64_t bytes) const;
  /// After everything on the stream.
  Result<void> download(void* to, DeviceAddress from, std::int64_t bytes) const;
  Result<void> synchronize() const;
  /// Time that the device needs for what `work` starts, on caches that hold nothing of it. `read` reads memory of the
  /// device before, so that the caches have nothing to write back either: else the work pays for that (50 MB on an
  /// H100).
  Result<std::chrono::nanoseconds> timed(const std::function<Result<void>()>& work,
                                         const std::function<Result<void>(DeviceAddress, std::int64_t)>& read);
  const DriverFunctions& functions() const { return m_f; }

 private:
  static Result<std::unique_ptr<CudaDriver>> open();
  // Callers of these hold m_memory.
  Result<DeviceAddress> takeNew(std::int64_t bytes);
  void releaseUnused();

  DriverFunctions m_f;
  std::string m_name, m_architecture;
  int m_processors = 1;
  std::int64_t m_totalBytes = 0;
  void* m_context = nullptr;
  void *m_stream = nullptr, *m_uploads = nullptr;
  std::mutex m_memory, m_timing;  ///< of m_unused and m_bytes; of m_scratch and the events
  std::map<std::int64_t, std::vector<DeviceAddress>> m_unused;  ///< by bytes
  std::unordered_map<DeviceAddress, std::int64_t> m_bytes;      ///< of everything that was allocated
  DeviceAddress m_scratch = 0;                                  ///< larger than the caches
  void *m_begin = nullptr, *m_end = nullptr;                    ///< events
};

}  // namespace kerf::inline backend
