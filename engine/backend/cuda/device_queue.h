// DeviceQueue: what is given to the device, in order: at once, into a graph that is being captured, or not at all while
// a captured graph stands for it.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "engine/backend/cuda/driver.h"

namespace kerf::inline backend {

/// The values of a kernel's parameters.
class KernelArguments {
 public:
  template <class T>
  KernelArguments& add(const T& value) {
    const std::size_t at = (m_bytes.size() + 15) / 16 * 16;
    m_bytes.resize(at + sizeof(T));
    std::memcpy(m_bytes.data() + at, &value, sizeof(T));
    m_places.push_back(at);
    return *this;
  }
  /// Where each value lies, until one is added.
  std::vector<void*> pointers();
  const std::vector<unsigned char>& bytes() const { return m_bytes; }

 private:
  std::vector<unsigned char> m_bytes;
  std::vector<std::size_t> m_places;
};

class DeviceQueue {
 public:
  explicit DeviceQueue(CudaDriver& driver) : m_driver(driver) {}

  CudaDriver& driver() const { return m_driver; }
  /// RuntimeFailed naming the kernel. No blocks: nothing to do. `shared`: bytes of memory that the launch gives each
  /// block.
  Result<void> launch(void* function, std::int64_t blocks, int threads, KernelArguments& arguments,
                      std::string_view name, int shared = 0);
  Result<void> copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes);
  Result<void> clear(DeviceAddress place, std::int64_t bytes);
  /// A library's call on the stream; `addresses` is what it works on.
  template <class Call>
  Result<void> call(std::initializer_list<DeviceAddress> addresses, Call&& work) {
    note(addresses.begin(), addresses.size() * sizeof(DeviceAddress));
    return m_replays ? Result<void>() : work();
  }

  /// Whether a captured graph stands for what is given from now on.
  void setReplays(bool replays) { m_replays = replays; }
  /// What was given since then has this fingerprint: a graph stands only for what it was captured from.
  void startFingerprint() { m_fingerprint = seed; }
  std::uint64_t fingerprint() const { return m_fingerprint; }

 private:
  static constexpr std::uint64_t seed = 0xcbf29ce484222325u;
  void note(const void* bytes, std::size_t count);

  CudaDriver& m_driver;
  bool m_replays = false;
  std::uint64_t m_fingerprint = seed;
};

}  // namespace kerf::inline backend
