// CudaOnHost: a generated CUDA kernel run on the CPU, its threads as coroutines that meet at every barrier and shuffle.
// It shows what a kernel computes where there is no GPU, and that threads wait for each other where they must: every
// launch is done with the threads in one order and in the reverse of it, which gives the same.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_source.h"
#include "engine/codegen_cuda/scalar_text.h"
#include "tests/support/clusters_on_host.h"
#include "tests/support/host_library.h"
#include "tests/support/threads_on_host.h"
#include "tests/support/warps_on_host.h"

namespace kerf::testing_support {

/// What CUDA C++ has and C++ has not. Assembly is left out: kernels of 16-bit floats compute nothing here but
/// bfloat16's conversions, which have a form without it.
inline std::string cudaOnHostPrelude() {
  return std::string(threadsOnHost) + std::string(warpsOnHost) + std::string(clustersOnHost);
}

/// Memory that a kernel reads or writes.
struct HostMemory {
  HostMemory(void* where, std::size_t count) : place(where), bytes(count) {}
  /// That of a vector or a span.
  template <std::ranges::contiguous_range Values>
  HostMemory(Values&& values)
      : place((void*)std::data(values)), bytes(std::size(values) * sizeof(*std::data(values))) {}
  std::span<unsigned char> all() const { return {static_cast<unsigned char*>(place), bytes}; }
  void* place;
  std::size_t bytes;
};

using HostBytes = std::vector<std::vector<unsigned char>>;
inline HostBytes copied(const std::vector<HostMemory>& memory) {
  HostBytes bytes;
  for (const HostMemory& m : memory) bytes.emplace_back(m.all().begin(), m.all().end());
  return bytes;
}

/// `launch` says what went wrong. What it leaves in `memory` does not depend on the order in which its threads run.
inline void launchBothWays(const std::vector<HostMemory>& memory,
                           const std::function<const char*(bool backwards)>& launch) {
  const HostBytes before = copied(memory);
  const auto expectFine = [](const char* trouble) { EXPECT_EQ(trouble, nullptr) << trouble; };
  expectFine(launch(true));
  const HostBytes after = copied(memory);
  for (std::size_t m = 0; m < memory.size(); ++m) std::ranges::copy(before[m], memory[m].all().begin());
  expectFine(launch(false));
  for (std::size_t m = 0; m < memory.size(); ++m)
    EXPECT_TRUE(std::ranges::equal(memory[m].all(), after[m])) << "buffer " << m << " depends on the order of threads";
}

inline std::string cudaOnHostCall(const CudaKernel& kernel, const LoopKernel& loops) {
  std::string arguments;
  for (std::size_t b = 0; b < loops.buffers.size(); ++b)
    arguments += fmt::format("{}({}*)kerfBuffers[{}]", b == 0 ? "" : ", ", memoryType(loops.buffers[b].dtype), b);
  if (kernel.shape.splits > 1) arguments += ", (unsigned int*)kerfCounters, (unsigned char*)kerfParts";
  return fmt::format("{}({});", kernel.name, arguments);
}

inline std::string cudaOnHostEntry(int threads, const std::string& call, int cluster) {
  return fmt::format(R"source(
static void* const* kerfBuffers;
static void *kerfCounters, *kerfParts;
extern "C" __attribute__((visibility("default")))
const char* kerf_host(void* const* buffers, void* counters, void* parts, int blocks, bool backwards) {{
  kerfBuffers = buffers, kerfCounters = counters, kerfParts = parts;
  return kerfLaunch({{(unsigned int)blocks, {}, {}, 0, backwards, [] {{ {} }}}});
}}
)source",
                     threads, cluster, call);
}

class CudaOnHost {
 public:
  /// By the compiler that made the test.
  static Result<CudaOnHost> compile(const CudaKernel& kernel, const LoopKernel& loops);
  /// A kernel of any source; `call` is C++ that calls it on `kerfBuffers`.
  static Result<CudaOnHost> compile(const std::string& source, int threads, const std::string& call, int cluster = 1);
  CudaOnHost(CudaOnHost&& other) noexcept;
  ~CudaOnHost();

  /// `buffers`: where each buffer of the kernel lies. Counters and parts of shared reductions stay from call to call,
  /// as they do on a device.
  void run(std::vector<HostMemory> buffers, int blocks);

 private:
  CudaOnHost() = default;
  using Entry = const char* (*)(void* const* buffers, void* counters, void* parts, int blocks, bool backwards);
  void* m_library = nullptr;
  Entry m_entry = nullptr;
  std::vector<unsigned char> m_counters, m_parts;
};

inline Result<CudaOnHost> CudaOnHost::compile(const std::string& text, int threads, const std::string& call,
                                              int cluster) {
  CudaOnHost result;
  KERF_TRY(result.m_library, openedLibrary(cudaOnHostPrelude(), text + cudaOnHostEntry(threads, call, cluster)));
  result.m_entry = reinterpret_cast<Entry>(dlsym(result.m_library, "kerf_host"));
  return result;
}

inline Result<CudaOnHost> CudaOnHost::compile(const CudaKernel& kernel, const LoopKernel& loops) {
  const KernelShape& shape = kernel.shape;
  KERF_TRY(CudaOnHost result, compile(kernel.source, shape.threads, cudaOnHostCall(kernel, loops), shape.cluster));
  result.m_counters.assign(std::size_t(shape.countersBytes()), 0);
  result.m_parts.assign(std::size_t(shape.partsBytes()), 0xee);
  return result;
}

inline CudaOnHost::CudaOnHost(CudaOnHost&& other) noexcept
    : m_library(std::exchange(other.m_library, nullptr)),
      m_entry(other.m_entry),
      m_counters(std::move(other.m_counters)),
      m_parts(std::move(other.m_parts)) {}

inline CudaOnHost::~CudaOnHost() {
  if (m_library != nullptr) dlclose(m_library);
}

inline void CudaOnHost::run(std::vector<HostMemory> buffers, int blocks) {
  std::vector<void*> places;
  for (const HostMemory& buffer : buffers) places.push_back(buffer.place);
  buffers.emplace_back(m_counters);
  buffers.emplace_back(m_parts);
  launchBothWays(buffers, [&](bool backwards) {
    return m_entry(places.data(), m_counters.data(), m_parts.data(), blocks, backwards);
  });
}

}  // namespace kerf::testing_support
