// DeviceLibrary: kernels of Kerf's own that no graph has: compiled when they are first used, and kept in the object
// cache.
#pragma once

#include <filesystem>
#include <functional>
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
  /// The same walk in fewer dimensions: those of one place go, neighbours that the strides walk as one are one.
  static Result<DeviceShape> merged(const Sizes& sizes, const Sizes& strides);
  /// Whether the elements lie one behind the other.
  bool isRow() const { return dims == 0 || (dims == 1 && strides[0] == 1); }
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
LibraryKernel readKernel();
LibraryKernel checkKernel();

/// Makes the entry `name` of a whole source callable.
using KernelLoader = std::function<Result<void*>(const std::string& source, const std::string& name)>;

class DeviceLibrary {
 public:
  /// NVRTC's code, kept in the folder `cache`.
  DeviceLibrary(DeviceQueue& queue, std::filesystem::path cache);
  DeviceLibrary(DeviceQueue& queue, KernelLoader loader) : m_queue(queue), m_load(std::move(loader)) {}

  /// The entry `name` of `source`, which may use the preamble of generated kernels and DeviceShape as KerfShape.
  Result<void*> kernel(std::string_view source, const std::string& name, const KernelMacros& macros);
  /// The same, launched.
  Result<void> launch(std::string_view source, const std::string& name, const KernelMacros& macros, std::int64_t blocks,
                      int threads, KernelArguments& arguments, int shared = 0);
  /// Blocks of 256 threads for so many elements, one each.
  std::int64_t blocksFor(std::int64_t elements) const;

  /// Reads all of it, so that the caches hold it as it is in memory; at once, whatever the queue captures.
  Result<void> read(DeviceAddress from, std::int64_t bytes);
  /// `from` becomes `to` element by element: tensors of the same sizes and element size.
  Result<void> copy(const Sizes& sizes, DeviceAddress to, const Sizes& toStrides, DeviceAddress from,
                    const Sizes& fromStrides, std::int64_t itemBytes);

 private:
  DeviceQueue& m_queue;
  const KernelLoader m_load;
  std::map<std::string, void*, std::less<>> m_kernels;
};

/// A source as it is compiled: preamble, DeviceShape and macros in front.
std::string librarySource(std::string_view source, const KernelMacros& macros);

}  // namespace kerf::inline backend
