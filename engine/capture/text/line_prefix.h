// LinePrefix: what a log, a chat or an editor writes before every line of a graph. It is recognised by standing there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kerf::inline capture {

/// "[rank0]:V1206 15:18:15.925000 1500233 torch/…:1288] [0/0] [__graph_code] ", "2024-01-31T13:54:24Z ", "# ", "+",
/// "12 |".
class LinePrefix {
 public:
  LinePrefix() = default;
  /// `text`: all that stands before the content of one line.
  explicit LinePrefix(std::string_view text);

  bool empty() const { return m_text.empty(); }
  const std::string& text() const { return m_text; }
  /// The line behind the prefix; nothing if it begins otherwise. Numbers may differ, as times and line numbers do, but
  /// those of ranks, processes and compile ids ("rank0", "pid=81", "[0/1]") may not.
  std::optional<std::string_view> without(std::string_view line) const;

 private:
  std::string m_text;  ///< without the blanks at its end
};

}  // namespace kerf::inline capture
