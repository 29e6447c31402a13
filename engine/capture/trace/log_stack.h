// Stacks of a log: frames are kept once, however many records carry them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kerf::inline capture {

/// Numbers of frames in a FrameTable, outermost first.
using LogStack = std::vector<std::uint32_t>;

/// One line of a recorded stack, its file name resolved.
struct LogFrame {
  std::string file;
  std::int64_t line = 0;
  std::string function, code;  ///< the code is empty where the log does not tell it
};

class FrameTable {
 public:
  /// Reads [{"line": 12, "name": "forward", "filename": 1, "loc": "…"}, …]; `files` are the names that the numbers
  /// mean. Frames beyond 1000 of one stack are left out in the middle.
  LogStack read(std::string_view json, const std::map<std::int64_t, std::string>& files);
  const LogFrame& frame(std::uint32_t number) const { return m_frames[number]; }
  /// "train.py:12 in forward".
  std::string text(std::uint32_t number) const;
  /// As Python prints it, two lines a frame: `  File "train.py", line 12, in forward`.
  std::string traceback(const LogStack& stack) const;
  std::size_t size() const { return m_frames.size(); }

 private:
  std::uint32_t numberOf(LogFrame frame);

  std::vector<LogFrame> m_frames;
  std::unordered_map<std::string, std::uint32_t> m_known;
};

}  // namespace kerf::inline capture
