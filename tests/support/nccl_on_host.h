// Ranks over the NCCL that the tests build: threads of this process, each with a device whose memory is the host's.
#pragma once

#include <cstdlib>
#include <cstring>
#include <thread>

#include "engine/distributed/nccl/nccl_ranks.h"
#include "tests/support/fake_nccl.h"

namespace kerf::testing_support {

struct FakeEvent {
  FakeStream* stream = nullptr;
};

inline DriverFunctions fakeDriverFunctions() {
  DriverFunctions f;
  f.errorName = [](int, const char** name) { return *name = "an error", 0; };
  f.setCurrent = [](void*) { return 0; };
  f.allocate = [](DeviceAddress* place, std::size_t bytes) {
    void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0xee, bytes);
    return *place = DeviceAddress(memory), 0;
  };
  f.release = [](DeviceAddress place) { return std::free(reinterpret_cast<void*>(place)), 0; };
  f.streamCreate = [](void** stream, unsigned) { return *stream = new FakeStream, 0; };
  f.streamSynchronize = [](void* stream) {
    while (stream != nullptr && static_cast<FakeStream*>(stream)->pending > 0) std::this_thread::yield();
    return 0;
  };
  f.upload = [](DeviceAddress to, const void* from, std::size_t bytes, void*) {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
  };
  f.download = [](void* to, DeviceAddress from, std::size_t bytes, void* stream) {
    while (static_cast<FakeStream*>(stream)->pending > 0) std::this_thread::yield();
    return std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0;
  };
  f.copy = [](DeviceAddress to, DeviceAddress from, std::size_t bytes, void* stream) {
    while (static_cast<FakeStream*>(stream)->pending > 0) std::this_thread::yield();
    return std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), 0;
  };
  f.clear = [](DeviceAddress place, unsigned char byte, std::size_t bytes, void*) {
    return std::memset(reinterpret_cast<void*>(place), byte, bytes), 0;
  };
  f.eventCreate = [](void** event, unsigned) { return *event = new FakeEvent, 0; };
  f.eventRecord = [](void* event, void* stream) {
    static_cast<FakeEvent*>(event)->stream = static_cast<FakeStream*>(stream);
    return 0;
  };
  return f;
}

inline EventFunctions fakeEvents() {
  return {[](void* event) { return static_cast<FakeEvent*>(event)->stream->pending > 0 ? 600 : 0; },
          [](void* event) { return delete static_cast<FakeEvent*>(event), 0; }};
}

inline const NcclFunctions& fakeNccl() {
  static const NcclFunctions functions = openNccl({KERF_FAKE_NCCL}).value();
  return functions;
}

/// A driver over the host's memory, with a stream that it takes along.
class FakeDevice {
 public:
  FakeDevice() : m_driver(CudaDriver::over(fakeDriverFunctions())) {}
  ~FakeDevice() { delete static_cast<FakeStream*>(m_driver->stream()); }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;
  CudaDriver& driver() const { return *m_driver; }
  NcclDevice get() const { return {*m_driver, fakeEvents(), fakeNccl()}; }

 private:
  std::unique_ptr<CudaDriver> m_driver;
};

/// runRanksOverNccl over all that.
inline std::vector<Result<void>> ranksOverFakeNccl(int ranks, const RankBody& body,
                                                   std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  return runRanks(ranks,
                  [&](Communicator& control) -> Result<void> {
                    const FakeDevice device;
                    return runRankOverNccl(control, device.get(), body, timeout);
                  },
                  {.timeout = timeout});
}

}  // namespace kerf::testing_support
