// DeviceMemory: the storages of a run, each with a copy on the device, and which of the two is up to date.
#pragma once

#include <unordered_map>

#include "engine/backend/cuda/driver.h"
#include "engine/tensor/value.h"

namespace kerf::inline backend {

class DeviceMemory {
 public:
  explicit DeviceMemory(const CudaDriver& driver) : m_driver(driver) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Where the storage lies on the device, uploaded if the host has newer bytes.
  Result<DeviceAddress> forReading(const StoragePtr& storage);
  /// The same, for a kernel that may write some of it: the host's bytes are old from now on.
  Result<DeviceAddress> forWriting(const StoragePtr& storage);
  /// A storage that kernels fill: nothing is uploaded. Zeros where `clear`.
  Result<void> create(const StoragePtr& storage, bool clear);
  /// A storage that lies at this address and holds nothing yet.
  void place(const StoragePtr& storage, DeviceAddress address);
  /// Brings what the value's tensors hold to the host.
  Result<void> toHost(const Value& value);
  /// The host has written into the value's tensors.
  void hostWrote(const Value& value);
  /// Everything that kernels wrote into storages that somebody else holds too goes to the host.
  Result<void> finish();
  /// Forgets all storages but those in `kept`; memory that was allocated for the others is used again.
  void forget(const ValueList& kept);
  std::int64_t uploaded() const { return m_uploaded; }
  std::int64_t downloaded() const { return m_downloaded; }

 private:
  struct Copy {
    StoragePtr storage;
    DeviceAddress address = 0;
    bool owned = true, hostIsNew = true, deviceIsNew = false;
  };
  Result<Copy*> copyOf(const StoragePtr& storage);
  Result<DeviceAddress> take(std::int64_t bytes);
  Result<void> download(Copy& copy);

  const CudaDriver& m_driver;
  std::unordered_map<const Storage*, Copy> m_copies;
  std::unordered_multimap<std::int64_t, DeviceAddress> m_free;  ///< by bytes
  std::int64_t m_uploaded = 0, m_downloaded = 0;
};

}  // namespace kerf::inline backend
