#include "engine/mathlib/math_threads.h"

#include <algorithm>
#include <atomic>

#include <cblas.h>
#include <dlfcn.h>

#include "engine/support/out_of_memory.h"
#include "engine/support/parallel_state.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline mathlib {
namespace {

std::atomic<int> wanted{0};
std::atomic<int> askedOfBlas{0};

// oneDNN brings its OpenMP runtime along; Kerf itself does not link it, so the symbol is looked up.
using SetThreads = void (*)(int);
SetThreads openMpSetter() {
  static const auto setter = reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  return setter;
}

}  // namespace

void setMathThreads(int count) { wanted = std::max(0, count); }

int mathThreads() {
  if (insideParallelFor()) return 1;
  const int count = wanted;
  return count > 0 ? count : threadCount();
}

int mathThreadsFor(double multiplications) {
  constexpr double worthWaking = 2e6;                            // about 0.1 ms on one core
  return multiplications < 2 * worthWaking ? 1 : mathThreads();  // all or one: a team of changing size is rebuilt
}

namespace {

void setBlasThreads(int count) {
  if (askedOfBlas.exchange(count) == count) return;
  ::openblas_set_num_threads(count > 1 && spaceHoldsThreads(count) ? count : 1);
}

}  // namespace

void applyBlasThreads() { setBlasThreads(mathThreads()); }
void applySingleBlasThread() { setBlasThreads(1); }

void applyOpenMpThreads(int count) {
  if (const SetThreads setter = openMpSetter()) setter(count);
}

}  // namespace kerf::inline mathlib
