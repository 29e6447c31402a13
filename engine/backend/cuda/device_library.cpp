#include "engine/backend/cuda/device_library.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/backend/cuda/cuda_code.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

constexpr int threadsPerBlock = 256;
constexpr std::int64_t blocksPerProcessor = 32;

constexpr std::string_view shapeSource = R"cuda(
struct KerfShape { long long dims, sizes[8], strides[8]; };

// Where the element of this row-major position lies. Divisions of 32 bits take a fraction of the time.
__device__ __forceinline__ long long kerf_place(const KerfShape& shape, long long position) {
  long long place = 0;
  int d = (int)shape.dims - 1;
  for (; d > 0; --d) {
    const long long size = shape.sizes[d];
    const long long left = (position | size) >> 32 == 0 ? (long long)((unsigned int)position / (unsigned int)size) : position / size;
    place += (position - left * size) * shape.strides[d];
    position = left;
  }
  return d == 0 ? place + position * shape.strides[0] : 0;
}
)cuda";

constexpr std::string_view copySource = R"cuda(
extern "C" __global__ void kerf_copy(T* to, const T* from, KerfShape out, KerfShape in, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    to[kerf_place(out, i)] = from[kerf_place(in, i)];
}
)cuda";

/// No sum of zeros is 1: nothing is written, which the compiler cannot know.
constexpr std::string_view readSource = R"cuda(
extern "C" __global__ void kerf_read(ulonglong2* from, long long count) {
  unsigned long long sum = 0;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) sum += from[i].x + from[i].y;
  if (sum == 1) from->x = sum;
}
)cuda";

std::string_view wordOf(std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned int";
    case 8:
      return "unsigned long long";
    default:
      return "ulonglong2";
  }
}

}  // namespace

LibraryKernel copyKernel() { return {copySource, "kerf_copy", {{"T", "unsigned int"}}}; }

LibraryKernel readKernel() { return {readSource, "kerf_read", {}}; }

Result<DeviceShape> DeviceShape::of(const Sizes& sizes, const Sizes& strides) {
  if (sizes.size() > most) return fail(ErrorCode::TooLarge, "a tensor of {} dimensions", sizes.size());
  DeviceShape shape;
  shape.dims = (long long)(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) shape.sizes[d] = sizes[d], shape.strides[d] = strides[d];
  return shape;
}

Result<DeviceShape> DeviceShape::merged(const Sizes& sizes, const Sizes& strides) {
  Sizes left, steps;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const bool joins = !left.empty() && steps.back() == sizes[d] * strides[d];
    if (!joins) left.push_back(1), steps.push_back(0);
    left.back() *= sizes[d], steps.back() = strides[d];
  }
  return of(left, steps);
}

std::string librarySource(std::string_view source, const KernelMacros& macros) {
  std::string text(preamble());
  text += shapeSource;
  for (const auto& [name, value] : macros) text += fmt::format("#define {} {}\n", name, value);
  return text + std::string(source);
}

DeviceLibrary::DeviceLibrary(DeviceQueue& queue, std::filesystem::path cache)
    : DeviceLibrary(
          queue,
          [&queue, cache = std::move(cache)](const std::string& source, const std::string& name) -> Result<void*> {
            CudaDriver& driver = queue.driver();
            KERF_TRY(const std::string cubin, compiledCubin(source, driver.architecture(), cache));
            void *module = nullptr, *function = nullptr;
            const std::string doing = fmt::format("loading kernel {}", name);
            KERF_CHECK(driver.check(driver.functions().loadModule(&module, cubin.data()), doing));
            KERF_CHECK(driver.check(driver.functions().function(&function, module, name.c_str()), doing));
            return function;
          }) {}

Result<void*> DeviceLibrary::kernel(std::string_view source, const std::string& name, const KernelMacros& macros) {
  std::string key = name;
  for (const auto& [macro, value] : macros) key += fmt::format(" {}={}", macro, value);
  if (const auto known = m_kernels.find(key); known != m_kernels.end()) return known->second;
  KERF_TRY(void* const function, m_load(librarySource(source, macros), name));
  m_kernels.emplace(std::move(key), function);
  return function;
}

Result<void> DeviceLibrary::launch(std::string_view source, const std::string& name, const KernelMacros& macros,
                                   std::int64_t blocks, int threads, KernelArguments& arguments, int shared) {
  KERF_TRY(void* const function, kernel(source, name, macros));
  return m_queue.launch(function, blocks, threads, arguments, name, shared);
}

std::int64_t DeviceLibrary::blocksFor(std::int64_t elements) const {
  return std::min((elements + threadsPerBlock - 1) / threadsPerBlock,
                  m_queue.driver().processors() * blocksPerProcessor);
}

Result<void> DeviceLibrary::read(DeviceAddress from, std::int64_t bytes) {
  KERF_TRY(void* const function, kernel(readSource, "kerf_read", {}));
  const CudaDriver& driver = m_queue.driver();
  long long count = bytes / 16;
  void* arguments[] = {&from, &count};
  return driver.check(driver.functions().launch(function, unsigned(blocksFor(count)), 1, 1, unsigned(threadsPerBlock),
                                                1, 1, 0, driver.stream(), arguments, nullptr),
                      "reading memory of the CUDA device");
}

Result<void> DeviceLibrary::copy(const Sizes& sizes, DeviceAddress to, const Sizes& toStrides, DeviceAddress from,
                                 const Sizes& fromStrides, std::int64_t itemBytes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  if (count == 0) return {};
  const auto dense = [&](const Sizes& strides) {
    std::int64_t expected = 1;
    for (std::size_t d = sizes.size(); d-- > 0; expected *= sizes[d])
      if (sizes[d] != 1 && strides[d] != expected) return false;
    return true;
  };
  if (dense(toStrides) && dense(fromStrides)) return m_queue.copy(to, from, count * itemBytes);
  KERF_TRY(const DeviceShape out, DeviceShape::of(sizes, toStrides));
  KERF_TRY(const DeviceShape in, DeviceShape::of(sizes, fromStrides));
  KernelArguments arguments;
  arguments.add(to).add(from).add(out).add(in).add(count);
  return launch(copySource, "kerf_copy", {{"T", std::string(wordOf(itemBytes))}}, blocksFor(count), threadsPerBlock,
                arguments);
}

}  // namespace kerf::inline backend
