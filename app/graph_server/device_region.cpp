#include "app/graph_server/device_region.h"

#include <array>
#include <charconv>
#include <optional>

#include "engine/backend/cuda/driver.h"
#include "engine/support/shared_library.h"

namespace kerf::graph_server {

namespace {

constexpr std::size_t handleBytes = 64;  // CU_IPC_HANDLE_SIZE
constexpr unsigned enablePeers = 1;      // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the only flag there is

struct MemoryHandle {
  std::array<char, handleBytes> bytes{};
};

struct IpcFunctions {
  int (*open)(std::uint64_t*, MemoryHandle, unsigned flags) = nullptr;
  int (*close)(std::uint64_t) = nullptr;
};

Result<IpcFunctions> ipcFunctions() {
  KERF_TRY(const SharedLibrary library, SharedLibrary::open({"libcuda.so.1", "libcuda.so"}));
  IpcFunctions found;
  if (library.find("cuIpcOpenMemHandle_v2", found.open) && library.find("cuIpcCloseMemHandle", found.close))
    return found;
  return fail(ErrorCode::Environment, "this machine's libcuda.so.1 shares no memory between processes");
}

std::optional<MemoryHandle> handleFrom(std::string_view text) {
  MemoryHandle handle;
  if (text.size() != 2 * handleBytes) return {};
  for (std::size_t i = 0; i < handleBytes; ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return {};
    handle.bytes[i] = static_cast<char>(byte);
  }
  return handle;
}

}  // namespace

Result<std::shared_ptr<DeviceRegion>> DeviceRegion::open(std::string_view handle, std::int64_t bytes) {
  const auto known = handleFrom(handle);
  if (!known || bytes <= 0) return fail(ErrorCode::BadInput, "a message names no memory of a CUDA device");
  KERF_TRY(CudaDriver* const driver, CudaDriver::get());
  KERF_CHECK(driver->enter());
  KERF_TRY(const IpcFunctions ipc, ipcFunctions());
  std::uint64_t address = 0;
  auto opened = driver->check(ipc.open(&address, *known, enablePeers), "opening the client's memory");
  if (!opened) return fail(Error(ErrorCode::Environment, opened.error().text()));
  return std::shared_ptr<DeviceRegion>(new DeviceRegion(address, bytes));
}

DeviceRegion::~DeviceRegion() {
  const auto driver = CudaDriver::get();
  const auto ipc = ipcFunctions();
  if (!driver || !ipc) return;
  if ((*driver)->enter() && (*driver)->synchronize()) ipc->close(m_address);
}

}  // namespace kerf::graph_server
