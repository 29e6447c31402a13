#include "engine/support/out_of_memory.h"

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kerf::inline support {
namespace {

/// Bytes that the process may map at all; nothing where that is not limited.
std::optional<std::int64_t> addressSpace() {
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return std::int64_t(space.rlim_cur);
}

}  // namespace

Error outOfMemory() {
  const auto space = addressSpace();
  const std::string limit =
      space ? fmt::format(": its address space is limited to {} MiB", *space >> 20) : std::string();
  Error error{ErrorCode::TooLarge, "this process cannot have more memory" + limit};
  if (space) error.advise(Advice::RaiseMemory);
  return error;
}

Error refusedBySystem(const std::system_error& problem) {
  const bool isThread = problem.code() == std::errc::resource_unavailable_try_again;
  const std::string message = isThread ? "the system gives this process no more threads, or no memory for them"
                                       : fmt::format("the system refused what this needs: {}", problem.what());
  return Error{ErrorCode::Environment, message, {}, 0, {}, {}};
}

bool addressSpaceIsFree() { return !addressSpace(); }

bool spaceHoldsThreads(int threads) {
  constexpr std::int64_t bytesOfThread = std::int64_t{160} << 20;  // with its stack
  const auto space = addressSpace();
  if (!space) return true;
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  statm >> pages;
  return *space - pages * ::sysconf(_SC_PAGESIZE) >= threads * bytesOfThread;
}

}  // namespace kerf::inline support
