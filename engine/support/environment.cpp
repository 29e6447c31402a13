#include "engine/support/environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "engine/support/log.h"

namespace kerf::inline support {

std::optional<std::int64_t> environmentNumber(const char* name, std::int64_t least, std::int64_t most) {
  const char* const set = std::getenv(name);
  const std::string_view text = set ? set : "";
  if (text.empty()) return std::nullopt;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stop == text.data() + text.size() && number >= least && number <= most) return number;
  logAt(LogCategory::Run, LogLevel::Warning, "{}={} is not a number from {} to {}: Kerf ignores it", name, text, least,
        most);
  return std::nullopt;
}

}  // namespace kerf::inline support
