// DeviceMemory: the storages of a run, each with a copy on the device, and which of the two is up to date.
#pragma once

#include <unordered_map>

#include "engine/backend/cuda/device_queue.h"
#include "engine/tensor/value.h"

namespace kerf::inline backend {

/// Where a storage lies in every run: the slot that it is of, and which of the slot's tensors.
struct DeviceHome {
  int slot = -1, item = 0;
  std::uint64_t key() const { return std::uint64_t(std::uint32_t(slot)) << 32 | std::uint32_t(item); }
};

class DeviceMemory {
 public:
  explicit DeviceMemory(DeviceQueue& queue) : m_queue(queue), m_driver(queue.driver()) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Where the storage lies on the device, uploaded if the host has newer bytes.
  Result<DeviceAddress> forReading(const StoragePtr& storage);
  /// The same, for a kernel that may write some of it: the host's bytes are old from now on.
  Result<DeviceAddress> forWriting(const StoragePtr& storage);
  /// A storage that the host has filled gets its place; nothing where it has one.
  Result<void> adopt(const StoragePtr& storage, DeviceHome home);
  /// A storage that kernels fill: nothing is uploaded. Zeros where `clear`.
  Result<void> create(const StoragePtr& storage, DeviceHome home, bool clear);
  /// A storage that lies at this address and holds nothing yet.
  void place(const StoragePtr& storage, DeviceAddress address);
  /// Brings what the value's tensors hold to the host.
  Result<void> toHost(const Value& value);
  /// Whether toHost() would download something.
  bool isNewerOnDevice(const Value& value) const;
  /// The host has written into the value's tensors.
  void hostWrote(const Value& value);
  /// Everything that kernels wrote into storages that somebody else holds too goes to the host.
  Result<void> finish();
  /// Forgets all storages but those in `kept`.
  void forget(const ValueList& kept);
  std::int64_t uploaded() const { return m_uploaded; }
  std::int64_t downloaded() const { return m_downloaded; }

 private:
  struct Copy {
    StoragePtr storage;
    DeviceAddress address = 0;
    bool owned = false;     ///< released when it is forgotten
    bool borrowed = false;  ///< of the arena
    bool hostIsNew = true, deviceIsNew = false;
  };
  struct Place {
    DeviceAddress address = 0;
    std::int64_t bytes = 0;
  };
  Result<Copy*> copyOf(const StoragePtr& storage);
  Result<DeviceAddress> placeOf(DeviceHome home, std::int64_t bytes);
  Result<void> download(Copy& copy);

  DeviceQueue& m_queue;
  CudaDriver& m_driver;
  std::unordered_map<const Storage*, Copy> m_copies;
  std::unordered_map<std::uint64_t, Place> m_homes;  ///< by DeviceHome::key
  std::int64_t m_uploaded = 0, m_downloaded = 0;
};

/// Whether the tensor's elements are all that its storage holds.
inline bool fillsStorage(const Tensor& tensor) { return tensor.byteSize() == tensor.storage()->bytes(); }

/// Calls visit(storage) for every tensor in the value.
template <class Visit>
void forStorages(const Value& value, Visit&& visit) {
  if (value.isTensor() && value.tensor().storage()) visit(value.tensor().storage());
  if (value.isList())
    for (const Value& item : value.list()) forStorages(item, visit);
}

}  // namespace kerf::inline backend
