// CudaOnHost: a generated CUDA kernel run on the CPU, its threads as coroutines that meet at every barrier and shuffle.
// It shows what a kernel computes where there is no GPU, and that threads wait for each other where they must: between
// two barriers they run one after the other.
#pragma once

#include <dlfcn.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_source.h"
#include "engine/codegen_cuda/scalar_text.h"
#include "engine/process/program.h"
#include "engine/process/temporary_folder.h"

namespace kerf::testing_support {

/// What CUDA C++ has and C++ has not. Assembly is left out: kernels of 16-bit floats compute nothing here but bfloat16's
/// conversions, which have a form without it.
inline constexpr std::string_view cudaOnHostPrelude = R"cpp(
#include <math.h>
#include <setjmp.h>
#include <string.h>
#include <ucontext.h>
#include <vector>
#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define asm(...)
struct KerfPlace { unsigned int x; };
static KerfPlace threadIdx, blockIdx, blockDim, gridDim;
struct KerfThread { ucontext_t start; jmp_buf at; bool begun, done; };
static jmp_buf kerfScheduler;  // jumps ask nothing of the kernel, as switching contexts does
static std::vector<KerfThread> kerfThreads;  // of a block, or of all blocks of a cluster
static unsigned int kerfNow;                 // which of them runs
static unsigned long long kerfWords[1024];
static void (*kerfBody)();
static inline void __syncthreads() { if (_setjmp(kerfThreads[kerfNow].at) == 0) _longjmp(kerfScheduler, 1); }
template <int BLOCKS> struct KerfMeeting {};
template <int BLOCKS> static void kerf_begin(KerfMeeting<BLOCKS>&) {}
template <int THREADS, int BLOCKS, class T, class F> static T kerf_cluster(T value, F combine, KerfMeeting<BLOCKS>&, int&) {
  static T all[THREADS * BLOCKS];
  all[kerfNow] = value;
  __syncthreads();
  T sum = all[0];
  for (int i = 1; i < THREADS * BLOCKS; ++i) sum = combine(sum, all[i]);
  __syncthreads();
  return sum;
}
static inline void __syncwarp() { __syncthreads(); }
static inline void __threadfence() {}
template <class T> static T __shfl_xor_sync(unsigned int, T value, int distance) {
  const unsigned int own = threadIdx.x;
  memcpy(&kerfWords[own], &value, sizeof value);
  __syncthreads();
  T other;
  memcpy(&other, &kerfWords[own ^ distance], sizeof other);
  __syncthreads();
  return other;
}
template <class T> static T __shfl_sync(unsigned int, T value, int lane) {
  const unsigned int own = threadIdx.x;
  memcpy(&kerfWords[own], &value, sizeof value);
  __syncthreads();
  T other;
  memcpy(&other, &kerfWords[own / 32 * 32 + lane], sizeof other);
  __syncthreads();
  return other;
}
template <class T> static T __shfl_up_sync(unsigned int, T value, int distance) {
  const unsigned int own = threadIdx.x;
  memcpy(&kerfWords[own], &value, sizeof value);
  __syncthreads();
  T other = value;
  if (own % 32 >= (unsigned int)distance) memcpy(&other, &kerfWords[own - distance], sizeof other);
  __syncthreads();
  return other;
}
static inline unsigned int __match_any_sync(unsigned int, unsigned int value) {
  const unsigned int own = threadIdx.x;
  kerfWords[own] = value;
  __syncthreads();
  unsigned int same = 0;
  for (unsigned int lane = 0; lane < 32; ++lane) same |= (unsigned int)(kerfWords[own / 32 * 32 + lane] == value) << lane;
  __syncthreads();
  return same;
}
static inline int __popc(unsigned int bits) { return __builtin_popcount(bits); }
template <class T> static T atomicExch(T* place, T value) { const T old = *place; *place = value; return old; }
template <class T> static T atomicCAS(T* place, T expected, T value) { const T old = *place; if (old == expected) *place = value; return old; }
static inline unsigned int atomicAdd(unsigned int* place, unsigned int value) { const unsigned int old = *place; *place += value; return old; }
static inline unsigned long long atomicAdd(unsigned long long* place, unsigned long long value) { const unsigned long long old = *place; *place += value; return old; }
static inline unsigned long long atomicMin(unsigned long long* place, unsigned long long value) { const unsigned long long old = *place; if (value < old) *place = value; return old; }
static inline unsigned int __float_as_uint(float value) { unsigned int bits; memcpy(&bits, &value, 4); return bits; }
static inline float __int_as_float(int bits) { float value; memcpy(&value, &bits, 4); return value; }
static inline float __uint_as_float(unsigned int bits) { float value; memcpy(&value, &bits, 4); return value; }
static inline long long __double_as_longlong(double value) { long long bits; memcpy(&bits, &value, 8); return bits; }
static inline double __longlong_as_double(long long bits) { double value; memcpy(&value, &bits, 8); return value; }
static void kerfRun() {
  kerfBody();
  kerfThreads[kerfNow].done = true;
  _longjmp(kerfScheduler, 1);
}
static void __attribute__((noinline)) kerfStep(KerfThread& thread) {
  if (_setjmp(kerfScheduler) != 0) return;
  if (thread.begun) _longjmp(thread.at, 1);
  thread.begun = true;
  setcontext(&thread.start);
}
static void kerfLaunch(unsigned int blocks, unsigned int threads, void (*body)(), unsigned int cluster = 1) {
  const size_t stack = 128 << 10;
  const unsigned int together = threads * cluster;
  static std::vector<char> stacks;
  if (stacks.size() < stack * together) stacks.resize(stack * together);
  kerfBody = body, gridDim.x = blocks, blockDim.x = threads;
  for (unsigned int first = 0; first < blocks; first += cluster) {
    kerfThreads.assign(together, {});
    for (unsigned int t = 0; t < together; ++t) {
      ucontext_t& start = kerfThreads[t].start;
      getcontext(&start);
      start.uc_stack.ss_sp = &stacks[t * stack], start.uc_stack.ss_size = stack;
      makecontext(&start, kerfRun, 0);
    }
    for (bool any = true; any;) {
      any = false;
      for (kerfNow = 0; kerfNow < together; ++kerfNow) {
        if (kerfThreads[kerfNow].done) continue;
        threadIdx.x = kerfNow % threads, blockIdx.x = first + kerfNow / threads;
        kerfStep(kerfThreads[kerfNow]);
        any = true;
      }
    }
  }
}
)cpp";

