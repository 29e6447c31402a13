// CodeView: read-only code of any length; only visible lines are laid out and painted.
#pragma once

#include <QAbstractScrollArea>
#include <QColor>
#include <QHash>
#include <QSet>
#include <QStringList>

#include "ui/panels/code_lines.h"

class QMenu;

namespace kerf::ui::inline panels {

class CodeView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit CodeView(QWidget* parent = nullptr);
  void setCode(CodeLines lines);
  void setCode(const QStringList& lines) { setCode(CodeLines(lines)); }
  void setCode(const QString& code) { setCode(code.isEmpty() ? QStringList() : code.split('\n')); }
  QString code() const { return m_lines.joined(); }
  int lineCount() const { return m_lines.size(); }
  /// Empty outside of the text.
  QString line(int at) const { return m_lines.at(at); }
  /// Marks a line (0-based; -1 for none) and brings it into view.
  void setCurrentLine(int line);
  int currentLine() const { return m_current; }
  /// Lines with a soft mark, besides; setCode() takes them away.
  void setMarkedLines(const QSet<int>& lines);
  const QSet<int>& markedLines() const { return m_marked; }
  /// Lines that belong together have one colour; setCode() takes them away.
  void setLineColors(const QHash<int, QColor>& colors);
  const QHash<int, QColor>& lineColors() const { return m_colors; }
  /// In place of line numbers; setCode() takes them away.
  void setLabels(const QStringList& labels);
  /// Signs in front of line numbers, each with a tool tip; setCode() takes them away.
  struct LineSign {
    QColor color;
    QString letter;  ///< one character, so that colours are not all that tells them apart
    QString tip;
  };
  void setSigns(const QHash<int, LineSign>& signs);
  const QHash<int, LineSign>& signs() const { return m_signs; }
  /// Text below a line, wrapped to the width; -1 for none. setCode() takes it away.
  void setNote(int line, const QStringList& note);
  int noteLine() const { return m_noteLine; }
  QStringList note() const { return m_note; }
  const QStringList& noteRows() const { return m_noteRows; }
  /// Where a line is painted, in the viewport; for tests.
  QPoint placeOf(int line) const;
  /// Shown while there is no code.
  void setHint(const QString& hint);

 signals:
  /// Clicked, or gone to with the arrow keys.
  void linePicked(int line);
  /// Enter or a double click.
  void lineEntered(int line);
  /// The menu of a line is about to be shown: others may add to it.
  void menuAsked(QMenu* menu, int line);

 protected:
  void changeEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void updateBars();
  void layOutNote();
  void paintNote(QPainter& painter) const;
  void paintRow(QPainter& painter, int line, int y) const;
  int lineAt(double y) const;
  int rowOf(int line) const;
  bool walk(const QKeyEvent& event);
  bool walkSigns(int step);
  void paintLine(QPainter& painter, int line, double x, double baseline) const;
  int lineHeight() const;
  int gutter() const;

  CodeLines m_lines;
  QStringList m_labels;
  QString m_hint;
  QSet<int> m_marked;
  QHash<int, QColor> m_colors;
  QHash<int, LineSign> m_signs;
  int m_noteLine = -1;
  QStringList m_note, m_noteRows;  ///< as given, and wrapped
  int m_current = -1;
  int m_longest = 0;
};

}  // namespace kerf::ui::inline panels
