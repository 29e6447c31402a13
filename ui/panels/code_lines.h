// CodeLines: lines of code as a view holds them: texts of its own, or those of a document that others hold too. A line
// of a document becomes a text only when it is looked at: a graph has 50,000, and a window shows 50.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QStringList>

namespace kerf::ui::inline panels {

/// Blank lines at the end are left out.
class CodeLines {
 public:
  CodeLines() = default;
  explicit CodeLines(QStringList lines);
  /// Null: none.
  explicit CodeLines(std::shared_ptr<const std::vector<std::string>> document);
  int size() const { return m_size; }
  bool isEmpty() const { return m_size == 0; }
  /// Empty outside of the text.
  QString at(int line) const;
  QString joined() const;
  /// Characters of the longest line.
  int longest() const;

 private:
  QStringList m_own;
  std::shared_ptr<const std::vector<std::string>> m_document;
  int m_size = 0;
};

}  // namespace kerf::ui::inline panels
