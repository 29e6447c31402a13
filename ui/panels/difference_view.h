// DifferenceView: the nodes of two graphs beside each other, matched by what they compute; one list, so that both sides
// scroll together.
//
//     view = torch.ops.aten.view(x)      |  view = torch.ops.aten.view(x)
//     gelu = torch.ops.aten.gelu(view)   |  mul = torch.ops.aten.mul(view, 0.5)      (rewritten)
#pragma once

#include <QAbstractScrollArea>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

/// Name of the node that a line is of: "relu" of "relu: f32[2] = …"; "output" of "return …".
QString nodeOfLine(const DiffRow& row, bool left);

class DifferenceView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit DifferenceView(QWidget* parent = nullptr);
  void setDifference(DifferenceDocPtr difference);
  void setOnlyChanges(bool only);
  void setHint(const QString& hint);
  /// Marks the line of a node and brings it into view; of the earlier graph with `left`.
  void setCurrent(const QString& node, bool left);
  int currentRow() const { return m_current; }
  /// Lines that are shown; -1 stands for lines that are left out.
  const std::vector<int>& lines() const { return m_lines; }
  /// The next or previous line that differs.
  void goToChange(int step);

 signals:
  void nodePicked(const QString& name, bool left);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void arrange();
  void updateBars();
  void paintSide(QPainter& painter, const DiffRow& row, const QRect& area, bool left) const;
  void pickLine(int line, bool left);
  int lineHeight() const;
  int lineOf(int row) const;
  int lineAt(int y) const;

  DifferenceDocPtr m_difference;
  std::vector<int> m_lines;  ///< rows of the difference
  QString m_hint;
  bool m_only = true;
  int m_current = -1;  ///< row
  int m_longest = 0;
};

}  // namespace kerf::ui::inline panels
