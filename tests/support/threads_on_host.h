// What runs the threads of a CUDA kernel on the CPU: each is a coroutine, and a warp runs until all of its threads wait
// for more than the warp, then the next one does. So what a warp reads of another one without a barrier of the block
// between is seen to be missing, in the order of the warps or in the reverse of it.
#pragma once

#include <string_view>

namespace kerf::testing_support {

/// Text for kernels' sources. What is __shared__ is a thread's in the sense of C++: all of it lies in one place, where
/// the memory of the block that runs is put.
inline constexpr std::string_view threadsOnHost = R"source(
#include <link.h>
#include <math.h>
#include <setjmp.h>
#include <string.h>
#include <ucontext.h>
#include <utility>
#include <vector>
#define KERF_ON_HOST
#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define asm(...)
#define KERF_DYNAMIC_SHARED(name) unsigned char* const name = kerfDynamic.data()
struct KerfPlace { unsigned int x; };
static KerfPlace threadIdx, blockIdx, blockDim, gridDim;
enum KerfWait { kerfNothing, kerfWarp, kerfMessage, kerfBlock, kerfCluster };
struct KerfCopy { void* to; unsigned char bytes[16]; };
struct KerfThread {
  jmp_buf at;
  bool begun, done;
  KerfWait waits;
  std::vector<KerfCopy> copies;  // on their way to shared memory
};
struct KerfLaunch { unsigned int blocks, threads, cluster, shared; bool backwards; void (*body)(); };
static KerfLaunch kerfLaunched;
static jmp_buf kerfScheduler;  // jumps ask nothing of the kernel, as switching contexts does
static std::vector<KerfThread> kerfThreads;  // of all blocks of a cluster
static unsigned int kerfNow;                 // which of them runs
static const char* kerfTrouble;              // what went wrong first
static void kerfFail(const char* what) { if (kerfTrouble == nullptr) kerfTrouble = what; }
static void kerfWaitFor(KerfWait what) {
  kerfThreads[kerfNow].waits = what;
  if (_setjmp(kerfThreads[kerfNow].at) == 0) _longjmp(kerfScheduler, 1);
}
static inline void __syncthreads() { kerfWaitFor(kerfBlock); }
static inline void __syncwarp() { kerfWaitFor(kerfWarp); }

typedef unsigned long long KerfShared;  // where something lies in it
static inline KerfShared kerf_shared(const void* place) { return (KerfShared)place; }
static const size_t kerfGuard = 1024;  // bytes behind what a kernel asked for
static std::vector<unsigned char> kerfDynamic;
static thread_local volatile unsigned char kerfMark;  // lies among what is shared
struct KerfMemory { unsigned char* begin; size_t bytes; };
static int kerfFindShared(dl_phdr_info* library, size_t, void* found) {
  unsigned char* const begin = (unsigned char*)library->dlpi_tls_data;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_TLS || begin == nullptr || &kerfMark < begin || &kerfMark >= begin + part.p_memsz) continue;
    *(KerfMemory*)found = {begin, part.p_memsz};
    return 1;
  }
  return 0;
}
static KerfMemory kerfShared;
static std::vector<std::vector<unsigned char>> kerfAside;  // each block's, while another one runs
static unsigned int kerfInside;                            // whose is in its place
static void kerfEnter(unsigned int block) {
  if (block == kerfInside) return;
  memcpy(kerfAside[kerfInside].data(), kerfShared.begin, kerfShared.bytes);
  memcpy(kerfShared.begin, kerfAside[block].data(), kerfShared.bytes);
  kerfInside = block;
}
static void kerfClearShared() {
  memset(kerfShared.begin, 0xee, kerfShared.bytes);
  kerfAside.assign(kerfLaunched.cluster, std::vector<unsigned char>(kerfShared.bytes, 0xee));
  kerfInside = 0;
  kerfDynamic.assign(kerfLaunched.shared + kerfGuard, 0xee);
}
static void kerfCheckShared() {
  for (size_t i = 0; i < kerfGuard; ++i)
    if (kerfDynamic[kerfLaunched.shared + i] != 0xee) kerfFail("more shared memory is written than was asked for");
}

