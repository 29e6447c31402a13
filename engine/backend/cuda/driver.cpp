#include "engine/backend/cuda/driver.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "engine/backend/cuda/devices.h"
#include "engine/support/shared_library.h"

namespace kerf::inline backend {
namespace {

constexpr int processorsAttribute = 16, majorAttribute = 75, minorAttribute = 76;  // of cuDeviceGetAttribute
constexpr int outOfMemory = 2;                                                     // CUDA_ERROR_OUT_OF_MEMORY
constexpr unsigned nonBlocking = 1;                                                // CU_STREAM_NON_BLOCKING
constexpr std::int64_t smallPiece = 512, largePiece = 1 << 20;

/// Bytes that are allocated for so many: pieces of one size are used again more often.
std::int64_t allocatedBytes(std::int64_t bytes) {
  const std::int64_t piece = bytes < largePiece ? smallPiece : largePiece;
  return std::max<std::int64_t>(1, (bytes + piece - 1) / piece) * piece;
}

bool findAll(const SharedLibrary& l, DriverFunctions& f) {
  return l.find("cuInit", f.init) && l.find("cuGetErrorName", f.errorName) &&
         l.find("cuDeviceGetCount", f.deviceCount) && l.find("cuDeviceGet", f.device) &&
         l.find("cuDeviceGetAttribute", f.attribute) && l.find("cuDeviceGetName", f.name) &&
         l.find("cuDeviceTotalMem_v2", f.totalMemory) && l.find("cuDevicePrimaryCtxRetain", f.retain) &&
         l.find("cuCtxSetCurrent", f.setCurrent) && l.find("cuMemAlloc_v2", f.allocate) &&
         l.find("cuMemFree_v2", f.release) && l.find("cuMemcpyHtoDAsync_v2", f.upload) &&
         l.find("cuMemcpyDtoHAsync_v2", f.download) && l.find("cuMemcpyDtoDAsync_v2", f.copy) &&
         l.find("cuMemsetD8Async", f.clear) && l.find("cuStreamCreate", f.streamCreate) &&
         l.find("cuStreamSynchronize", f.streamSynchronize) && l.find("cuModuleLoadData", f.loadModule) &&
         l.find("cuModuleGetFunction", f.function) && l.find("cuFuncSetAttribute", f.setAttribute) &&
         l.find("cuLaunchKernel", f.launch) && l.find("cuEventCreate", f.eventCreate) &&
         l.find("cuEventRecord", f.eventRecord) && l.find("cuEventSynchronize", f.eventSynchronize) &&
         l.find("cuEventElapsedTime", f.eventElapsed) && l.find("cuStreamBeginCapture_v2", f.beginCapture) &&
         l.find("cuStreamEndCapture", f.endCapture) && l.find("cuGraphInstantiateWithFlags", f.instantiate) &&
         l.find("cuGraphLaunch", f.launchGraph) && l.find("cuGraphExecDestroy", f.destroyExecutable) &&
         l.find("cuGraphDestroy", f.destroyGraph) && l.find("cuGraphGetNodes", f.graphNodes);
}

auto openLibrary() { return SharedLibrary::open({"libcuda.so.1", "libcuda.so"}); }
std::unexpected<Error> noDriver() {
  return fail(ErrorCode::Environment, "there is no CUDA driver (libcuda.so.1) on this machine");
}

thread_local int chosenDevice = 0;

/// The driver's functions, and how many devices there are.
Result<int> startDriver(DriverFunctions& f) {
  const auto library = openLibrary();
  if (!library) return noDriver();
  if (!findAll(*library, f)) return fail(ErrorCode::Environment, "this machine's libcuda.so.1 is too old");
  int count = 0;
  const int started = f.init(0);
  if (started == 0 && f.deviceCount(&count) == 0 && count > 0) return count;
  const char* name = "no device";
  if (started != 0) f.errorName(started, &name);
  return fail(ErrorCode::Environment, "there is no CUDA device on this machine ({})", name);
}

/// The thread's device, as the driver names it.
Result<int> startDevice(DriverFunctions& f) {
  const int number = chosenDevice;
  KERF_TRY(const int count, startDriver(f));
  if (number >= count)
    return fail(ErrorCode::Environment, "there is no CUDA device {}: this machine has {}", number, count);
  int device = 0;
  if (const int status = f.device(&device, number); status != 0)
    return fail(ErrorCode::Environment, "CUDA device {} cannot be taken (error {})", number, status);
  return device;
}

std::string architectureOf(const DriverFunctions& f, int device) {
  int major = 0, minor = 0;
  f.attribute(&major, majorAttribute, device);
  f.attribute(&minor, minorAttribute, device);
  return fmt::format("sm_{}{}", major, minor);
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

Result<int> cudaDevices() {
  DriverFunctions f;
  return startDriver(f);
}

Result<std::string> deviceArchitecture() {
  DriverFunctions f;
  KERF_TRY(const int device, startDevice(f));
  return architectureOf(f, device);
}

Result<EventFunctions> eventFunctions() {
  const auto library = openLibrary();
  if (!library) return noDriver();
  EventFunctions f;
  if (library->find("cuEventQuery", f.query) && library->find("cuEventDestroy_v2", f.destroy)) return f;
  return fail(ErrorCode::Environment, "this machine's libcuda.so.1 is too old");
}

/// The thread's device.
Result<std::unique_ptr<CudaDriver>> CudaDriver::open() {
  auto driver = std::make_unique<CudaDriver>();
  DriverFunctions& f = driver->m_f;
  KERF_TRY(const int device, startDevice(f));
  KERF_CHECK(driver->check(f.retain(&driver->m_context, device), "taking the CUDA device"));
  KERF_CHECK(driver->check(f.setCurrent(driver->m_context), "taking the CUDA device"));
  KERF_CHECK(driver->check(f.streamCreate(&driver->m_stream, nonBlocking), "taking the CUDA device"));
  KERF_CHECK(driver->check(f.streamCreate(&driver->m_uploads, nonBlocking), "taking the CUDA device"));
  f.attribute(&driver->m_processors, processorsAttribute, device);
  std::array<char, 128> name{};
  f.name(name.data(), int(name.size()) - 1, device);
  driver->m_name = name.data();
  std::size_t bytes = 0;
  KERF_CHECK(driver->check(f.totalMemory(&bytes, device), "taking the CUDA device"));
  driver->m_totalBytes = std::int64_t(bytes);
  driver->m_architecture = architectureOf(f, device);
  return driver;
}

std::unique_ptr<CudaDriver> CudaDriver::over(const DriverFunctions& functions, int processors) {
  auto driver = std::make_unique<CudaDriver>();
  driver->m_f = functions;
  driver->m_processors = processors;
  if (functions.streamCreate != nullptr) functions.streamCreate(&driver->m_stream, nonBlocking);
  return driver;
}

Result<CudaDriver*> CudaDriver::get() {
  static std::mutex mutex;
  static std::map<int, Result<std::unique_ptr<CudaDriver>>> opened;
  const std::scoped_lock lock(mutex);
  auto found = opened.find(chosenDevice);
  if (found == opened.end()) found = opened.emplace(chosenDevice, open()).first;
  if (!found->second) return fail(Error(found->second.error()));
  KERF_CHECK((*found->second)->enter());
  return found->second->get();
}

DeviceChoice::DeviceChoice(int number) : m_before(std::exchange(chosenDevice, number)) {}
DeviceChoice::~DeviceChoice() { chosenDevice = m_before; }
int DeviceChoice::current() { return chosenDevice; }

Result<DeviceAddress> CudaDriver::takeNew(std::int64_t bytes) {
  DeviceAddress address = 0;
  KERF_CHECK(
      check(m_f.allocate(&address, std::size_t(bytes)), fmt::format("allocating {} bytes on the CUDA device", bytes)));
  m_bytes.emplace(address, bytes);
  return address;
}

Result<DeviceAddress> CudaDriver::allocate(std::int64_t bytes) {
  const std::int64_t wanted = allocatedBytes(bytes);
  const std::scoped_lock lock(m_memory);
  if (const auto found = m_unused.find(wanted); found != m_unused.end() && !found->second.empty()) {
    const DeviceAddress address = found->second.back();
    found->second.pop_back();
    return address;
  }
  auto taken = takeNew(wanted);
  if (taken || taken.error().code != ErrorCode::TooLarge) return taken;
  releaseUnused();
  return takeNew(wanted);
}

void CudaDriver::releaseUnused() {
  m_f.streamSynchronize(m_stream);
  for (const auto& [bytes, addresses] : m_unused)
    for (const DeviceAddress address : addresses) {
      m_bytes.erase(address);
      m_f.release(address);
    }
  m_unused.clear();
}

void CudaDriver::release(DeviceAddress address) {
  const std::scoped_lock lock(m_memory);
  if (const auto found = m_bytes.find(address); found != m_bytes.end()) m_unused[found->second].push_back(address);
}

Result<void> CudaDriver::upload(DeviceAddress to, const void* from, std::int64_t bytes) const {
  if (bytes == 0) return {};
  KERF_CHECK(check(m_f.upload(to, from, std::size_t(bytes), m_uploads), "uploading to the CUDA device"));
  return check(m_f.streamSynchronize(m_uploads), "uploading to the CUDA device");
}

Result<void> CudaDriver::download(void* to, DeviceAddress from, std::int64_t bytes) const {
  if (bytes == 0) return {};
  KERF_CHECK(check(m_f.download(to, from, std::size_t(bytes), m_stream), "downloading from the CUDA device"));
  return synchronize();
}

Result<void> CudaDriver::synchronize() const {
  return check(m_f.streamSynchronize(m_stream), "running on the CUDA device");
}

/// Before the first event the device clears memory: meanwhile the work is queued, so that nothing waits for the host.
Result<std::chrono::nanoseconds> CudaDriver::timed(
    const std::function<Result<void>()>& work, const std::function<Result<void>(DeviceAddress, std::int64_t)>& read) {
  constexpr std::int64_t scratchBytes = 256 << 20;
  const std::scoped_lock lock(m_timing);
  if (m_scratch == 0) {
    KERF_TRY(m_scratch, allocate(scratchBytes));
    KERF_CHECK(check(m_f.eventCreate(&m_begin, 0), "timing the CUDA device"));
    KERF_CHECK(check(m_f.eventCreate(&m_end, 0), "timing the CUDA device"));
  }
  KERF_CHECK(check(m_f.clear(m_scratch, 0, std::size_t(scratchBytes), m_stream), "timing the CUDA device"));
  KERF_CHECK(read(m_scratch, scratchBytes));
  KERF_CHECK(check(m_f.eventRecord(m_begin, m_stream), "timing the CUDA device"));
  KERF_CHECK(work());
  KERF_CHECK(check(m_f.eventRecord(m_end, m_stream), "timing the CUDA device"));
  KERF_CHECK(check(m_f.eventSynchronize(m_end), "running on the CUDA device"));
  float milliseconds = 0;
  KERF_CHECK(check(m_f.eventElapsed(&milliseconds, m_begin, m_end), "timing the CUDA device"));
  return std::chrono::nanoseconds(std::int64_t(double(milliseconds) * 1e6));
}

}  // namespace kerf::inline backend
