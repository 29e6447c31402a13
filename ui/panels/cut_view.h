// CutView: forward and backward as two columns with the cut between them: who computes a saved value, its bytes and why
// it is saved, and who takes it in the backward part.
#pragma once

#include <QAbstractScrollArea>

#include "ui/panels/cut_rows.h"

namespace kerf::ui::inline panels {

class CutView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit CutView(QWidget* parent = nullptr);
  /// Null: nothing is shown.
  void setCut(GraphDocPtr graph, const workbench::PartitionDoc* cut);
  /// The selected node of the graph: its row, and the nodes that belong to it on the other side.
  void setCurrent(int node);
  const std::vector<CutRow>& rows() const { return m_rows; }
  int currentRow() const { return m_row; }
  /// Where a row is painted in the viewport, its forward column and that of its `user`-th backward node.
  QRect forwardRect(int row) const;
  QRect userRect(int row, int user) const;

 signals:
  void nodePicked(int node);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  int rowHeight() const;
  int headHeight() const { return rowHeight() + 4; }
  int top(int row) const;
  int rowAt(int y) const;
  int column(int at) const;
  void updateBar();
  void paintHead(QPainter& painter) const;
  void paintRow(QPainter& painter, int row) const;
  void paintUsers(QPainter& painter, int row) const;
  void paintSaved(QPainter& painter, int row) const;

  GraphDocPtr m_graph;
  std::vector<CutRow> m_rows;
  QString m_forward, m_saved, m_backward;  ///< titles of the columns
  std::vector<int> m_related;              ///< on the other side of the selected node
  int m_node = -1, m_row = -1;
};

}  // namespace kerf::ui::inline panels
