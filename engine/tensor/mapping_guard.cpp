#include "engine/tensor/mapping_guard.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <vector>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kerf::inline tensor {

/// One guarded mapping, or a free place for one. Never deleted: the handler may be looking at it.
struct GuardedRange {
  static constexpr std::uintptr_t nowhere = ~std::uintptr_t{0};
  std::atomic<std::uintptr_t> begin{nowhere}, end{0};  ///< begins nowhere while nobody uses it
  std::atomic<bool> cut{false};
  GuardedRange* next = nullptr;  ///< fixed once the range is in the list
};

namespace {

// The handler reads the list without a lock: it only ever grows at its head.
std::atomic<GuardedRange*> ranges{nullptr};
std::mutex freeMutex;
std::vector<GuardedRange*>& freeRanges() {
  static auto* const list = new std::vector<GuardedRange*>;  // mappings may outlive static objects
  return *list;
}

std::uintptr_t pageBytes = 4096;
struct sigaction before;

GuardedRange* rangeOf(std::uintptr_t address) {
  for (GuardedRange* range = ranges.load(std::memory_order_acquire); range != nullptr; range = range->next)
    if (address >= range->begin.load(std::memory_order_acquire) && address < range->end.load(std::memory_order_acquire))
      return range;
  return nullptr;
}

/// Puts zero pages from the missing one to the mapping's end: what a shorter file lost.
bool fillFrom(std::uintptr_t address, GuardedRange& range) {
  const std::uintptr_t page = address & ~(pageBytes - 1), end = range.end.load(std::memory_order_acquire);
  void* const filled = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  range.cut.store(true, std::memory_order_release);
  return filled != MAP_FAILED;
}

/// Only calls what a signal handler may call, and mmap, which is one system call.
void onMissingPage(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  GuardedRange* const range = info->si_code == BUS_ADRERR ? rangeOf(address) : nullptr;
  const bool done = range != nullptr && fillFrom(address, *range);
  errno = error;
  if (done) return;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  ::sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) ::raise(signal);  // a fault happens again by itself, a signal that was sent does not
}

void install() {
  pageBytes = std::uintptr_t(::sysconf(_SC_PAGESIZE));
  ::sigaction(SIGBUS, nullptr, &before);
  struct sigaction ours{};
  ours.sa_sigaction = onMissingPage;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, nullptr);
}

GuardedRange* freeRange() {
  const std::lock_guard lock(freeMutex);
  if (!freeRanges().empty()) {
    GuardedRange* const range = freeRanges().back();
    freeRanges().pop_back();
    return range;
  }
  auto* const range = new GuardedRange;
  range->next = ranges.load(std::memory_order_relaxed);  // the lock keeps others from adding
  ranges.store(range, std::memory_order_release);
  return range;
}

}  // namespace

MappingGuard::MappingGuard(const void* memory, std::size_t bytes) : m_range(freeRange()) {
  static std::once_flag once;
  std::call_once(once, install);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  m_range->cut.store(false, std::memory_order_release);
  m_range->end.store((begin + bytes + pageBytes - 1) / pageBytes * pageBytes, std::memory_order_release);
  m_range->begin.store(begin, std::memory_order_release);
}

MappingGuard::~MappingGuard() {
  m_range->begin.store(GuardedRange::nowhere, std::memory_order_release);
  const std::lock_guard lock(freeMutex);
  freeRanges().push_back(m_range);
}

bool mappingWasCut(const void* memory) {
  const GuardedRange* const range = rangeOf(reinterpret_cast<std::uintptr_t>(memory));
  return range != nullptr && range->cut.load(std::memory_order_acquire);
}

}  // namespace kerf::inline tensor
