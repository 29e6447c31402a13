// PythonScan: whether a line of Python goes on in the next one.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline capture {

/// Follows brackets and strings over lines of Python; in str(graph) strings have no quotes, and '#' is no comment.
class PythonScan {
 public:
  enum class Text { Python, Graph };
  explicit PythonScan(Text text = Text::Python) : m_isPython(text == Text::Python) {}

  void line(std::string_view text);
  /// Whether the next line continues a bracket or a string.
  bool continues() const { return m_depth > 0 || !m_quote.empty(); }

 private:
  std::size_t step(std::string_view text, std::size_t at);

  bool m_isPython;
  int m_depth = 0;
  std::string m_quote;
};

}  // namespace kerf::inline capture
