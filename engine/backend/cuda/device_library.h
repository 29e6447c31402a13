// DeviceLibrary: kernels of Kerf's own that no graph has: compiled when they are first used, and kept in the object
// cache.
#pragma once

#include <filesystem>
#include <map>

#include "engine/backend/cuda/device_queue.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline backend {

/// A tensor's dimensions as kernels of the library take them.
struct DeviceShape {
  static constexpr std::size_t most = 8;
  long long dims = 0, sizes[most] = {}, strides[most] = {};
  /// TooLarge for more dimensions.
  static Result<DeviceShape> of(const Sizes& sizes, const Sizes& strides);
};

/// What a source is compiled with: {"T", "float"} → #define T float.
using KernelMacros = std::vector<std::pair<std::string, std::string>>;

/// A kernel of the library as some call needs it.
struct LibraryKernel {
  std::string_view source;
  std::string name;
  KernelMacros macros;
};
/// Those of DeviceLibrary and DeviceChecks themselves.
LibraryKernel copyKernel();
LibraryKernel checkKernel();

class DeviceLibrary {
 public:
  DeviceLibrary(DeviceQueue& queue, std::filesystem::path cache) : m_queue(queue), m_cache(std::move(cache)) {}

  /// The entry `name` of `source`, which may use the preamble of generated kernels and DeviceShape as KerfShape.
  Result<void*> kernel(std::string_view source, const std::string& name, const KernelMacros& macros);
  /// The same, launched.
  Result<void> launch(std::string_view source, const std::string& name, const KernelMacros& macros, std::int64_t blocks,
                      int threads, KernelArguments& arguments);
  /// Blocks of 256 threads for so many elements, one each.
  std::int64_t blocksFor(std::int64_t elements) const;

  /// `from` becomes `to` element by element: tensors of the same sizes and element size.
  Result<void> copy(const Sizes& sizes, DeviceAddress to, const Sizes& toStrides, DeviceAddress from,
                    const Sizes& fromStrides, std::int64_t itemBytes);

 private:
  DeviceQueue& m_queue;
  const std::filesystem::path m_cache;
  std::map<std::string, void*, std::less<>> m_kernels;
};

/// A source as it is compiled: preamble, DeviceShape and macros in front.
std::string librarySource(std::string_view source, const KernelMacros& macros);

}  // namespace kerf::inline backend
