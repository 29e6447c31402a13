// Progress: how far a long task is, on stderr: one line that updates on a terminal, else a plain line now and then.
#pragma once

#include <chrono>
#include <string>

namespace kerf::cli {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shows `text`, at most ten times a second on a terminal and once a second elsewhere; `important` lines always show.
  void show(const std::string& text, bool important = false);
  /// Shows "text 42 %, 3 s to go" once the task has taken over a second.
  void fraction(const std::string& text, double done);
  /// Ends an updating line.
  void finish();
  std::chrono::nanoseconds elapsed() const;

 private:
  bool m_terminal;
  bool m_lineOpen = false;
  std::chrono::steady_clock::time_point m_start, m_last;
};

/// "4 s to go", "2 min to go"; empty for a negative number.
std::string timeToGo(double seconds);

}  // namespace kerf::cli
