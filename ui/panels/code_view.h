// CodeView: read-only code of any length; only visible lines are laid out and painted.
#pragma once

#include <QAbstractScrollArea>
#include <QColor>
#include <QHash>
#include <QSet>
#include <QStringList>

namespace kerf::ui::inline panels {

class CodeView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit CodeView(QWidget* parent = nullptr);
  void setCode(const QStringList& lines);
  void setCode(const QString& code) { setCode(code.isEmpty() ? QStringList() : code.split('\n')); }
  QString code() const { return m_lines.join('\n'); }
  int lineCount() const { return int(m_lines.size()); }
  /// Empty outside of the text.
  QString line(int at) const { return m_lines.value(at); }
  /// Marks a line (0-based; -1 for none) and brings it into view.
  void setCurrentLine(int line);
  int currentLine() const { return m_current; }
  /// Lines with a soft mark, besides; setCode() takes them away.
  void setMarkedLines(const QSet<int>& lines);
  const QSet<int>& markedLines() const { return m_marked; }
  /// Lines that belong together have one colour; setCode() takes them away.
  void setLineColors(const QHash<int, QColor>& colors);
  const QHash<int, QColor>& lineColors() const { return m_colors; }
  /// Shown while there is no code.
  void setHint(const QString& hint);

 signals:
  /// Clicked, or gone to with the arrow keys.
  void linePicked(int line);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void updateBars();
  bool walk(int key);
  void paintLine(QPainter& painter, int line, double x, double baseline) const;
  int lineHeight() const;
  int gutter() const;

  QStringList m_lines;
  QString m_hint;
  QSet<int> m_marked;
  QHash<int, QColor> m_colors;
  int m_current = -1;
  int m_longest = 0;
};

}  // namespace kerf::ui::inline panels