inline std::string cudaOnHostCall(const CudaKernel& kernel, const LoopKernel& loops) {
  std::string arguments;
  for (std::size_t b = 0; b < loops.buffers.size(); ++b)
    arguments += fmt::format("{}({}*)kerfBuffers[{}]", b == 0 ? "" : ", ", memoryType(loops.buffers[b].dtype), b);
  if (kernel.shape.splits > 1) arguments += ", (unsigned int*)kerfCounters, (unsigned char*)kerfParts";
  return fmt::format("{}({});", kernel.name, arguments);
}

inline std::string cudaOnHostEntry(int threads, const std::string& call, int cluster) {
  return fmt::format(R"cpp(
static void* const* kerfBuffers;
static void *kerfCounters, *kerfParts;
extern "C" void kerf_host(void* const* buffers, void* counters, void* parts, int blocks) {{
  kerfBuffers = buffers, kerfCounters = counters, kerfParts = parts;
  kerfLaunch(blocks, {}, [] {{ {} }}, {});
}}
)cpp",
                     threads, call, cluster);
}

class CudaOnHost {
 public:
  /// By the compiler that made the test.
  static Result<CudaOnHost> compile(const CudaKernel& kernel, const LoopKernel& loops);
  /// A kernel of any source; `call` is C++ that calls it on `kerfBuffers`.
  static Result<CudaOnHost> compile(const std::string& source, int threads, const std::string& call, int cluster = 1);
  CudaOnHost(CudaOnHost&& other) noexcept;
  ~CudaOnHost();

  /// `buffers`: where each buffer of the kernel lies. Counters and parts of shared reductions stay from call to call, as
  /// they do on a device.
  void run(const std::vector<void*>& buffers, int blocks);

 private:
  CudaOnHost() = default;
  using Entry = void (*)(void* const* buffers, void* counters, void* parts, int blocks);
  void* m_library = nullptr;
  Entry m_entry = nullptr;
  std::vector<unsigned char> m_counters, m_parts;
};

inline Result<CudaOnHost> CudaOnHost::compile(const std::string& text, int threads, const std::string& call, int cluster) {
  KERF_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  const auto source = folder.path() / "kernel.cpp", library = folder.path() / "kernel.so";
  std::ofstream(source) << cudaOnHostPrelude << text << cudaOnHostEntry(threads, call, cluster);
  KERF_TRY(const auto ran,
           runProgram({KERF_CXX, "-std=c++20", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-fPIC",
                       "-shared", source.string(), "-o", library.string()},
                      "", std::chrono::seconds(120)));
  if (ran.status != 0) return fail(ErrorCode::CompileFailed, "{}\n{}", ran.output, ran.errors);
  CudaOnHost result;
  result.m_library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (result.m_library == nullptr) return fail(ErrorCode::Internal, "{}", dlerror());
  result.m_entry = reinterpret_cast<Entry>(dlsym(result.m_library, "kerf_host"));
  return result;
}

inline Result<CudaOnHost> CudaOnHost::compile(const CudaKernel& kernel, const LoopKernel& loops) {
  KERF_TRY(CudaOnHost result, compile(kernel.source, kernel.shape.threads, cudaOnHostCall(kernel, loops), kernel.shape.cluster));
  result.m_counters.assign(std::size_t(kernel.shape.countersBytes()), 0);
  result.m_parts.assign(std::size_t(kernel.shape.partsBytes()), 0xee);
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

inline void CudaOnHost::run(const std::vector<void*>& buffers, int blocks) {
  m_entry(buffers.data(), m_counters.data(), m_parts.data(), blocks);
}

}  // namespace kerf::testing_support
