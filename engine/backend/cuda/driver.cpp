#include "engine/backend/cuda/driver.h"

#include <array>

#include <fmt/format.h>

#include "engine/support/shared_library.h"

namespace kerf::inline backend {
namespace {

constexpr int processorsAttribute = 16, majorAttribute = 75, minorAttribute = 76;  // of cuDeviceGetAttribute
constexpr int outOfMemory = 2;                                                     // CUDA_ERROR_OUT_OF_MEMORY

bool findAll(const SharedLibrary& l, DriverFunctions& f) {
  return l.find("cuInit", f.init) && l.find("cuGetErrorName", f.errorName) &&
         l.find("cuDeviceGetCount", f.deviceCount) && l.find("cuDeviceGet", f.device) &&
         l.find("cuDeviceGetAttribute", f.attribute) && l.find("cuDeviceGetName", f.name) &&
         l.find("cuDevicePrimaryCtxRetain", f.retain) && l.find("cuCtxSetCurrent", f.setCurrent) &&
         l.find("cuMemAlloc_v2", f.allocate) && l.find("cuMemFree_v2", f.release) &&
         l.find("cuMemcpyHtoD_v2", f.upload) && l.find("cuMemcpyDtoH_v2", f.download) &&
         l.find("cuMemcpyDtoDAsync_v2", f.copy) && l.find("cuMemsetD8_v2", f.clear) &&
         l.find("cuCtxSynchronize", f.synchronize) && l.find("cuModuleLoadData", f.loadModule) &&
         l.find("cuModuleGetFunction", f.function) && l.find("cuLaunchKernel", f.launch) &&
         l.find("cuEventCreate", f.eventCreate) && l.find("cuEventRecord", f.eventRecord) &&
         l.find("cuEventSynchronize", f.eventSynchronize) && l.find("cuEventElapsedTime", f.eventElapsed);
}

auto openLibrary() { return SharedLibrary::open({"libcuda.so.1", "libcuda.so"}); }
std::unexpected<Error> noDriver() {
  return fail(ErrorCode::Environment, "there is no CUDA driver (libcuda.so.1) on this machine");
}

}  // namespace

Result<void> CudaDriver::check(int status, std::string_view doing) const {
  if (status == 0) return {};
  const char* name = nullptr;
  if (m_f.errorName(status, &name) != 0 || name == nullptr) name = "an unknown error of CUDA";
  return fail(status == outOfMemory ? ErrorCode::TooLarge : ErrorCode::RuntimeFailed, "{}: {}", doing, name);
}

Result<void> CudaDriver::installed() {
  if (!openLibrary()) return noDriver();
  return {};
}

Result<std::unique_ptr<CudaDriver>> CudaDriver::open() {
  auto driver = std::make_unique<CudaDriver>();
  DriverFunctions& f = driver->m_f;
  auto library = openLibrary();
  if (!library) return noDriver();
  if (!findAll(*library, f)) return fail(ErrorCode::Environment, "this machine's libcuda.so.1 is too old");
  int count = 0;
  const int started = f.init(0);
  if (started != 0 || f.deviceCount(&count) != 0 || count == 0) {
    const char* name = "no device";
    if (started != 0) f.errorName(started, &name);
    return fail(ErrorCode::Environment, "there is no CUDA device on this machine ({})", name);
  }
  int device = 0, major = 0, minor = 0;
  void* context = nullptr;
  KERF_CHECK(driver->check(f.device(&device, 0), "taking the CUDA device"));
  KERF_CHECK(driver->check(f.retain(&context, device), "taking the CUDA device"));
  KERF_CHECK(driver->check(f.setCurrent(context), "taking the CUDA device"));
  f.attribute(&major, majorAttribute, device);
  f.attribute(&minor, minorAttribute, device);
  f.attribute(&driver->m_processors, processorsAttribute, device);
  std::array<char, 128> name{};
  f.name(name.data(), int(name.size()) - 1, device);
  driver->m_name = name.data();
  driver->m_architecture = fmt::format("sm_{}{}", major, minor);
  return driver;
}

Result<CudaDriver*> CudaDriver::get() {
  static const auto opened = open();
  if (!opened) return fail(Error(opened.error()));
  return opened->get();
}

Result<DeviceAddress> CudaDriver::allocate(std::int64_t bytes) const {
  DeviceAddress address = 0;
  KERF_CHECK(check(m_f.allocate(&address, std::size_t(std::max<std::int64_t>(bytes, 1))),
                   fmt::format("allocating {} bytes on the CUDA device", bytes)));
  return address;
}

/// Before the first event the device clears memory: meanwhile the work is queued, so that nothing waits for the host.
Result<std::chrono::nanoseconds> CudaDriver::timed(const std::function<Result<void>()>& work) {
  constexpr std::int64_t scratchBytes = 256 << 20;
  if (m_scratch == 0) {
    KERF_TRY(m_scratch, allocate(scratchBytes));
    KERF_CHECK(check(m_f.eventCreate(&m_begin, 0), "timing the CUDA device"));
    KERF_CHECK(check(m_f.eventCreate(&m_end, 0), "timing the CUDA device"));
  }
  KERF_CHECK(check(m_f.clear(m_scratch, 0, std::size_t(scratchBytes)), "timing the CUDA device"));
  KERF_CHECK(check(m_f.eventRecord(m_begin, nullptr), "timing the CUDA device"));
  KERF_CHECK(work());
  KERF_CHECK(check(m_f.eventRecord(m_end, nullptr), "timing the CUDA device"));
  KERF_CHECK(check(m_f.eventSynchronize(m_end), "running on the CUDA device"));
  float milliseconds = 0;
  KERF_CHECK(check(m_f.eventElapsed(&milliseconds, m_begin, m_end), "timing the CUDA device"));
  return std::chrono::nanoseconds(std::int64_t(double(milliseconds) * 1e6));
}

void CudaDriver::release(DeviceAddress address) const {
  if (address != 0) m_f.release(address);
}

}  // namespace kerf::inline backend
