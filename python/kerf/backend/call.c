/* Calls a graph of the process of kerf over memory that both see: copies inputs in, posts the call, waits, copies outputs out.
 * Both sides look for a while before they sleep, since waking a process takes longer than most graphs. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* app/graph_server/mailbox.h has the same places: each word on a cache line of its own. */
enum { ASKED = 0, ANSWERED = 16, GRAPH = 32, STATUS = 48, SERVER_SLEEPS = 64, CLIENT_SLEEPS = 80 };
enum { STILL_WAITING = -1 };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_a_little(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* The status, or STILL_WAITING after `nanoseconds`. */
int kerf_wait(uint32_t* box, int64_t spin, int64_t nanoseconds) {
  const uint32_t asked = __atomic_load_n(box + ASKED, __ATOMIC_ACQUIRE);
  const int64_t begin = now();
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (__atomic_load_n(box + ANSWERED, __ATOMIC_ACQUIRE) == asked) return (int)box[STATUS];
      pause_a_little();
    }
    const int64_t waited = now() - begin;
    if (waited > nanoseconds) return STILL_WAITING;
    if (waited < spin) continue;
    __atomic_store_n(box + CLIENT_SLEEPS, 1, __ATOMIC_SEQ_CST);
    const uint32_t answered = __atomic_load_n(box + ANSWERED, __ATOMIC_SEQ_CST);
    const struct timespec limit = {0, 20000000};
    if (answered != asked) syscall(SYS_futex, box + ANSWERED, FUTEX_WAIT, answered, &limit, 0, 0);
    __atomic_store_n(box + CLIENT_SLEEPS, 0, __ATOMIC_SEQ_CST);
  }
}

/* Inputs go to the places `to` of `memory`. */
int kerf_call(uint32_t* box, uint32_t graph, char* memory, int64_t inputs, const char* const* from, const int64_t* to,
              const int64_t* bytes, int64_t spin, int64_t nanoseconds) {
  for (int64_t i = 0; i < inputs; ++i) memcpy(memory + to[i], from[i], (size_t)bytes[i]);
  box[GRAPH] = graph;
  __atomic_fetch_add(box + ASKED, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(box + SERVER_SLEEPS, __ATOMIC_SEQ_CST)) syscall(SYS_futex, box + ASKED, FUTEX_WAKE, 1, 0, 0, 0);
  return kerf_wait(box, spin, nanoseconds);
}

void kerf_copy(const char* memory, int64_t outputs, char* const* to, const int64_t* from, const int64_t* bytes) {
  for (int64_t i = 0; i < outputs; ++i) memcpy(to[i], memory + from[i], (size_t)bytes[i]);
}
