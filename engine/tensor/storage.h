// Storage: untyped bytes that tensors look at; owned, or borrowed from something kept alive (a mapped file).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/support/result.h"

namespace kerf::inline tensor {

class Storage {
 public:
  /// Zero-filled, 64-byte aligned. Fails with TooLarge when the process cannot have that much.
  static Result<std::shared_ptr<Storage>> allocate(std::int64_t bytes);
  /// Looks at memory that `owner` keeps alive. Read-only memory must never be written through data().
  static std::shared_ptr<Storage> borrow(std::byte* data, std::int64_t bytes, std::shared_ptr<const void> owner);

  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return m_data; }
  std::int64_t bytes() const { return m_bytes; }
  std::span<const std::byte> view() const { return {m_data, std::size_t(m_bytes)}; }

 private:
  Storage(std::byte* data, std::int64_t bytes, std::shared_ptr<const void> owner)
      : m_data(data), m_bytes(bytes), m_owner(std::move(owner)) {}

  std::byte* m_data;
  std::int64_t m_bytes;
  std::shared_ptr<const void> m_owner;  ///< null: this object allocated m_data itself
};

/// Most bytes that all live storages together may take: the machine's memory, or less where a control group says so.
std::int64_t storageLimit();
/// Bytes that live, owned storages take now.
std::int64_t liveStorageBytes();

using StoragePtr = std::shared_ptr<Storage>;

}  // namespace kerf::inline tensor
