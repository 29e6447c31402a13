// Where the log goes: standard error, a file that is rotated, and listeners such as the window's log panel.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "engine/support/log.h"

namespace kerf::inline support {

struct LogMessage {
  std::chrono::system_clock::time_point time;
  LogCategory category = LogCategory::Import;
  LogLevel level = LogLevel::Info;
  std::string text;  ///< escaped
};

/// Messages of `lowest` and above go to standard error from now on. A process made by fork() keeps only this one.
void logToStderr(LogLevel lowest = LogLevel::Trace);

/// Messages go to the end of `path` too. Before it grows above `bytes` it is renamed to "name.1.ext", what had that
/// name to "name.2.ext", and so on up to `kept`. Environment if it cannot be written.
Result<void> logToFile(const std::filesystem::path& path, std::size_t bytes = 1 << 20, std::size_t kept = 3);

/// Calls `listener` with every message while it lives, on whatever thread logs it. The listener must not log.
class LogListener {
 public:
  explicit LogListener(std::function<void(const LogMessage&)> listener);
  ~LogListener();
  LogListener(const LogListener&) = delete;
  LogListener& operator=(const LogListener&) = delete;

 private:
  std::shared_ptr<void> m_sink;
};

}  // namespace kerf::inline support
