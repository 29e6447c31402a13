#include "engine/backend/cuda/device_memory.h"

#include <unordered_set>

#include "engine/backend/cuda/resident_call.h"

namespace kerf::inline backend {

DeviceMemory::~DeviceMemory() {
  for (const auto& [storage, copy] : m_copies)
    if (copy.owned) m_driver.release(copy.address);
  for (const auto& [key, place] : m_homes) m_driver.release(place.address);
}

Result<DeviceAddress> DeviceMemory::placeOf(DeviceHome home, std::int64_t bytes) {
  Place& place = m_homes[home.key()];
  if (place.address != 0 && place.bytes >= bytes) return place.address;
  m_driver.release(place.address);
  place = {};
  KERF_TRY(place.address, m_driver.allocate(bytes));
  place.bytes = bytes;
  return place.address;
}

Result<DeviceMemory::Copy*> DeviceMemory::copyOf(const StoragePtr& storage) {
  const auto found = m_copies.find(storage.get());
  if (found != m_copies.end()) return &found->second;
  KERF_TRY(const DeviceAddress address, m_driver.allocate(storage->bytes()));
  return &m_copies.emplace(storage.get(), Copy{.storage = storage, .address = address, .owned = true}).first->second;
}

Result<void> DeviceMemory::adopt(const StoragePtr& storage, DeviceHome home) {
  if (m_copies.contains(storage.get())) return {};
  const ResidentCall* const call = ResidentCall::current();
  if (const auto given = call != nullptr ? call->addressOf(storage) : std::nullopt) {
    place(storage, *given);
    m_copies.at(storage.get()).hostIsNew = false;
    return {};
  }
  KERF_TRY(const DeviceAddress address, placeOf(home, storage->bytes()));
  m_copies.emplace(storage.get(), Copy{.storage = storage, .address = address});
  return {};
}

Result<DeviceAddress> DeviceMemory::forReading(const StoragePtr& storage) {
  KERF_TRY(Copy* const copy, copyOf(storage));
  if (!copy->deviceIsNew) {
    KERF_CHECK(m_driver.upload(copy->address, storage->data(), storage->bytes()));
    m_uploaded += storage->bytes();
  }
  copy->deviceIsNew = true;
  return copy->address;
}

Result<DeviceAddress> DeviceMemory::forWriting(const StoragePtr& storage) {
  KERF_TRY(const DeviceAddress address, forReading(storage));
  m_copies.at(storage.get()).hostIsNew = false;
  return address;
}

Result<void> DeviceMemory::create(const StoragePtr& storage, DeviceHome home, bool clear) {
  KERF_CHECK(adopt(storage, home));
  Copy& copy = m_copies.at(storage.get());
  copy.deviceIsNew = true;
  return clear ? m_queue.clear(copy.address, storage->bytes()) : Result<void>();
}

void DeviceMemory::place(const StoragePtr& storage, DeviceAddress address) {
  m_copies.insert_or_assign(storage.get(),
                            Copy{.storage = storage, .address = address, .borrowed = true, .deviceIsNew = true});
}

Result<void> DeviceMemory::download(Copy& copy) {
  if (copy.hostIsNew) return {};
  KERF_CHECK(m_driver.download(copy.storage->data(), copy.address, copy.storage->bytes()));
  m_downloaded += copy.storage->bytes();
  copy.hostIsNew = true;
  return {};
}

Result<void> DeviceMemory::toHost(const Value& value) {
  Result<void> done;
  forStorages(value, [&](const StoragePtr& storage) {
    const auto found = m_copies.find(storage.get());
    if (done && found != m_copies.end()) done = download(found->second);
  });
  return done;
}

bool DeviceMemory::isNewerOnDevice(const Value& value) const {
  bool newer = false;
  forStorages(value, [&](const StoragePtr& storage) {
    const auto found = m_copies.find(storage.get());
    newer = newer || (found != m_copies.end() && !found->second.hostIsNew);
  });
  return newer;
}

void DeviceMemory::hostWrote(const Value& value) {
  forStorages(value, [&](const StoragePtr& storage) {
    const auto found = m_copies.find(storage.get());
    if (found == m_copies.end()) return;
    found->second.hostIsNew = true;
    found->second.deviceIsNew = false;
  });
}

Result<void> DeviceMemory::finish() {
  for (auto& [storage, copy] : m_copies)
    if (!copy.borrowed && copy.storage.use_count() > 1) KERF_CHECK(download(copy));
  return {};
}

void DeviceMemory::forget(const ValueList& kept) {
  std::unordered_set<const Storage*> stays;
  for (const Value& value : kept) forStorages(value, [&](const StoragePtr& storage) { stays.insert(storage.get()); });
  for (auto it = m_copies.begin(); it != m_copies.end();) {
    if (stays.contains(it->first)) {
      ++it;
      continue;
    }
    if (it->second.owned) m_driver.release(it->second.address);
    it = m_copies.erase(it);
  }
}

}  // namespace kerf::inline backend
