#include "storage/stores/process_owner.h"

#include <charconv>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/support/process_start.h"

namespace kerf::inline storage::inline stores {

namespace {

std::string firstLine(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string describe(pid_t pid) {
  return fmt::format("{}:{}:{}", firstLine("/proc/sys/kernel/random/boot_id"), pid, processStart(pid));
}

}  // namespace

std::string thisProcess() { return describe(::getpid()); }

bool isOtherLiveProcess(const std::string& owner) {
  const auto first = owner.find(':');
  const auto second = owner.rfind(':');
  if (first == std::string::npos || first == second) return false;
  pid_t pid = 0;
  std::from_chars(owner.data() + first + 1, owner.data() + second, pid);
  if (pid <= 0 || pid == ::getpid() || processStart(pid) == 0) return false;
  return describe(pid) == owner;
}

}  // namespace kerf::inline storage::inline stores
