// CandidateView: the smallest graph that still fails, drawn while a minification goes on.
#pragma once

#include <QWidget>

#include "ui/graph_view/graph_widget.h"
#include "ui/graph_view/layout_service.h"
#include "ui/session/session.h"

class QLabel;

namespace kerf::ui::inline panels {

class CandidateView : public QWidget {
  Q_OBJECT

 public:
  explicit CandidateView(Session& session, QWidget* parent = nullptr);
  /// What stays of the graph before stays where it is.
  void setGraph(GraphDocPtr graph);
  const GraphWidget& view() const { return *m_view; }

 private:
  LayoutService m_layouts;
  GraphDocPtr m_graph;
  QLabel* m_title;
  GraphWidget* m_view;
};

}  // namespace kerf::ui::inline panels
