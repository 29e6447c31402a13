#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/tensor/safetensors.h"
#include "engine/tensor/torch_zip.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

/// A file without a name that readers can open by path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : m_file(::memfd_create("kerf_fuzz", MFD_CLOEXEC)) {
    while (m_file >= 0 && !bytes.empty()) {
      const ssize_t written = ::write(m_file, bytes.data(), bytes.size());
      if (written <= 0) break;
      bytes.remove_prefix(std::size_t(written));
    }
  }
  ~MemoryFile() { ::close(m_file); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::filesystem::path path() const { return fmt::format("/proc/self/fd/{}", m_file); }

 private:
  int m_file;
};

/// A folder that is gone when the process ends.
const std::filesystem::path& folder() {
  struct Folder {
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path, ignored); }
    std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("kerf_storages_{}", ::getpid());
    std::error_code ignored;
  };
  static const Folder held;
  return held.path;
}

bool same(const Tensor& one, const Tensor& other) {
  const auto bytes = [](const Tensor& tensor) {
    return std::string_view(
        reinterpret_cast<const char*>(tensor.storage()->data()) + tensor.offset() * itemSize(tensor.dtype()),
        std::size_t(tensor.byteSize()));
  };
  return one.dtype() == other.dtype() && one.sizes() == other.sizes() && bytes(one) == bytes(other);
}

/// What was read is written and reads back the same.
void requireRoundTrip(const SafetensorsFile& file) {
  const auto path = folder() / "again.safetensors";
  const auto written = writeSafetensors(path, file);
  const auto again = written ? readSafetensors(path) : Result<SafetensorsFile>(std::unexpected(written.error()));
  const bool fits = again && again->tensors.size() == file.tensors.size() && again->metadata == file.metadata;
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    if (fits && file.tensors[i].first == again->tensors[i].first &&
        same(file.tensors[i].second, again->tensors[i].second))
      continue;
    std::fprintf(stderr, "export and import changed the tensor '%s'\n", file.tensors[i].first.c_str());
    std::abort();
  }
  if (!fits) std::abort();
}

void requireRoundTrip(const Storage& storage) {
  const auto path = folder() / "again.pt";
  const auto written = writeTorchStorage(path, storage);
  const auto again =
      written ? readTorchStorage(path, storage.bytes()) : Result<StoragePtr>(std::unexpected(written.error()));
  if (again && std::ranges::equal((*again)->view(), storage.view())) return;
  std::fprintf(stderr, "export and import changed a storage\n");
  std::abort();
}

bool checkSafetensors(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto read = readSafetensors(file.path());
  if (!read) return false;
  for (const auto& [name, tensor] : read->tensors) {
    if (tensor.inBounds()) continue;
    std::fprintf(stderr, "the tensor '%s' reaches beyond the file\n", name.c_str());
    std::abort();
  }
  requireRoundTrip(*read);
  return true;
}

}  // namespace

bool checkStorageFile(std::string_view bytes) {
  const auto storage = readTorchStorage(std::as_bytes(std::span(bytes.data(), bytes.size())), -1);
  if (storage && (*storage)->bytes() > std::int64_t(bytes.size()) * 1040) std::abort();  // grew beyond deflate
  if (storage) requireRoundTrip(**storage);
  const bool safetensors = checkSafetensors(bytes);
  return storage.has_value() || safetensors;
}

}  // namespace kerf::fuzz
