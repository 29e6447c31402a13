#include "app/cli/progress.h"

#include <cstdio>

#include <fmt/format.h>

#include "app/cli/terminal.h"
#include "engine/support/log.h"

namespace kerf::cli {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::string_view overwrite = "\r\033[K";  // back to the start of the line, and clear it

}  // namespace

Progress::Progress() : m_terminal(isTerminal(stderr)), m_start(Clock::now()) {}

Progress::~Progress() { finish(); }

void Progress::show(const std::string& text, bool important) {
  const auto now = Clock::now();
  if (!important && m_last != Clock::time_point() && now - m_last < (m_terminal ? 100ms : 1000ms)) return;
  m_last = now;
  if (m_terminal) {
    printTrusted(stderr, std::string(overwrite) + escapedText(text));
    m_lineOpen = true;
  } else {
    fmt::print(stderr, "{}\n", escapedText(text));
  }
  std::fflush(stderr);
}

void Progress::fraction(const std::string& text, double done) {
  const double seconds = std::chrono::duration<double>(elapsed()).count();
  if (seconds < 1) return;
  if (done < 0) {  // nobody knows how much is left
    show(text);
    return;
  }
  const auto left = done > 0.01 ? ", " + timeToGo(seconds / done - seconds) : std::string();
  show(fmt::format("{} {:.0f} %{}", text, done * 100, left));
}

void Progress::finish() {
  if (m_lineOpen) printTrusted(stderr, overwrite);
  m_lineOpen = false;
}

std::chrono::nanoseconds Progress::elapsed() const { return Clock::now() - m_start; }

std::string timeToGo(double seconds) {
  if (seconds < 0) return {};
  return seconds < 90 ? fmt::format("{:.0f} s to go", seconds) : fmt::format("{:.0f} min to go", seconds / 60);
}

}  // namespace kerf::cli
