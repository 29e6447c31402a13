#include <algorithm>
#include <cstdlib>
#include <optional>

#include "engine/support/log.h"

namespace kerf::inline support {
namespace {

constexpr std::array<std::string_view, 6> levelNames{"trace", "debug", "info", "warning", "error", "off"};
constexpr std::array<std::string_view, logCategoryCount> categoryNames{"import", "passes", "compile", "run",
                                                                       "minify", "store",  "ui"};

template <class Enum, std::size_t size>
Result<Enum> byName(const std::array<std::string_view, size>& names, std::string_view name, const char* what) {
  if (const auto found = std::ranges::find(names, name); found != names.end()) return Enum(found - names.begin());
  return fail(ErrorCode::BadUsage, "'{}' is not a log {}: use {}", name, what, fmt::join(names, ", "));
}

}  // namespace

std::string_view logLevelName(LogLevel level) { return levelNames.at(std::size_t(level)); }

std::string_view logCategoryName(LogCategory category) { return categoryNames.at(std::size_t(category)); }

Result<LogLevels> LogLevels::parse(std::string_view text, LogLevels base) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    KERF_TRY(const LogLevel level,
             byName<LogLevel>(levelNames, part.substr(equals == part.npos ? 0 : equals + 1), "level"));
    if (equals == part.npos) {
      base.m_levels.fill(level);
    } else {
      KERF_TRY(const LogCategory category, byName<LogCategory>(categoryNames, part.substr(0, equals), "category"));
      base.set(category, level);
    }
  }
  return base;
}

Result<LogLevels> LogLevels::fromEnvironment(LogLevels base) {
  const char* text = std::getenv("KERF_LOG");
  auto levels = parse(text != nullptr ? text : "", base);
  if (!levels) levels.error().while_("reading KERF_LOG");
  return levels;
}

}  // namespace kerf::inline support
