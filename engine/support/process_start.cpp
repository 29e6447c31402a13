#include "engine/support/process_start.h"

#include <charconv>
#include <fstream>
#include <string>

namespace kerf::inline support {

/// Field 22 of /proc/PID/stat: the name in field 2 may hold anything, spaces and brackets too.
std::uint64_t processStart(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  auto at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  std::uint64_t ticks = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + 1, text.data() + text.size(), ticks);
  return ticks;
}

}  // namespace kerf::inline support
