#include "app/cli/usual_jobs.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

namespace kerf::cli {

namespace {

constexpr std::int64_t bytesOfOne = std::int64_t{2} << 30;
constexpr int least = 2, most = 64;

/// What this process may still use, by the kernel and by its control group.
std::int64_t availableMemory() {
  std::int64_t bytes = INT64_MAX;
  std::string word;
  for (std::ifstream info("/proc/meminfo"); info >> word;)
    if (std::int64_t kilobytes = 0; word == "MemAvailable:" && info >> kilobytes) bytes = kilobytes * 1024;
  std::int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) bytes = std::min(bytes, limit);  // "max" is no number
  return bytes;
}

}  // namespace

int usualJobs() {
  const int cores = int(std::thread::hardware_concurrency());
  const auto byMemory = int(std::min<std::int64_t>(availableMemory() / bytesOfOne, most));
  return std::clamp(std::min(cores > 4 ? cores - 2 : cores, byMemory), least, most);
}

}  // namespace kerf::cli
