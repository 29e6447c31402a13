#include "storage/stores/process_owner.h"

#include <fstream>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>

namespace kerf::inline storage::inline stores {

namespace {

std::string firstLine(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Field 22 of /proc/PID/stat; empty if there is no such process. The command in field 2 may hold spaces.
std::string startTime(const std::string& pid) {
  const std::string stat = firstLine("/proc/" + pid + "/stat");
  const auto close = stat.rfind(')');
  if (close == std::string::npos) return {};
  std::istringstream fields(stat.substr(close + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field;
}

std::string describe(const std::string& pid) {
  return fmt::format("{}:{}:{}", firstLine("/proc/sys/kernel/random/boot_id"), pid, startTime(pid));
}

}  // namespace

std::string thisProcess() { return describe(std::to_string(getpid())); }

bool isOtherLiveProcess(const std::string& owner) {
  const auto first = owner.find(':');
  const auto second = owner.rfind(':');
  if (first == std::string::npos || first == second) return false;
  const std::string pid = owner.substr(first + 1, second - first - 1);
  if (pid == std::to_string(getpid()) || startTime(pid).empty()) return false;
  return describe(pid) == owner;
}

}  // namespace kerf::inline storage::inline stores
