// The log: what Kerf did and why, by category and level, for whoever has to find out what went wrong.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline support {

enum class LogLevel : std::uint8_t { Trace, Debug, Info, Warning, Error, Off };

enum class LogCategory : std::uint8_t {
  Import,   ///< what was recognised in a file, what was left out and why
  Passes,   ///< passes and what they changed
  Compile,  ///< stages of a compilation
  Run,      ///< runs of graphs, child processes that start and end
  Minify,   ///< candidates and verdicts
  Store,    ///< opening, migrating and filling the database
  Ui,       ///< jobs and layouts of the window
};
inline constexpr std::size_t logCategoryCount = 7;

/// "trace", "debug", "info", "warning", "error", "off".
std::string_view logLevelName(LogLevel level);
/// "import", "passes", …
std::string_view logCategoryName(LogCategory category);

/// The lowest level that is logged, for each category.
class LogLevels {
 public:
  explicit LogLevels(LogLevel all = LogLevel::Warning) { m_levels.fill(all); }
  /// "debug" for all, "passes=trace,store=debug" for some; later parts win, what is not named stays as in `base`.
  /// BadUsage for an unknown level or category.
  static Result<LogLevels> parse(std::string_view text, LogLevels base);

  /// $KERF_LOG over `base`.
  static Result<LogLevels> fromEnvironment(LogLevels base);

  LogLevel of(LogCategory category) const { return m_levels[std::size_t(category)]; }
  void set(LogCategory category, LogLevel level) { m_levels[std::size_t(category)] = level; }

 private:
  std::array<LogLevel, logCategoryCount> m_levels{};
};

/// Warnings and errors until this is called.
void setLogLevels(const LogLevels& levels);

/// Whether a message would go anywhere (engine/support/log_sinks.h): to ask before costly texts are made.
bool logs(LogCategory category, LogLevel level);

/// One message. Control characters, and bytes that are no UTF-8, appear as escapes: file contents cannot fake lines.
void writeLog(LogCategory category, LogLevel level, std::string_view text);
void formatLog(LogCategory category, LogLevel level, fmt::string_view format, fmt::format_args arguments);

/// `logAt(LogCategory::Store, LogLevel::Info, "opened {}", path);`
template <class... Args>
void logAt(LogCategory category, LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (logs(category, level)) formatLog(category, level, format, fmt::make_format_args(args...));
}

/// `text` on one line: "\n", "\t", "\x1b" for control characters (also U+0080 to U+009F and those that turn the
/// direction of writing), "\xff" for bytes that are no UTF-8.
std::string escapedText(std::string_view text);

}  // namespace kerf::inline support
