// What blocks of a cluster send each other (the preamble of generated CUDA sources), on the CPU: messages are under way
// for a while, and arrive in another order than they were sent in.
#pragma once

#include <string_view>

namespace kerf::testing_support {

/// A block's shared memory lies at the same place as every other's (threads_on_host.h), so addresses need no mapping.
inline constexpr std::string_view clustersOnHost = R"source(
// As PTX's documentation describes an mbarrier: a phase ends when all have arrived and all announced bytes have come.
struct KerfBarrier { short phase; unsigned char count, pending; int bytes; };
static_assert(sizeof(KerfBarrier) == sizeof(unsigned long long));
static void kerfUpdate(KerfShared came, int arrivals, int bytes) {
  KerfBarrier& state = *(KerfBarrier*)came;
  state.pending -= arrivals, state.bytes += bytes;
  if (state.pending == 0 && state.bytes == 0) ++state.phase, state.pending = state.count;
}
struct KerfSent { unsigned int block; KerfShared place, came; unsigned long long bits; };
static std::vector<KerfSent> kerfSent;
static bool kerfDeliver() {
  static unsigned int random = 1;
  if (kerfSent.empty()) return false;
  random = random * 1664525u + 1013904223u;
  KerfSent& chosen = kerfSent[(random >> 16) % kerfSent.size()];
  const KerfSent sent = chosen;
  chosen = kerfSent.back();
  kerfSent.pop_back();
  bool isThere = false;
  for (unsigned int t = sent.block * blockDim.x; t < (sent.block + 1) * blockDim.x; ++t) {
    isThere |= !kerfThreads[t].done;
    if (kerfThreads[t].waits == kerfMessage) kerfThreads[t].waits = kerfNothing;
  }
  if (!isThere) kerfFail("a block has ended before all has come that was sent to it");
  kerfEnter(sent.block);
  *(unsigned long long*)sent.place = sent.bits;
  kerfUpdate(sent.came, 0, -8);
  return true;
}
static void kerf_meet() { kerfWaitFor(kerfCluster); }
static unsigned int kerf_rank() { return kerfNow / blockDim.x; }
static void kerf_count(KerfShared came) { *(KerfBarrier*)came = {0, 1, 1, 0}; }
static void kerf_counts() {}
static void kerf_expect(KerfShared came, int bytes) { kerfUpdate(came, 0, bytes), kerfUpdate(came, 1, 0); }
static void kerf_send(KerfShared place, unsigned long long bits, KerfShared came, unsigned int block) {
  if (block >= kerfLaunched.cluster) kerfFail("something is sent to a block that there is not");
  else kerfSent.push_back({block, place, came, bits});
}
static unsigned int kerf_have_come(KerfShared came, unsigned int parity) {
  if ((unsigned int)(((KerfBarrier*)came)->phase & 1) != parity) return 1;
  kerfWaitFor(kerfMessage);
  return 0;
}
)source";

}  // namespace kerf::testing_support
