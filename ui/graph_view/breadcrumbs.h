// Breadcrumbs: the way from a graph down to the body that is shown, each step of it a button that leads back.
#pragma once

#include <QWidget>

class QHBoxLayout;

namespace kerf::ui::inline graph_view {

class Breadcrumbs : public QWidget {
  Q_OBJECT

 public:
  explicit Breadcrumbs(QWidget* parent = nullptr);
  /// `path`: of the shown body, "body_graph_0/true_graph_0"; empty: the graph itself, and nothing is shown.
  void setPath(const QString& graph, const QString& path);

 signals:
  /// Out of so many bodies.
  void leaveRequested(int levels);

 private:
  QHBoxLayout* m_row;
};

}  // namespace kerf::ui::inline graph_view
