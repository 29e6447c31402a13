// Memory of the CUDA device that a client has allocated, seen by this process too.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::graph_server {

class DeviceRegion {
 public:
  /// `handle`: the 64 bytes of cuIpcGetMemHandle, as hexadecimal digits. Environment where there is no driver or it
  /// refuses, BadInput for another text.
  static Result<std::shared_ptr<DeviceRegion>> open(std::string_view handle, std::int64_t bytes);
  ~DeviceRegion();
  DeviceRegion(const DeviceRegion&) = delete;
  DeviceRegion& operator=(const DeviceRegion&) = delete;

  std::uint64_t address() const { return m_address; }
  std::int64_t bytes() const { return m_bytes; }

 private:
  DeviceRegion(std::uint64_t address, std::int64_t bytes) : m_address(address), m_bytes(bytes) {}

  std::uint64_t m_address;
  std::int64_t m_bytes;
};

}  // namespace kerf::graph_server
