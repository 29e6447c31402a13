#include "engine/backend/cuda/device_memory.h"

#include <unordered_set>

namespace kerf::inline backend {
namespace {

template <class Visit>
void forStorages(const Value& value, Visit&& visit) {
  if (value.isTensor() && value.tensor().storage()) visit(value.tensor().storage());
  if (value.isList())
    for (const Value& item : value.list()) forStorages(item, visit);
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [storage, copy] : m_copies)
    if (copy.owned) m_driver.release(copy.address);
  for (const auto& [bytes, address] : m_free) m_driver.release(address);
}

Result<DeviceAddress> DeviceMemory::take(std::int64_t bytes) {
  if (const auto found = m_free.find(bytes); found != m_free.end()) {
    const DeviceAddress address = found->second;
    m_free.erase(found);
    return address;
  }
  return m_driver.allocate(bytes);
}

Result<DeviceMemory::Copy*> DeviceMemory::copyOf(const StoragePtr& storage) {
  const auto found = m_copies.find(storage.get());
  if (found != m_copies.end()) return &found->second;
  KERF_TRY(const DeviceAddress address, take(storage->bytes()));
  return &m_copies.emplace(storage.get(), Copy{storage, address}).first->second;
}

Result<DeviceAddress> DeviceMemory::forReading(const StoragePtr& storage) {
  KERF_TRY(Copy* const copy, copyOf(storage));
  if (!copy->deviceIsNew && storage->bytes() > 0) {
    KERF_CHECK(
        m_driver.check(m_driver.functions().upload(copy->address, storage->data(), std::size_t(storage->bytes())),
                       "uploading to the CUDA device"));
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

Result<void> DeviceMemory::create(const StoragePtr& storage, bool clear) {
  KERF_TRY(Copy* const copy, copyOf(storage));
  copy->deviceIsNew = true;
  if (!clear || storage->bytes() == 0) return {};
  return m_driver.check(m_driver.functions().clear(copy->address, 0, std::size_t(storage->bytes())),
                        "clearing memory of the CUDA device");
}

void DeviceMemory::place(const StoragePtr& storage, DeviceAddress address) {
  m_copies.insert_or_assign(storage.get(), Copy{storage, address, false, true, true});
}

Result<void> DeviceMemory::download(Copy& copy) {
  if (copy.hostIsNew) return {};
  KERF_CHECK(m_driver.check(
      m_driver.functions().download(copy.storage->data(), copy.address, std::size_t(copy.storage->bytes())),
      "downloading from the CUDA device"));
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
    if (copy.owned && copy.storage.use_count() > 1) KERF_CHECK(download(copy));
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
    if (it->second.owned) m_free.emplace(it->second.storage->bytes(), it->second.address);
    it = m_copies.erase(it);
  }
}

}  // namespace kerf::inline backend
