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
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~MemoryFile() { ::close(m_file); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::filesystem::path path() const { return fmt::format("/proc/self/fd/{}", m_file); }

 private:
  int m_file;
};

bool checkSafetensors(std::string_view bytes) {
  const MemoryFile file(bytes);
  const auto read = readSafetensors(file.path());
  if (!read) return false;
  for (const auto& [name, tensor] : read->tensors) {
    if (tensor.inBounds()) continue;
    std::fprintf(stderr, "the tensor '%s' reaches beyond the file\n", name.c_str());
    std::abort();
  }
  return true;
}

}  // namespace

bool checkStorageFile(std::string_view bytes) {
  const auto storage = readTorchStorage(std::as_bytes(std::span(bytes.data(), bytes.size())), -1);
  if (storage && (*storage)->bytes() > static_cast<std::int64_t>(bytes.size()) * 1040)
    std::abort();  // grew beyond deflate
  const bool safetensors = checkSafetensors(bytes);
  return storage.has_value() || safetensors;
}

}  // namespace kerf::fuzz
