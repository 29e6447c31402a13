// StageClock: times the stages of one compilation and stops between them when asked to.
#pragma once

#include <fmt/format.h>

#include "engine/backend/backend.h"
#include "engine/support/log.h"

namespace kerf::inline backend {

class StageClock {
 public:
  explicit StageClock(std::stop_token stop) : m_stop(std::move(stop)) {}

  /// Ends a stage. `elsewhere` of it is another stage's time. Cancelled when asked to stop.
  Result<void> finish(std::string_view stage, std::chrono::nanoseconds elsewhere = {}) {
    const auto now = std::chrono::steady_clock::now();
    m_times.push_back({std::string(stage), now - m_start - elsewhere});
    m_start = now;
    logAt(LogCategory::Compile, LogLevel::Debug, "{}: {:.3f} ms", stage, double(m_times.back().time.count()) / 1e6);
    if (m_stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped after {}", stage);
    return {};
  }
  std::vector<StageTime>& times() { return m_times; }
  const std::stop_token& stop() const { return m_stop; }

 private:
  std::stop_token m_stop;
  std::vector<StageTime> m_times;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace kerf::inline backend