struct KerfStack { alignas(16) char bytes[128 << 10]; KerfStack() {} };  // takes no memory before it is used
static std::vector<KerfStack> kerfStacks;
// A thread that has ended is that of the next block: contexts are made once.
static void kerfRun() {
  for (;;) {
    kerfLaunched.body();
    kerfThreads[kerfNow].done = true;
    kerfWaitFor(kerfNothing);
  }
}
static void __attribute__((noinline)) kerfStep(KerfThread& thread) {
  if (_setjmp(kerfScheduler) != 0) return;
  thread.waits = kerfNothing;
  if (thread.begun) _longjmp(thread.at, 1);
  thread.begun = true;
  ucontext_t start;
  getcontext(&start);
  start.uc_stack.ss_sp = kerfStacks[kerfNow].bytes, start.uc_stack.ss_size = sizeof(KerfStack);
  makecontext(&start, kerfRun, 0);
  setcontext(&start);
}
static unsigned int kerfOrdered(unsigned int i, unsigned int count) {
  return kerfLaunched.backwards ? count - 1 - i : i;
}
static bool kerfRunWarp(unsigned int first, unsigned int lanes) {
  bool ran = false;
  for (bool any = true; any;) {
    any = false;
    for (unsigned int i = 0; i < lanes; ++i) {
      kerfNow = first + kerfOrdered(i, lanes);
      if (kerfThreads[kerfNow].done || kerfThreads[kerfNow].waits > kerfWarp) continue;
      threadIdx.x = kerfNow % blockDim.x;
      kerfStep(kerfThreads[kerfNow]);
      any = ran = true;
    }
  }
  return ran;
}
// Those among these threads that have not ended all wait for it, and go on.
static bool kerfRelease(unsigned int first, unsigned int count, KerfWait what) {
  bool any = false;
  for (unsigned int t = first; t < first + count; ++t) {
    if (kerfThreads[t].done) continue;
    if (kerfThreads[t].waits != what) return false;
    any = true;
  }
  for (unsigned int t = first; any && t < first + count; ++t) kerfThreads[t].waits = kerfNothing;
  return any;
}
static bool kerfDeliver();  // one message of a block to another, if there is one
static bool kerfRunBlock(unsigned int block, unsigned int first) {
  const unsigned int warps = (blockDim.x + 31) / 32;
  bool ran = false;
  kerfEnter(block);
  blockIdx.x = first + block;
  for (unsigned int i = 0; i < warps; ++i) {
    const unsigned int lane = kerfOrdered(i, warps) * 32;
    ran |= kerfRunWarp(block * blockDim.x + lane, blockDim.x - lane < 32 ? blockDim.x - lane : 32);
  }
  return ran | kerfRelease(block * blockDim.x, blockDim.x, kerfBlock);
}
// Each block runs as far as it can. Messages arrive at once in the one order of threads, and when no block goes on in the
// other.
static void kerfRunCluster(unsigned int first) {
  const unsigned int blocks = kerfLaunched.cluster;
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (unsigned int i = 0; i < blocks; ++i) {
      while (kerfRunBlock(kerfOrdered(i, blocks), first)) goesOn = true;
      while (!kerfLaunched.backwards && kerfDeliver()) goesOn = true;
    }
    goesOn |= kerfRelease(0, blocks * blockDim.x, kerfCluster);
    if (!goesOn) goesOn = kerfDeliver();
  }
  for (const KerfThread& thread : kerfThreads)
    if (!thread.done) kerfFail("threads wait forever");
}
static void kerfMakeThreads(unsigned int count) {
  if (kerfThreads.size() == count) return;
  kerfThreads.clear();
  kerfThreads.resize(count);
  kerfStacks = std::vector<KerfStack>(count);
}
static const char* kerfLaunch(const KerfLaunch& launch) {
  kerfLaunched = launch, kerfTrouble = nullptr, gridDim.x = launch.blocks, blockDim.x = launch.threads;
  kerfMark = 0;  // from now on this thread has the memory
  dl_iterate_phdr(kerfFindShared, &kerfShared);
  kerfMakeThreads(launch.threads * launch.cluster);
  for (unsigned int first = 0; first < launch.blocks && kerfTrouble == nullptr; first += launch.cluster) {
    for (KerfThread& thread : kerfThreads) thread.done = false, thread.waits = kerfNothing, thread.copies.clear();
    kerfClearShared();
    kerfRunCluster(first);
    kerfCheckShared();
  }
  if (kerfTrouble != nullptr) kerfThreads.clear();
  return kerfTrouble;
}
)source";

}  // namespace kerf::testing_support
